// Runs tests/cases/api/*.case: what goes in, what must come out, in text. Their README says how to write one.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "api/chat.h"
#include "api/embeddings.h"
#include "api/errors.h"

namespace hengshi::api {
namespace {

constexpr std::string_view kId = "chatcmpl-1";
constexpr int64_t kCreated = 1700000000;
const Extension sample_extension{.path = "cloud", .model = "up/m", .decision = "d1", .total_us = 5};

struct Section {
  std::string name, argument, body;
};

struct Case {
  std::string name;
  std::vector<Section> sections;

  const Section* find(std::string_view section) const {
    const auto at = std::ranges::find(sections, section, &Section::name);
    return at == sections.end() ? nullptr : &*at;
  }
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    if (end > at) lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

// `\xHH` is a byte; `\*N{text}` is the text N times.
std::string decode(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "\\x") == 0) {
      out += static_cast<char>(std::stoi(text.substr(i + 2, 2), nullptr, 16));
      i += 3;
    } else if (text.compare(i, 2, "\\*") == 0) {
      const size_t open = text.find('{', i);
      const size_t close = text.find('}', open);
      const int times = std::stoi(text.substr(i + 2, open - i - 2));
      for (int n = 0; n < times; ++n) out += text.substr(open + 1, close - open - 1);
      i = close;
    } else {
      out += text[i];
    }
  }
  return out;
}

void finish(Case& one) {
  for (Section& section : one.sections) {
    while (section.body.ends_with('\n')) section.body.pop_back();
    if (!section.argument.ends_with("escaped")) continue;
    section.body = decode(section.body);
    section.argument.resize(section.argument.size() - std::min(section.argument.size(), std::size(" escaped") - 1));
  }
}

std::vector<Case> read_cases(const std::filesystem::path& path) {
  std::vector<Case> cases;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("=== ")) {
      cases.push_back({path.filename().string() + ": " + line.substr(4), {}});
    } else if (line.starts_with("--- ") && !cases.empty()) {
      const size_t space = std::min(line.find(' ', 4), line.size());
      cases.back().sections.push_back({line.substr(4, space - 4), line.substr(std::min(space + 1, line.size())), {}});
    } else if (!cases.empty() && !cases.back().sections.empty()) {
      cases.back().sections.back().body += line + '\n';
    }
  }
  for (Case& one : cases) finish(one);
  return cases;
}

using Fields = std::map<std::string, std::string>;

std::string word(bool value) { return value ? "true" : "false"; }

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const auto& one : words) out += (out.empty() ? "" : "|") + one;
  return out;
}

Fields fields_of(const ChatRequest& request) {
  std::string question = request.question;
  std::ranges::replace(question, '\n', '|');
  return {{"model", request.model},
          {"user", request.user},
          {"question", question},
          {"stream", word(request.stream)},
          {"include_usage", word(request.include_usage)},
          {"has_system", word(request.has_system)},
          {"has_history", word(request.has_history)},
          {"max_tokens", std::to_string(request.max_tokens)},
          {"stop", joined(request.stop)},
          {"beyond_local", request.beyond_local},
          {"extension", word(request.extension)}};
}

Fields fields_of(const EmbeddingsRequest& request) {
  std::string tokens;
  for (const auto& ids : request.token_ids) {
    for (const int32_t id : ids) tokens += std::to_string(id) + ' ';
    tokens += '|';
  }
  return {{"model", request.model},
          {"texts", joined(request.texts)},
          {"token_ids", tokens},
          {"base64", word(request.base64)},
          {"dimensions", std::to_string(request.dimensions)}};
}

Fields fields_of(const Error& error) {
  return {{"status", std::to_string(http_status(error.code))},
          {"param", error.param},
          {"code", error.reason},
          {"message", error.message},
          {"retry_after", std::to_string(error.retry_after_s)}};
}

// `name: value` lines must hold; `name ~ words` must be contained; `name !~ words` must not.
void expect_fields(const Section& section, const Fields& fields) {
  for (const std::string& line : lines_of(section.body)) {
    const size_t end = line.find_first_of(":~!");
    ASSERT_NE(end, std::string::npos) << line;
    std::string name = line.substr(0, end);
    while (name.ends_with(' ')) name.pop_back();
    ASSERT_TRUE(fields.contains(name)) << "no field of that name: " << line;
    const std::string& actual = fields.at(name);
    const size_t sign = line[end] == '!' ? 2 : 1;
    std::string value = line.substr(std::min(line.size(), end + sign));
    if (value.starts_with(' ')) value.erase(0, 1);
    const bool holds = line[end] == ':' ? actual == value : (actual.find(value) != std::string::npos) == (sign == 1);
    EXPECT_TRUE(holds) << line << "\n  is: " << actual;
  }
}

void expect_error(const Case& one, const Error& error) {
  const Section* expected = one.find("error");
  ASSERT_NE(expected, nullptr) << "unexpected error: " << error.param << ": " << error.message;
  expect_fields(*expected, fields_of(error));
}

