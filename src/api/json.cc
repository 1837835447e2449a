#include "api/json.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

namespace hengshi::api::json {

namespace ondemand = simdjson::ondemand;

struct Document::Parser {
  ondemand::parser tokens;
};

namespace {

constexpr size_t kKeepBytes = size_t{1} << 20;  // Scratch above this is given back after use.
constexpr size_t kFirstBytes = size_t{1} << 14;
constexpr size_t kMaxBytes = size_t{1} << 30;

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

size_t digits(std::string_view token, size_t at) {
  while (at < token.size() && is_digit(token[at])) ++at;
  return at;
}

bool is_number(std::string_view token) {
  size_t at = token[0] == '-' ? 1 : 0;
  const size_t whole = digits(token, at);
  if (whole == at || (token[at] == '0' && whole > at + 1)) return false;
  at = whole;
  if (at < token.size() && token[at] == '.') {
    const size_t end = digits(token, at + 1);
    if (end == at + 1) return false;
    at = end;
  }
  if (at < token.size() && (token[at] == 'e' || token[at] == 'E')) {
    ++at;
    if (at < token.size() && (token[at] == '+' || token[at] == '-')) ++at;
    const size_t end = digits(token, at);
    if (end == at) return false;
    at = end;
  }
  return at == token.size();
}

// The four hex digits at `at`; -1 when they are none.
int32_t hex4(std::string_view text, size_t at) {
  if (at + 4 > text.size()) return -1;
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data() + at, text.data() + at + 4, value, 16);
  if (error != std::errc() || end != text.data() + at + 4) return -1;
  return static_cast<int32_t>(value);
}

void append_utf8(std::string& out, uint32_t c) {
  const auto put = [&out](uint32_t byte) { out += static_cast<char>(byte); };
  if (c < 0x80) return put(c);
  if (c < 0x800) {
    put(0xC0 | (c >> 6));
  } else if (c < 0x10000) {
    put(0xE0 | (c >> 12));
    put(0x80 | ((c >> 6) & 0x3F));
  } else {
    put(0xF0 | (c >> 18));
    put(0x80 | ((c >> 12) & 0x3F));
    put(0x80 | ((c >> 6) & 0x3F));
  }
  put(0x80 | (c & 0x3F));
}

// Reads what follows `\u` at `at`; the index after it, 0 when it is no character (simdjson 3.0 lets lone surrogates
// by).
size_t append_unicode_escape(std::string& out, std::string_view text, size_t at) {
  const int32_t first = hex4(text, at);
  if (first < 0 || (first >= 0xDC00 && first < 0xE000)) return 0;
  if (first < 0xD800 || first >= 0xE000) {
    append_utf8(out, static_cast<uint32_t>(first));
    return at + 4;
  }
  if (text.substr(at + 4, 2) != "\\u") return 0;
  const int32_t second = hex4(text, at + 6);
  if (second < 0xDC00 || second >= 0xE000) return 0;
  append_utf8(out, static_cast<uint32_t>(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00)));
  return at + 10;
}

bool append_unescaped(std::string& out, std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    const size_t slash = std::min(text.find('\\', at), text.size());
    out.append(text, at, slash - at);
    if (slash == text.size()) break;
    if (slash + 1 == text.size()) return false;
    at = slash + 2;
    switch (text[slash + 1]) {
      case '"': out += '"'; break;
      case '\\': out += '\\'; break;
      case '/': out += '/'; break;
      case 'b': out += '\b'; break;
      case 'f': out += '\f'; break;
      case 'n': out += '\n'; break;
      case 'r': out += '\r'; break;
      case 't': out += '\t'; break;
      case 'u':
        at = append_unicode_escape(out, text, at);
        if (at == 0) return false;
        break;
      default: return false;
    }
  }
  return true;
}

tl::unexpected<Error> bad(std::string why) {
  return fail(ErrorCode::kInvalidRequest, "The JSON cannot be read: " + std::move(why) + ".", {}, "invalid_json");
}

tl::unexpected<Error> bad_tokens(simdjson::error_code error) {
  switch (error) {
    case simdjson::UTF8_ERROR: return bad("it is not valid UTF-8; encode text as UTF-8");
    case simdjson::UNCLOSED_STRING: return bad("a string is not closed");
    case simdjson::UNESCAPED_CHARS:
      return bad("a control character stands unescaped in a string; write it as \\n, \\t or \\u00XX");
    case simdjson::MEMALLOC: return fail(ErrorCode::kInternal, "Out of memory while reading JSON.");
    default: return bad("it is empty; send one JSON object");
  }
}

}  // namespace

