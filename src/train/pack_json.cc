#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>

#include "text/text.h"
#include "train/pack_sources.h"

namespace hengshi::train {

namespace {

using simdjson::dom::element;
using simdjson::dom::object;

class Reader {
 public:
  explicit Reader(const std::string& file) : file_(file) {}

  // One object; `line` and `where` say which in messages.
  Result<void> read(element value, uint32_t line, const std::string& where) {
    object one;
    if (value.get(one) != simdjson::SUCCESS) return fault(file_, line, where + "not a JSON object");
    line_ = line;
    where_ = where;
    if (has(one, "messages")) return chat(one);
    if (has(one, "instruction")) return alpaca(one);
    if (has(one, "text")) return row(one);
    return wrong("none of text and label; instruction and output; messages");
  }

  Imported done() {
    if (later_turns_ > 0) {
      out_.notes.push_back(fmt::format("of {} conversations only the first turn was taken", later_turns_));
    }
    if (without_answer_ > 0) {
      out_.notes.push_back(fmt::format("{} conversations without question or answer were left out", without_answer_));
    }
    out_.templates = own_rows_;
    return std::move(out_);
  }

 private:
  tl::unexpected<Error> wrong(std::string_view why) const {
    return fault(file_, line_, fmt::format("{}{}", where_, why));
  }

  static bool has(const object& one, std::string_view key) { return one.at_key(key).error() == simdjson::SUCCESS; }

  Result<std::string> text(const object& one, std::string_view key) const {
    element value;
    if (one.at_key(key).get(value) != simdjson::SUCCESS || value.is_null()) return std::string();
    std::string_view out;
    if (value.get(out) != simdjson::SUCCESS) return wrong(fmt::format("'{}' must be text", key));
    return std::string(out);
  }

  Result<void> row(const object& one) {
    Row out;
    out.line = line_;
    TRY(out.text, text(one, "text"));
    TRY(out.label, text(one, "label"));
    TRY(out.answer, text(one, "answer"));
    TRY(out.lang, text(one, "lang"));
    if (out.text.empty() || out.label.empty())
      return wrong(R"(no text or no label; write {"text": "…", "label": "…"})");
    own_rows_ = true;
    out_.rows.push_back(std::move(out));
    return {};
  }

  Result<void> alpaca(const object& one) {
    Row out;
    out.line = line_;
    TRY(out.text, text(one, "instruction"));
    TRY(const std::string input, text(one, "input"));
    TRY(out.answer, text(one, "output"));
    if (!input.empty()) out.text += "\n" + input;
    if (out.text.empty() || out.answer.empty()) return wrong("an empty instruction or output");
    out_.rows.push_back(std::move(out));
    return {};
  }

  // Content as text, or as a list of parts, of which the text counts.
  Result<std::string> content(const object& message) const {
    simdjson::dom::array parts;
    if (message.at_key("content").get(parts) != simdjson::SUCCESS) return text(message, "content");
    std::string out;
    for (const element part : parts) {
      object one;
      if (part.get(one) != simdjson::SUCCESS) return wrong("a part of a content is no object");
      TRY(const std::string said, text(one, "text"));
      out += said;
    }
    return out;
  }

  Result<void> chat(const object& one) {
    simdjson::dom::array messages;
    if (one.at_key("messages").get(messages) != simdjson::SUCCESS) return wrong("'messages' must be a list");
    Row out;
    out.line = line_;
    size_t turns = 0;
    for (const element item : messages) {
      object message;
      if (item.get(message) != simdjson::SUCCESS) return wrong("a message is no object");
      TRY(const std::string role, text(message, "role"));
      TRY(std::string said, content(message));
      turns += role == "assistant" ? 1 : 0;
      if (!out.answer.empty()) continue;
      if (role == "user") {
        out.text = std::move(said);
      } else if (role == "assistant") {
        out.answer = std::move(said);
      }
    }
    later_turns_ += turns > 1 ? 1 : 0;
    if (out.text.empty() || out.answer.empty()) {
      ++without_answer_;
    } else {
      out_.rows.push_back(std::move(out));
    }
    return {};
  }

  const std::string& file_;
  Imported out_;
  std::string where_;
  uint32_t line_ = 0;
  size_t later_turns_ = 0, without_answer_ = 0;
  bool own_rows_ = false;
};

Result<void> read_list(std::string_view bytes, const std::string& file, Reader& reader) {
  simdjson::dom::parser parser;
  simdjson::dom::array list;
  if (parser.parse(bytes.data(), bytes.size()).get(list) != simdjson::SUCCESS) {
    return fault(file, 1, "not a JSON list; write [{…}, {…}], or one object per line");
  }
  size_t number = 0;
  for (const element one : list) TRY_OK(reader.read(one, 1, fmt::format("entry {}: ", ++number)));
  return {};
}

Result<void> read_lines(std::string_view bytes, const std::string& file, Reader& reader) {
  simdjson::dom::parser parser;
  for (uint32_t line = 1; !bytes.empty(); ++line) {
    const size_t end = std::min(bytes.find('\n'), bytes.size());
    const std::string_view text = bytes.substr(0, end);
    if (text.find_first_not_of(" \t\r") != std::string_view::npos) {
      element one;
      if (parser.parse(text.data(), text.size()).get(one) != simdjson::SUCCESS) {
        return fault(file, line, "not a JSON object; write one per line");
      }
      TRY_OK(reader.read(one, line, ""));
    }
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
  }
  return {};
}

}  // namespace

Result<Imported> import_json(const PackFile& file) {
  std::string_view bytes = file.bytes;
  TRY_OK(check_utf8(bytes, file.name));
  if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);
  const size_t first = bytes.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return fault(file.name, 1, "no rows");
  Reader reader(file.name);
  TRY_OK(bytes[first] == '[' ? read_list(bytes, file.name, reader) : read_lines(bytes, file.name, reader));
  return reader.done();
}

}  // namespace hengshi::train