void expect_text(const Section& section, std::string actual) {
  while (actual.ends_with('\n')) actual.pop_back();
  EXPECT_EQ(actual, section.body) << section.name;
}

Digest fingerprint_of(const std::string& body) {
  const auto request = parse_chat(body);
  EXPECT_TRUE(request) << body << ": " << request.error().message;
  return request ? request->fingerprint : Digest{};
}

void run_chat(const Case& one, const Section& input) {
  const auto request = parse_chat(input.body);
  if (!request) return expect_error(one, request.error());
  ASSERT_EQ(one.find("error"), nullptr) << "was accepted";
  for (const Section& section : one.sections) {
    if (section.name == "fields") expect_fields(section, fields_of(*request));
    if (section.name == "upstream") expect_text(section, upstream_body(*request, section.argument));
    if (section.name != "same" && section.name != "differs") continue;
    for (const std::string& body : lines_of(section.body)) {
      const bool same = fingerprint_of(body) == request->fingerprint;
      EXPECT_EQ(same, section.name == "same") << section.name << ": " << body;
    }
  }
}

void run_embeddings(const Case& one, const Section& input) {
  const auto request = parse_embeddings(input.body);
  if (!request) return expect_error(one, request.error());
  ASSERT_EQ(one.find("error"), nullptr) << "was accepted";
  if (const Section* fields = one.find("fields")) expect_fields(*fields, fields_of(*request));
}

void run_completion(const Case& one, const Completion& completion) {
  for (const Section& section : one.sections) {
    const bool usage = section.argument.find("usage") != std::string::npos;
    const bool shown = section.argument.find("extension") != std::string::npos;
    std::string out;
    if (section.name == "whole") {
      write_completion(out, kId, kCreated, completion, shown ? &sample_extension : nullptr);
      expect_text(section, out);
    } else if (section.name == "replay") {
      ChunkWriter(std::string(kId), kCreated, completion.model, usage)
          .replay(out, completion, shown ? &sample_extension : nullptr);
      expect_text(section, out);
    } else if (section.name == "completion") {
      const Usage& counts = completion.usage;
      const Fields fields = {{"choices", completion.choices},
                             {"model", completion.model},
                             {"text", text_of(completion)},
                             {"complete", word(complete(completion))},
                             {"prompt", std::to_string(counts.prompt)},
                             {"completion", std::to_string(counts.completion)},
                             {"cached", std::to_string(counts.cached)},
                             {"reasoning", std::to_string(counts.reasoning)},
                             {"estimated", word(counts.estimated)}};
      expect_fields(section, fields);
    }
  }
}

// The chunks of the case, one a line, through relay() and Assembler.
void run_chunks(const Case& one, const Section& input) {
  std::vector<std::string> chunks;
  for (const std::string& line : lines_of(input.body)) chunks.push_back(decode(line));
  for (const Section& section : one.sections) {
    if (section.name != "relay") continue;
    ChunkWriter writer(std::string(kId), kCreated, "ours", section.argument.find("usage") != std::string::npos);
    const bool shown = section.argument.find("extension") != std::string::npos;
    std::string out;
    for (const std::string& chunk : chunks) {
      if (!writer.relay(out, chunk, shown ? &sample_extension : nullptr)) break;
    }
    expect_text(section, out);
  }
  Assembler assembler;
  for (const std::string& chunk : chunks) {
    if (const auto seen = assembler.add(chunk); !seen) return expect_error(one, seen.error());
  }
  const auto completion = assembler.completion();
  if (!completion) return expect_error(one, completion.error());
  ASSERT_EQ(one.find("error"), nullptr) << "was accepted";
  run_completion(one, *completion);
}

void run_upstream_error(const Case& one, const Section& input) {
  const int status = std::stoi(input.argument);
  expect_error(one, read_upstream_error(status, input.body, 7));
}

void run(const Case& one) {
  ASSERT_FALSE(one.sections.empty()) << "a case without sections";
  const Section& input = one.sections.front();
  if (input.name == "chat") return run_chat(one, input);
  if (input.name == "embeddings") return run_embeddings(one, input);
  if (input.name == "chunks") return run_chunks(one, input);
  if (input.name == "upstream_error") return run_upstream_error(one, input);
  FAIL() << "unknown kind of case: " << input.name;
}

TEST(Cases, AllHold) {
  const std::filesystem::path folder = std::filesystem::path(HENGSHI_SOURCE_DIR) / "tests/cases/api";
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".case") continue;
    for (const Case& one : read_cases(entry.path())) {
      SCOPED_TRACE(one.name);
      run(one);
      ++count;
    }
  }
  EXPECT_GT(count, 0U);
  RecordProperty("cases", static_cast<int>(count));
}

}  // namespace
}  // namespace hengshi::api
