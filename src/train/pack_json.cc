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
  // `list`: entries of one list are counted, not lines.
  Reader(const std::string& file, JsonForm form, bool list) : file_(file), form_(form), list_(list) {}

  // One object, in line or entry `place`.
  Result<void> read(element value, uint32_t place) {
    object one;
    place_ = place;
    if (value.get(one) != simdjson::SUCCESS) return wrong("not a JSON object");
    const bool any = form_ == JsonForm::kAny;
    if (has(one, "messages") && (any || form_ == JsonForm::kMessages)) return chat(one);
    if (has(one, "instruction") && (any || form_ == JsonForm::kAlpaca)) return alpaca(one);
    if (has(one, "text") && (any || form_ == JsonForm::kRows)) return row(one);
    return wrong(form_ == JsonForm::kRows       ? "no text and label, as --format jsonl has them"
                 : form_ == JsonForm::kAlpaca   ? "no instruction and output, as --format alpaca has them"
                 : form_ == JsonForm::kMessages ? "no messages, as --format openai has them"
                                                : "none of text and label; instruction and output; messages");
  }

  Imported done() {
    if (later_turns_ > 0) {
      out_.notes.push_back(fmt::format("only the first turn was taken: conversations of several ({})", later_turns_));
    }
    const std::string_view place = list_ ? "entry" : "line";
    unlabelled_.note("rows without text or label", place, out_.notes);
    unanswered_.note("instructions without text or output", place, out_.notes);
    unfinished_.note("conversations without question or answer", place, out_.notes);
    out_.templates = own_rows_;
    return std::move(out_);
  }

 private:
  tl::unexpected<Error> wrong(std::string_view why) const {
    return fault(file_, list_ ? 1 : place_, list_ ? fmt::format("entry {}: {}", place_, why) : std::string(why));
  }

  static bool has(const object& one, std::string_view key) { return one.at_key(key).error() == simdjson::SUCCESS; }

  Result<std::string> text(const object& one, std::string_view key) const {
    element value;
    if (one.at_key(key).get(value) != simdjson::SUCCESS || value.is_null()) return std::string();
    std::string_view out;
    if (value.get(out) != simdjson::SUCCESS) return wrong(fmt::format("'{}' must be text", key));
    return std::string(out);
  }

  void take(Row row, bool lacking, LeftOut& left_out) {
    if (lacking) {
      left_out.add(place_);
    } else {
      out_.rows.push_back(std::move(row));
    }
  }

  Result<void> row(const object& one) {
    Row out;
    out.line = list_ ? 1 : place_;
    TRY(out.text, text(one, "text"));
    TRY(out.label, text(one, "label"));
    TRY(out.answer, text(one, "answer"));
    TRY(out.lang, text(one, "lang"));
    own_rows_ = true;
    const bool unlabelled = out.text.empty() || out.label.empty();
    take(std::move(out), unlabelled, unlabelled_);
    return {};
  }

  Result<void> alpaca(const object& one) {
    Row out;
    out.line = list_ ? 1 : place_;
    TRY(out.text, text(one, "instruction"));
    TRY(const std::string input, text(one, "input"));
    TRY(out.answer, text(one, "output"));
    const bool empty = out.text.empty() || out.answer.empty();
    if (!input.empty()) out.text += "\n" + input;
    take(std::move(out), empty, unanswered_);
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
    out.line = list_ ? 1 : place_;
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
    const bool unfinished = out.text.empty() || out.answer.empty();
    take(std::move(out), unfinished, unfinished_);
    return {};
  }

  const std::string& file_;
  JsonForm form_;
  bool list_;
  Imported out_;
  uint32_t place_ = 0;
  size_t later_turns_ = 0;
  LeftOut unlabelled_, unanswered_, unfinished_;
  bool own_rows_ = false;
};

Result<void> read_list(std::string_view bytes, const std::string& file, Reader& reader) {
  simdjson::dom::parser parser;
  simdjson::dom::array list;
  if (parser.parse(bytes.data(), bytes.size()).get(list) != simdjson::SUCCESS) {
    return fault(file, 1, "not a JSON list; write [{…}, {…}], or one object per line");
  }
  uint32_t number = 0;
  for (const element one : list) TRY_OK(reader.read(one, ++number));
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
      TRY_OK(reader.read(one, line));
    }
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
  }
  return {};
}

}  // namespace

Result<Imported> import_json(const PackFile& file, JsonForm form) {
  std::string_view bytes = file.bytes;
  TRY_OK(check_utf8(bytes, file.name));
  if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);
  const size_t first = bytes.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return fault(file.name, 1, "no rows");
  const bool list = bytes[first] == '[';
  Reader reader(file.name, form, list);
  TRY_OK(list ? read_list(bytes, file.name, reader) : read_lines(bytes, file.name, reader));
  return reader.done();
}

}  // namespace hengshi::train
