#include "api/embeddings.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "api/field_error.h"
#include "api/json.h"
#include "base/log.h"

namespace hengshi::api {

using json::Document;
using json::Kind;
using json::Value;

namespace {

constexpr size_t kMostInputs = 2048;
constexpr std::string_view kInputKinds = "a string, an array of strings, or an array of token ids (or of such arrays)";

bool is_empty(Value container) { return container.begin() == container.end(); }

Result<std::string> read_text(Value value, std::string path) {
  if (!value.is(Kind::kString)) return wrong_type(std::move(path), "a string, as the first element is", value.kind());
  if (value.text().empty()) return wrong_value(std::move(path), "it is empty; send text to embed");
  return std::string(value.text());
}

Result<std::vector<int32_t>> read_tokens(Value value, const std::string& path) {
  if (!value.is(Kind::kArray)) return wrong_type(path, "an array of token ids, as the first element is", value.kind());
  if (is_empty(value)) return wrong_value(path, "it is empty; send tokens to embed");
  std::vector<int32_t> tokens;
  for (const Value token : value) {
    if (!token.is(Kind::kNumber)) return wrong_type(path_of(path, tokens.size()), "a token id", token.kind());
    const auto id = token.integer();
    if (!id || *id < 0 || *id > std::numeric_limits<int32_t>::max()) {
      return wrong_value(path_of(path, tokens.size()), "a token id is a whole number that is not negative");
    }
    tokens.push_back(static_cast<int32_t>(*id));
  }
  return tokens;
}

Result<void> read_list(Value input, EmbeddingsRequest& out) {
  if (is_empty(input)) return wrong_value("input", "it is empty; send at least one text");
  const Value first = *input.begin();
  if (first.is(Kind::kNumber)) {
    out.one_list = true;
    TRY(out.token_ids.emplace_back(), read_tokens(input, "input"));
    return {};
  }
  if (!first.is(Kind::kString) && !first.is(Kind::kArray)) return wrong_type("input", kInputKinds, input.kind());
  if (input.size() > kMostInputs) return wrong_value("input", "give at most 2048 inputs in one request");
  size_t i = 0;
  for (const Value element : input) {
    const std::string path = path_of("input", i++);
    if (first.is(Kind::kString)) {
      TRY(out.texts.emplace_back(), read_text(element, path));
    } else {
      TRY(out.token_ids.emplace_back(), read_tokens(element, path));
    }
  }
  return {};
}

Result<void> read_input(Value input, EmbeddingsRequest& out) {
  if (input.is(Kind::kArray)) return read_list(input, out);
  if (!input.is(Kind::kString)) return wrong_type("input", kInputKinds, input.kind());
  TRY(out.texts.emplace_back(), read_text(input, "input"));
  return {};
}

Result<void> read_options(Value root, EmbeddingsRequest& out) {
  for (const Value member : root) {
    const std::string_view name = member.key();
    if (name == "model" || name == "input" || member.is(Kind::kNull)) continue;
    if (name == "encoding_format") {
      if (!member.is(Kind::kString)) return wrong_type("encoding_format", "a string", member.kind());
      out.base64 = member.text() == "base64";
      if (!out.base64 && member.text() != "float") return wrong_value("encoding_format", "use \"float\" or \"base64\"");
    } else if (name == "dimensions") {
      if (!member.is(Kind::kNumber)) return wrong_type("dimensions", "an integer", member.kind());
      out.dimensions = member.integer().value_or(0);
      if (out.dimensions < 1) return wrong_value("dimensions", "it must be a whole number of at least 1");
    } else if (name == "user") {
      if (!member.is(Kind::kString)) return wrong_type("user", "a string", member.kind());
    } else {
      return wrong_value(plain_name(name), "this server's embeddings do not know this field; leave it out");
    }
  }
  return {};
}

void append_base64(std::string& out, const std::vector<float>& vector) {
  static_assert(std::endian::native == std::endian::little, "the wire wants little-endian floats");
  static constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<uint8_t> bytes(vector.size() * sizeof(float));
  std::memcpy(bytes.data(), vector.data(), bytes.size());
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t left = std::min<size_t>(bytes.size() - i, 3);
    uint32_t group = 0;
    for (size_t j = 0; j < 3; ++j) group = (group << 8) | (j < left ? bytes[i + j] : 0U);
    for (size_t j = 0; j < 4; ++j) out += j <= left ? kDigits[(group >> (18 - 6 * j)) & 63] : '=';
  }
}

void append_floats(std::string& out, const std::vector<float>& vector) {
  std::array<char, 32> digits;
  char before = '[';
  for (const float value : vector) {
    out += before;
    before = ',';
    if (!std::isfinite(value)) {
      out += "null";  // JSON has no word for it.
      continue;
    }
    const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
    out.append(digits.data(), end);
  }
  if (vector.empty()) out += '[';
  out += ']';
}

}  // namespace

Result<EmbeddingsRequest> parse_embeddings(std::string_view body) {
  TRY(const Value root, Document::of_thread().parse(body));
  if (!root.is(Kind::kObject)) {
    return fail(ErrorCode::kInvalidRequest, "The body must be a JSON object.", {}, "invalid_type");
  }
  EmbeddingsRequest out;
  const auto model = root.find("model");
  if (!model || model->is(Kind::kNull)) return missing("model", "name an embedding model");
  if (!model->is(Kind::kString)) return wrong_type("model", "a string", model->kind());
  if (model->text().empty()) return missing("model", "name an embedding model");
  out.model = model->text();
  const auto input = root.find("input");
  if (!input || input->is(Kind::kNull)) return missing("input", "send text to embed");
  TRY_OK(read_input(*input, out));
  TRY_OK(read_options(root, out));
  return out;
}

Result<void> check_token_ids(const EmbeddingsRequest& request, size_t vocabulary) {
  for (size_t i = 0; i < request.token_ids.size(); ++i) {
    const auto& ids = request.token_ids[i];
    const auto known = [&](int32_t id) { return id >= 0 && static_cast<size_t>(id) < vocabulary; };
    const auto bad = std::find_if_not(ids.begin(), ids.end(), known);
    if (bad == ids.end()) continue;
    const std::string list = request.one_list ? "input" : path_of("input", i);
    return wrong_value(
        path_of(list, static_cast<size_t>(bad - ids.begin())),
        std::to_string(*bad) + " is no token id of this model, whose last is " + std::to_string(vocabulary - 1));
  }
  return {};
}

std::string write_embeddings(std::string_view model, const std::vector<std::vector<float>>& vectors, bool base64,
                             int64_t prompt_tokens) {
  std::string out = R"({"object":"list","data":[)";
  int64_t index = 0;
  for (const auto& vector : vectors) {
    if (index != 0) out += ',';
    out += R"({"object":"embedding","index":)";
    json::append_integer(out, index++);
    out += R"(,"embedding":)";
    if (base64) {
      out += '"';
      append_base64(out, vector);
      out += '"';
    } else {
      append_floats(out, vector);
    }
    out += '}';
  }
  out += R"(],"model":)";
  append_json_string(out, model);
  out += R"(,"usage":{"prompt_tokens":)";
  json::append_integer(out, prompt_tokens);
  out += R"(,"total_tokens":)";
  json::append_integer(out, prompt_tokens);
  out += "}}";
  return out;
}

}  // namespace hengshi::api
