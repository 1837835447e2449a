// models.h — GET /v1/models on the wire.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hengshi::api {

struct ModelCard {
  std::string id;
  std::string owned_by;
  int64_t created = 0;  // Unix seconds
};

std::string write_models(const std::vector<ModelCard>& models);
std::string write_model(const ModelCard& model);

}  // namespace hengshi::api
