// Files of any bytes, as each format a pack is imported from: read or refused; what was read is named and exported.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/check.h"
#include "train/pack_export.h"
#include "train/pack_import.h"

namespace {

void use(hengshi::Result<hengshi::train::Imported> imported) {
  if (!imported) return;
  const auto pack = hengshi::train::pack_of_import(std::move(*imported), "", "p");
  if (!pack) return;
  for (const char* format : {"jsonl", "csv"}) {
    CHECK(hengshi::train::exported(pack->pack, format, std::nullopt), "every pack can be exported");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using hengshi::train::import_json, hengshi::train::import_rasa, hengshi::train::import_table;
  using hengshi::train::JsonForm, hengshi::train::TableForm;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  use(import_table({"a.csv", bytes}, "", TableForm::kAny));
  use(import_table({"a.csv", bytes}, "text=1,label=2", TableForm::kAny));
  use(import_json({"a.jsonl", bytes}, JsonForm::kAny));
  use(import_rasa({{"a.yml", bytes}}));
  return 0;
}