std::string_view name_of(Kind kind) {
  static constexpr std::array<std::string_view, 7> kNames = {"null",     "a boolean", "a boolean", "a number",
                                                             "a string", "an array",  "an object"};
  return kNames[static_cast<size_t>(kind)];
}

// Walks simdjson's tokens once, checking the grammar and filling the nodes.
class Walk {
 public:
  Walk(Document& document, ondemand::json_iterator&& tokens)
      : document_(document), tokens_(std::move(tokens)), text_(document.text_) {}

  Result<void> run() {
    if (!value(0, {}, offset()) || (!tokens_.at_end() && !refuse("something follows the value"))) {
      const size_t at = tokens_.at_end() ? text_.size() : offset();
      return bad(std::string(why_) + " near byte " + std::to_string(at));
    }
    return {};
  }

 private:
  bool refuse(std::string_view why) {
    if (why_.empty()) why_ = why;
    return false;
  }
  uint32_t offset() const {
    return static_cast<uint32_t>(reinterpret_cast<const char*>(tokens_.peek()) - text_.data());
  }
  char first() const { return tokens_.at_end() ? '\0' : static_cast<char>(*tokens_.peek()); }

  // The scalar token here, without the white space after it; moves on.
  std::string_view take() {
    const uint32_t begin = offset();
    size_t size = std::min<size_t>(tokens_.peek_length(), text_.size() - begin);
    tokens_.return_current_and_advance();
    while (size > 1 && is_space(text_[begin + size - 1])) --size;
    return text_.substr(begin, size);
  }

  bool string(std::string_view token, Document::Span& out) {
    if (token.size() < 2 || token.back() != '"') return refuse("a string is not closed");
    const std::string_view inner = token.substr(1, token.size() - 2);
    if (std::memchr(inner.data(), '\\', inner.size()) == nullptr) {
      out.begin = static_cast<uint32_t>(inner.data() - text_.data());
      out.size = static_cast<uint32_t>(inner.size()) & 0x7FFFFFFF;
      return true;
    }
    const size_t begin = document_.unescaped_.size();
    if (!append_unescaped(document_.unescaped_, inner)) return refuse("a string holds a wrong escape");
    out.begin = static_cast<uint32_t>(begin);
    out.size = static_cast<uint32_t>(document_.unescaped_.size() - begin) & 0x7FFFFFFF;
    out.unescaped = 1;
    return true;
  }

  bool scalar(std::string_view token, Document::Node& node) {
    if (token[0] == '"') {
      node.kind = Kind::kString;
      return string(token, node.text);
    }
    if (token == "null") return true;
    if (token == "true" || token == "false") {
      node.kind = token == "true" ? Kind::kTrue : Kind::kFalse;
      return true;
    }
    if (token[0] != '-' && !is_digit(token[0])) return refuse("a value is missing or misspelt");
    if (!is_number(token)) return refuse("a number is misspelt");
    node.kind = Kind::kNumber;
    node.text.begin = node.begin;
    node.text.size = static_cast<uint32_t>(token.size()) & 0x7FFFFFFF;
    return true;
  }

  bool value(int depth, Document::Span key, uint32_t member) {
    if (tokens_.at_end()) return refuse("it ends too early");
    if (document_.nodes_.size() == kMaxValues) return refuse("it holds too many values");
    const auto index = static_cast<uint32_t>(document_.nodes_.size());
    Document::Node& node = document_.nodes_.emplace_back();
    node.begin = offset();
    node.key = key;
    node.member = member;
    const char c = first();
    if (c == '{' || c == '[') {
      if (depth == kMaxDepth) return refuse("it is nested too deeply (64 levels are read)");
      node.kind = c == '{' ? Kind::kObject : Kind::kArray;
      tokens_.return_current_and_advance();
      return c == '{' ? members(depth, index) : elements(depth, index);
    }
    const std::string_view token = take();
    node.end = node.begin + static_cast<uint32_t>(token.size());
    node.next = index + 1;
    return scalar(token, node);
  }

  // After an opening bracket or a value: true when the container ends here.
  bool close(char bracket, uint32_t index) {
    if (first() != bracket) return false;
    Document::Node& node = document_.nodes_[index];
    node.end = offset() + 1;
    node.next = static_cast<uint32_t>(document_.nodes_.size());
    tokens_.return_current_and_advance();
    return true;
  }

