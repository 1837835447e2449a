#include "api/models.h"

#include "api/json.h"
#include "base/log.h"

namespace hengshi::api {

namespace {

void append_model(std::string& out, const ModelCard& model) {
  out += R"({"id":)";
  append_json_string(out, model.id);
  out += R"(,"object":"model","created":)";
  json::append_integer(out, model.created);
  out += R"(,"owned_by":)";
  append_json_string(out, model.owned_by);
  out += '}';
}

}  // namespace

std::string write_model(const ModelCard& model) {
  std::string out;
  append_model(out, model);
  return out;
}

std::string write_models(const std::vector<ModelCard>& models) {
  std::string out = R"({"object":"list","data":[)";
  for (const ModelCard& model : models) {
    if (out.back() != '[') out += ',';
    append_model(out, model);
  }
  out += "]}";
  return out;
}

}  // namespace hengshi::api
