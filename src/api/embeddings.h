// embeddings.h — POST /v1/embeddings on the wire.
//
// Errors:  kInvalidRequest with `param`.
// Threads: values and free functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hengshi::api {

struct EmbeddingsRequest {
  std::string model;
  std::vector<std::string> texts;               // string and string[]
  std::vector<std::vector<int32_t>> token_ids;  // token[] and token[][]; one of the two is empty
  bool one_list = false;                        // input was token[]
  bool base64 = false;
  int64_t dimensions = 0;  // 0: as the model has them
};

Result<EmbeddingsRequest> parse_embeddings(std::string_view body);

// Token ids must be below `vocabulary`; the first that is not is named by its place, as "input[2][17]".
Result<void> check_token_ids(const EmbeddingsRequest& request, size_t vocabulary);

// Vectors in input order.
std::string write_embeddings(std::string_view model, const std::vector<std::vector<float>>& vectors, bool base64,
                             int64_t prompt_tokens);

}  // namespace hengshi::api
