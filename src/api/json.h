// json.h — a JSON text read once: a flat tree of values that remember their bytes.
//
// Shapes:  values lie in document order, a container before its children; Value is a handle into its Document.
// Errors:  kInvalidRequest, saying what is wrong at which byte; limits below. Lone surrogates are refused: they are no
//          text. Duplicate keys are kept; find() takes the last.
// Threads: one Document per thread, of_thread(); its views live until the next parse there.
// Source:  RFC 8259; tokens and UTF-8 validation by simdjson.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hengshi::api::json {

inline constexpr int kMaxDepth = 64;
inline constexpr size_t kMaxValues = size_t{1} << 20;
inline constexpr size_t kPadding = 64;  // Bytes the reader may look at beyond the text.

enum class Kind : uint8_t { kNull, kTrue, kFalse, kNumber, kString, kArray, kObject };

// "a string", "an object": for messages.
std::string_view name_of(Kind kind);

class Document;

class Value {
 public:
  Value(const Document* document, uint32_t index) : document_(document), index_(index) {}

  Kind kind() const;
  bool is(Kind kind) const { return this->kind() == kind; }
  bool is_bool() const { return is(Kind::kTrue) || is(Kind::kFalse); }
  std::string_view text() const;  // A string unescaped; a number's token.
  std::string_view raw() const;   // Its bytes, quotes and brackets included.
  bool escaped() const;           // A string whose bytes hold a backslash.
  std::string_view key() const;   // Unescaped; empty outside objects.
  bool key_escaped() const;
  size_t begin_byte() const;   // Of raw() in the text.
  size_t end_byte() const;     // One past it.
  size_t member_byte() const;  // Where the member starts: its key's quote, or begin_byte() in an array.
  uint32_t index() const { return index_; }
  const Document& document() const { return *document_; }

  std::optional<double> number() const;
  std::optional<int64_t> integer() const;  // Also 1.0 and 1e3; nothing when not whole or too big.

  std::optional<Value> find(std::string_view key) const;  // The last member of that name.
  size_t size() const;                                    // Number of children.

  class Iterator {
   public:
    Iterator(const Document* document, uint32_t index) : document_(document), index_(index) {}
    Value operator*() const { return {document_, index_}; }
    Iterator& operator++();
    bool operator==(const Iterator& other) const { return index_ == other.index_; }

   private:
    const Document* document_;
    uint32_t index_;
  };
  Iterator begin() const { return {document_, index_ + 1}; }
  Iterator end() const;

 private:
  const Document* document_;
  uint32_t index_;
};

class Document {
 public:
  Document();
  ~Document();
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;

  static Document& of_thread();

  // `readable`: bytes that may be read from text.data(), kPadding beyond its end at least, else the text is copied.
  Result<Value> parse(std::string_view text, size_t readable);
  Result<Value> parse(std::string_view text) { return parse(text, text.size()); }
  Value at(uint32_t index) const { return {this, index}; }
  std::string_view bytes() const { return text_; }

 private:
  friend class Value;
  friend class Walk;
  struct Span {
    uint32_t begin = 0;
    uint32_t size : 31 = 0;
    uint32_t unescaped : 1 = 0;  // Lies in unescaped_, not in the text.
  };
  struct Node {
    Span text, key;
    uint32_t begin = 0, end = 0, member = 0;
    uint32_t next = 0;  // Index after the subtree.
    Kind kind = Kind::kNull;
  };
  struct Parser;

  std::string_view view(Span span) const {
    return std::string_view(span.unescaped != 0 ? std::string_view(unescaped_) : text_).substr(span.begin, span.size);
  }
  void release_when_large();

  std::unique_ptr<Parser> parser_;
  std::string padded_;
  std::string unescaped_;
  std::vector<Node> nodes_;
  std::string_view text_;
};

inline Kind Value::kind() const { return document_->nodes_[index_].kind; }
inline std::string_view Value::text() const { return document_->view(document_->nodes_[index_].text); }
inline bool Value::escaped() const { return document_->nodes_[index_].text.unescaped != 0; }
inline std::string_view Value::key() const { return document_->view(document_->nodes_[index_].key); }
inline bool Value::key_escaped() const { return document_->nodes_[index_].key.unescaped != 0; }
inline size_t Value::begin_byte() const { return document_->nodes_[index_].begin; }
inline size_t Value::end_byte() const { return document_->nodes_[index_].end; }
inline size_t Value::member_byte() const { return document_->nodes_[index_].member; }
inline std::string_view Value::raw() const { return document_->text_.substr(begin_byte(), end_byte() - begin_byte()); }
inline Value::Iterator& Value::Iterator::operator++() {
  index_ = document_->nodes_[index_].next;
  return *this;
}
inline Value::Iterator Value::end() const { return {document_, document_->nodes_[index_].next}; }

void append_integer(std::string& out, int64_t value);

}  // namespace hengshi::api::json