  bool members(int depth, uint32_t index) {
    if (close('}', index)) return true;
    while (true) {
      if (first() != '"') return refuse("a key in double quotes is missing");
      const uint32_t member = offset();
      Document::Span key;
      if (!string(take(), key)) return false;
      if (first() != ':') return refuse("a colon is missing after a key");
      tokens_.return_current_and_advance();
      if (!value(depth + 1, key, member)) return false;
      if (close('}', index)) return true;
      if (first() != ',') return refuse("a comma or closing brace is missing");
      tokens_.return_current_and_advance();
    }
  }

  bool elements(int depth, uint32_t index) {
    if (close(']', index)) return true;
    while (true) {
      if (!value(depth + 1, {}, offset())) return false;
      if (close(']', index)) return true;
      if (first() != ',') return refuse("a comma or closing bracket is missing");
      tokens_.return_current_and_advance();
    }
  }

  Document& document_;
  ondemand::json_iterator tokens_;
  std::string_view text_;
  std::string_view why_;
};

Document::Document() : parser_(std::make_unique<Parser>()) {}
Document::~Document() = default;

Document& Document::of_thread() {
  thread_local Document document;
  return document;
}

void Document::release_when_large() {
  if (padded_.capacity() > kKeepBytes) padded_ = {};
  if (unescaped_.capacity() > kKeepBytes) unescaped_ = {};
  if (nodes_.capacity() * sizeof(Node) > kKeepBytes) nodes_ = {};
  if (parser_->tokens.capacity() > kKeepBytes) parser_ = std::make_unique<Parser>();
}

Result<Value> Document::parse(std::string_view text, size_t readable) {
  static_assert(kPadding >= simdjson::SIMDJSON_PADDING);
  release_when_large();
  nodes_.clear();
  unescaped_.clear();
  text_ = {};
  if (text.empty()) return bad_tokens(simdjson::EMPTY);
  if (text.size() > kMaxBytes) return fail(ErrorCode::kTooLarge, "The JSON is larger than 1 GiB.");
  if (readable < text.size() + kPadding) {
    padded_.clear();
    padded_.reserve(text.size() + kPadding);
    padded_.assign(text);
    text = padded_;
    readable = padded_.size() + kPadding;
  }
  text_ = text;
  if (parser_->tokens.capacity() < text.size() &&
      parser_->tokens.allocate(std::bit_ceil(std::max(text.size(), kFirstBytes))) != simdjson::SUCCESS) {
    return bad_tokens(simdjson::MEMALLOC);
  }
  ondemand::json_iterator tokens;
  const simdjson::padded_string_view padded(text.data(), text.size(), readable);
  if (const auto error = parser_->tokens.iterate_raw(padded).get(tokens)) return bad_tokens(error);
  TRY_OK(Walk(*this, std::move(tokens)).run());
  return Value(this, 0);
}

std::optional<double> Value::number() const {
  if (!is(Kind::kNumber)) return std::nullopt;
  const std::string_view token = text();
  if (token.size() == 1) return token[0] - '0';
  double value = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), value);
  if (error != std::errc()) return std::nullopt;  // Beyond a double.
  return value;
}

std::optional<int64_t> Value::integer() const {
  if (!is(Kind::kNumber)) return std::nullopt;
  const std::string_view token = text();
  int64_t value = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), value);
  if (error == std::errc() && end == token.data() + token.size()) return value;
  const auto real = number();
  if (!real || std::trunc(*real) != *real || std::abs(*real) > 9e15) return std::nullopt;
  return static_cast<int64_t>(*real);
}

std::optional<Value> Value::find(std::string_view key) const {
  std::optional<Value> found;
  if (!is(Kind::kObject)) return found;
  for (const Value member : *this) {
    if (member.key() == key) found = member;
  }
  return found;
}

size_t Value::size() const {
  size_t count = 0;
  for (auto it = begin(); !(it == end()); ++it) ++count;
  return count;
}

void append_integer(std::string& out, int64_t value) {
  std::array<char, 24> digits_of;
  const auto [end, error] = std::to_chars(digits_of.data(), digits_of.data() + digits_of.size(), value);
  out.append(digits_of.data(), end);
}

}  // namespace hengshi::api::json
