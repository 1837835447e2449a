// Any bytes: the normal form is valid UTF-8 and its own normal form, the guards end and never refuse a text itself.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "text/guards.h"
#include "text/shape.h"
#include "text/slots.h"
#include "text/text.h"
#include "text/value.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hengshi::text;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string once = normalise(bytes);
  CHECK(valid_utf8(once), "a normal form is valid UTF-8");
  CHECK(normalise(once) == once, "a normal form is its own normal form");
  const GuardFacts facts = guard_facts(bytes);
  CHECK(refuse(facts, facts).empty(), "a text is its own paraphrase");
  (void)guard_facts(once);
  (void)detect_language(bytes);
  (void)unfit_shape(once);
  for (const ValueKind kind : {ValueKind::kNumber, ValueKind::kDate, ValueKind::kTime, ValueKind::kAmount,
                               ValueKind::kPercent, ValueKind::kPhone, ValueKind::kEmail, ValueKind::kId}) {
    (void)find_value(kind, bytes);
  }
  if (const auto parsed = Template::parse(bytes)) (void)parsed->fill({{"a", "b"}});
  return 0;
}
