#include "api/grown.h"

#include <algorithm>

#include "base/log.h"

namespace hengshi::api {

using json::Kind;
using json::Value;

namespace {

constexpr size_t kFew = 16;  // members that are found faster one by one

bool identifies(std::string_view name) {
  return name == "id" || name == "type" || name == "name" || name == "role" || name == "format";
}

void append_on_one_line(std::string& out, std::string_view json) {
  const size_t begin = out.size();
  out += json;
  std::replace_if(
      out.begin() + static_cast<ptrdiff_t>(begin), out.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
}

}  // namespace

size_t Grown::place_of(std::string_view name) const {
  if (members_.size() > kFew) {
    const auto known = places_.find(name);
    return known == places_.end() ? kNone : known->second;
  }
  for (size_t i = 0; i < members_.size(); ++i) {
    if (members_[i].first == name) return i;
  }
  return kNone;
}

const Grown* Grown::find(std::string_view name) const {
  const size_t place = place_of(name);
  return place == kNone ? nullptr : &members_[place].second;
}

Grown& Grown::member(std::string_view name) {
  kind_ = Kind::kObject;
  if (const size_t place = place_of(name); place != kNone) return members_[place].second;
  members_.emplace_back(std::string(name), Grown());
  if (members_.size() > kFew) {
    for (size_t i = places_.size(); i < members_.size(); ++i) places_.emplace(members_[i].first, i);
  }
  return members_.back().second;
}

void Grown::become(Kind kind) {
  if (kind == kind_) return;
  text_.clear();
  members_.clear();
  places_.clear();
  kind_ = kind;
}

void Grown::take_member(Value member) {
  const std::string_view name = member.key();
  Grown& value = this->member(name);
  if (identifies(name) && member.is(Kind::kString)) {
    if (member.text().empty() && value.text() != nullptr) return;
    value.text_.clear();
  }
  value.take(member);
}

void Grown::take_text(std::string_view name, std::string_view text) {
  Grown& value = member(name);
  value.become(Kind::kString);
  value.text_ += text;
}

void Grown::take(Value fragment) {
  const Kind kind = fragment.kind();
  if (kind == Kind::kNull) return;
  become(kind);
  switch (kind) {
    case Kind::kString: text_ += fragment.text(); return;
    case Kind::kObject:
      for (const Value member : fragment) take_member(member);
      return;
    case Kind::kArray:
      for (const Value element : fragment) {
        if (!text_.empty()) text_ += ',';
        append_on_one_line(text_, element.raw());
      }
      return;
    default: text_ = fragment.raw();
  }
}

void Grown::write(std::string& out) const {
  switch (kind_) {
    case Kind::kNull: out += "null"; return;
    case Kind::kString: append_json_string(out, text_); return;
    case Kind::kArray: ((out += '[') += text_) += ']'; return;
    case Kind::kObject: break;
    default: out += text_; return;
  }
  out += '{';
  bool first = true;
  for (const auto& [name, value] : members_) {
    if (!first) out += ',';
    first = false;
    append_json_string(out, name);
    out += ':';
    value.write(out);
  }
  out += '}';
}

}  // namespace hengshi::api
