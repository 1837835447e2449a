#include "api/errors.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "api/field_error.h"
#include "api/json.h"
#include "api/upstream_words.h"
#include "base/log.h"

namespace hengshi::api {

using json::Document;
using json::Kind;
using json::Value;

namespace {

constexpr std::string_view kCredentials = "The upstream did not accept this server's credentials.";
constexpr std::string_view kRedacted = "[redacted]";

bool is_word(char c) {
  const auto byte = static_cast<unsigned char>(c);
  const bool ascii = byte < 0x80;
  return ascii && (std::isalnum(byte) != 0 || c == '-' || c == '_' || c == '+' || c == '/' || c == '*' || c == '.');
}

bool has_key_prefix(std::string_view word) {
  static constexpr std::array<std::string_view, 9> kPrefixes = {"sk-",  "sk_",  "pk-",  "pk_", "key-",
                                                                "AIza", "ghp_", "gsk_", "xai-"};
  return std::ranges::any_of(kPrefixes, [word](std::string_view prefix) { return word.starts_with(prefix); });
}

// A long run of letters and digits mixed, or of hex digits however they are grouped.
bool is_random(std::string_view word) {
  constexpr size_t kRun = 16;
  constexpr size_t kHex = 24;
  size_t run = 0;
  size_t hex = 0;
  bool all_hex = true;
  bool letter = false;
  bool digit = false;
  for (const char c : word) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '-' || c == '_' || c == '.' || c == '/') {
      run = 0;
      letter = digit = false;
      continue;
    }
    ++run;
    letter |= std::isalpha(byte) != 0;
    digit |= std::isdigit(byte) != 0;
    all_hex &= std::isxdigit(byte) != 0;
    ++hex;
    if (run >= 2 * kRun || (run >= kRun && letter && digit)) return true;
  }
  return all_hex && hex >= kHex;
}

bool looks_like_key(std::string_view word) {
  return has_key_prefix(word) || word.find("***") != word.npos || is_random(word);
}

bool same_letters(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

std::string first_characters(std::string text, size_t most) {
  size_t characters = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) == 0x80) continue;
    if (characters++ == most) return text.substr(0, i);
  }
  return text;
}

bool about_credentials(std::string_view word) {
  return word == "401" || word == "403" || word == "authentication_error" || word == "permission_error" ||
         word == "invalid_api_key";
}

ErrorCode code_of_words(std::string_view type, std::string_view code) {
  for (const std::string_view word : {type, code}) {
    if (word == "429" || word.find("rate_limit") != word.npos || word == "insufficient_quota" ||
        word == "too_many_requests" || word == "RESOURCE_EXHAUSTED") {
      return ErrorCode::kRateLimited;
    }
  }
  return ErrorCode::kUpstream;
}

struct Stated {
  std::string message, type, code, param;
};

std::string word_of(Value object, std::string_view name) {
  const auto value = object.find(name);
  if (!value || !(value->is(Kind::kString) || value->is(Kind::kNumber))) return {};
  return std::string(value->text());
}

Stated stated_in(Value error) {
  Stated out;
  if (error.is(Kind::kString)) {
    out.message = error.text();
    return out;
  }
  out = {word_of(error, "message"), word_of(error, "type"), word_of(error, "code"), word_of(error, "param")};
  if (out.type.empty()) out.type = word_of(error, "status");
  return out;
}

// Providers write {"error": {…}}, {"error": "…"}, [{"error": {…}}], {"message": "…"} or {"detail": "…"}.
Stated read_stated(std::string_view body) {
  auto root = Document::of_thread().parse(body);
  if (!root) return {};
  Value value = *root;
  if (value.is(Kind::kArray) && !(value.begin() == value.end())) value = *value.begin();
  if (!value.is(Kind::kObject)) return {};
  if (const auto error = value.find("error"); error && !error->is(Kind::kNull)) return stated_in(*error);
  Stated out = stated_in(value);
  if (out.message.empty()) out.message = word_of(value, "detail");
  return out;
}

