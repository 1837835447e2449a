// Whatever the bytes: parse_embeddings never crashes, and what it accepts holds texts or tokens, never both or none.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "api/embeddings.h"
#include "base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto request = hengshi::api::parse_embeddings({reinterpret_cast<const char*>(data), size});
  if (!request) return 0;
  CHECK(request->texts.empty() != request->token_ids.empty(), "one kind of input");
  CHECK(!request->model.empty() && request->dimensions >= 0, "checked fields");
  return 0;
}
