// A rules file of any bytes is read or refused; what was read answers a question without harm.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "rules/rules.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto rules = hengshi::rules::RuleSet::parse(bytes, "rules.toml");
  if (!rules) return 0;
  for (const std::string_view question :
       {std::string_view("Where is order AB12CD34?"), std::string_view("营业时间是几点")}) {
    (void)(*rules)->match(question, hengshi::text::detect_language(question));
  }
  return 0;
}
