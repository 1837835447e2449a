#include "api/splice.h"

namespace hengshi::api::json {

Splice::Splice(std::string& out, Value object)
    : out_(out), object_(object), text_(object.document().bytes()), done_(object.begin_byte() + 1) {
  out_ += '{';
}

void Splice::open(Value member) {
  const std::string_view gap = bytes(done_, member.member_byte());
  if (first_) lead_ = gap;
  out_ += empty_ ? lead_ : gap;
  out_ += bytes(member.member_byte(), member.begin_byte());
  done_ = member.end_byte();
  first_ = empty_ = false;
}

void Splice::keep(Value member) {
  open(member);
  out_ += member.raw();
}

void Splice::replace(Value member, std::string_view json) {
  open(member);
  out_ += json;
}

void Splice::remove(Value member) {
  if (first_) lead_ = bytes(done_, member.member_byte());
  first_ = false;
  done_ = member.end_byte();
}

void Splice::add() {
  if (!empty_) out_ += ',';
  empty_ = false;
}

void Splice::finish() { out_ += bytes(done_, object_.end_byte()); }

}  // namespace hengshi::api::json