// A word of the wire ("model_not_found", "messages[0].content"), or nothing.
std::string safe_word(const std::string& word) {
  constexpr size_t kLongest = 64;
  const bool safe =
      word.size() <= kLongest && !looks_like_key(word) && std::ranges::all_of(word, [](unsigned char c) {
        return c < 0x80 && (std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.' || c == '[' || c == ']');
      });
  return safe ? word : std::string();
}

void append_nullable(std::string& out, std::string_view text) {
  if (text.empty()) {
    out += "null";
  } else {
    append_json_string(out, text);
  }
}

ErrorCode code_of_status(int status) {
  switch (status) {
    case 400: return ErrorCode::kInvalidRequest;
    case 404: return ErrorCode::kNotFound;
    case 413: return ErrorCode::kTooLarge;
    case 422: return ErrorCode::kUnprocessable;
    case 429: return ErrorCode::kRateLimited;
    default: return ErrorCode::kUpstream;
  }
}

}  // namespace

std::string clean_message(std::string_view message) {
  constexpr size_t kMost = 300;
  std::string out;
  bool key_follows = false;
  for (size_t i = 0; i < message.size();) {
    if (!is_word(message[i])) {
      const auto byte = static_cast<unsigned char>(message[i++]);
      const char c = byte < 0x20 || byte == 0x7F ? ' ' : static_cast<char>(byte);
      if (c != ' ' || (!out.empty() && out.back() != ' ')) out += c;
      continue;
    }
    size_t end = i;
    while (end < message.size() && is_word(message[end])) ++end;
    const std::string_view word = message.substr(i, end - i);
    i = end;
    out += key_follows || looks_like_key(word) ? kRedacted : word;
    key_follows = same_letters(word, "bearer");
  }
  return first_characters(std::move(out), kMost);
}

std::string write_error(const Error& error) {
  std::string out = R"({"error":{"message":)";
  append_json_string(out, error.message);
  out += R"(,"type":)";
  append_json_string(
      out, error.reason == "insufficient_quota" ? std::string_view(error.reason) : openai_error_type(error.code));
  out += R"(,"param":)";
  append_nullable(out, error.param);
  out += R"(,"code":)";
  append_nullable(out, error.reason);
  out += "}}";
  return out;
}

Error read_upstream_error(int status, std::string_view body, int retry_after_s) {
  Error out{code_of_status(status), {}};
  out.retry_after_s = retry_after_s;
  if (status == 401 || status == 403) {
    out.message = kCredentials;
    return out;
  }
  const Stated stated = read_stated(body);
  out.message = clean_message(stated.message);
  if (out.message.empty()) out.message = "The upstream answered " + std::to_string(status) + " without a reason.";
  if (out.code == ErrorCode::kUpstream) return out;
  out.reason = safe_word(stated.code);
  out.param = safe_word(stated.param);
  return out;
}

Result<Chunk> read_chunk(std::string_view chunk) {
  auto root = Document::of_thread().parse(chunk);
  if (!root || !root->is(Kind::kObject)) {
    return fail(ErrorCode::kUpstream, "The upstream sent a chunk that is no JSON object.");
  }
  if (const auto error = root->find("error"); error && !error->is(Kind::kNull)) {
    const Stated stated = stated_in(*error);
    Error out{code_of_words(stated.type, stated.code), clean_message(stated.message)};
    if (about_credentials(stated.type) || about_credentials(stated.code)) out.message = kCredentials;
    if (out.message.empty()) out.message = "The upstream broke its answer off with an error.";
    if (out.code == ErrorCode::kRateLimited) out.reason = safe_word(stated.code);
    return tl::unexpected<Error>(std::move(out));
  }
  const auto choices = root->find("choices");
  if (!choices || !choices->is(Kind::kArray)) {
    return fail(ErrorCode::kUpstream, "The upstream sent a chunk without choices.");
  }
  auto counts = root->find("usage");
  if (counts && !counts->is(Kind::kObject)) counts.reset();
  return Chunk{*root, *choices, counts};
}

}  // namespace hengshi::api
