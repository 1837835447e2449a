// encoder.h — text to a unit vector by a BERT-family encoder, int8, on one thread.
//
// Shapes:  embedding f32[dim], L2 norm 1.
// Errors:  load() names the file and what is wrong with it, kNotFound without the folder; encode() is total (longer
//          input is cut at max_tokens).
// Threads: immutable once loaded; encode() from any thread, scratch is per thread.
// Source:  docs/decisions/0003-encoder.md.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hengshi::nn {

enum class CpuLevel { kPlain, kAvx2, kAvx512Vnni };
CpuLevel detect_cpu();
std::string_view cpu_level_name(CpuLevel level);

class Encoder {
 public:
  // A folder with config.json, tokenizer.json, model.safetensors (usual BERT names), optionally 1_Pooling/config.json
  // and hengshi.json (name, sha256, language, semantic threshold). HENGSHI_CPU=plain|avx2|avx512 lowers the level.
  static Result<std::unique_ptr<const Encoder>> load(const std::string& folder);
  static Result<std::unique_ptr<const Encoder>> load(const std::string& folder, CpuLevel level);
  virtual ~Encoder() = default;

  virtual const std::string& name() const = 0;     // of the manifest, else the folder's
  virtual const std::string& version() const = 0;  // first 12 hex of the weights' SHA-256
  virtual bool verified() const = 0;               // hengshi.json named that hash, and it was the same
  virtual size_t dim() const = 0;
  virtual size_t max_tokens() const = 0;
  virtual size_t vocabulary() const = 0;          // token ids are below it
  virtual double semantic_threshold() const = 0;  // cosine above which two questions are candidates for one answer
  virtual size_t memory_bytes() const = 0;

  virtual std::vector<int32_t> tokenize(std::string_view text) const = 0;  // with [CLS], [SEP]
  virtual size_t count_tokens(std::string_view text) const = 0;            // without them
  virtual void encode(std::string_view text, std::span<float> out) const = 0;
  virtual void encode_ids(std::span<const int32_t> ids, std::span<float> out) const = 0;
};

}  // namespace hengshi::nn
