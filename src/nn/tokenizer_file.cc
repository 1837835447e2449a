#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <tuple>

#include "nn/tokenizer.h"

namespace hengshi::nn {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

// Reads tokenizer.json part by part and refuses what encode() would not follow.
class Tokenizer::Reader {
 public:
  Reader(Tokenizer& out, const object& root, const std::string& file) : out_(out), root_(root), file_(file) {}

  Result<void> read(bool lowercase) {
    TRY_OK(model());
    TRY_OK(added_tokens());
    TRY_OK(normalizer(lowercase));
    if (text(root_["pre_tokenizer"]["type"]) != "BertPreTokenizer")
      return wrong("pre_tokenizer is no BertPreTokenizer");
    return post_processor();
  }

 private:
  tl::unexpected<Error> wrong(std::string_view why) const {
    return fail(ErrorCode::kInternal,
                fmt::format("{}: {}; choose a model with a BERT tokenizer, or run scripts/setup", file_, why), file_);
  }

  static std::string_view text(simdjson::simdjson_result<element> value) {
    std::string_view out;
    return value.get_string().get(out) == simdjson::SUCCESS ? out : std::string_view();
  }
  static bool flag(simdjson::simdjson_result<element> value, bool otherwise) {
    bool out = false;
    return value.get_bool().get(out) == simdjson::SUCCESS ? out : otherwise;
  }

  Result<int32_t> id_of(simdjson::simdjson_result<element> value) {
    uint64_t id = 0;
    if (value.get_uint64().get(id) != simdjson::SUCCESS || id >= (1U << 21)) return wrong("an id is no small number");
    out_.ids_ = std::max<size_t>(out_.ids_, id + 1);
    return static_cast<int32_t>(id);
  }

  Result<void> model() {
    const auto model = root_["model"];
    if (text(model["type"]) != "WordPiece") return wrong("model is no WordPiece");
    object pieces;
    if (model["vocab"].get_object().get(pieces) != simdjson::SUCCESS) return wrong("model.vocab is missing");
    const std::string_view prefix = text(model["continuing_subword_prefix"]);
    if (prefix.empty()) return wrong("model.continuing_subword_prefix is missing");
    size_t count = 0;  // not pieces.size(), which saturates
    for ([[maybe_unused]] const auto& piece : pieces) ++count;
    out_.vocabulary_ = Vocabulary(2 * count);
    for (const auto& [piece, value] : pieces) {
      TRY(const int32_t id, id_of(element(value)));
      out_.vocabulary_.add(piece, false, id);
      if (piece.size() > prefix.size() && piece.starts_with(prefix)) {
        out_.vocabulary_.add(piece.substr(prefix.size()), true, id);
      }
    }
    uint64_t longest = 0;
    if (model["max_input_chars_per_word"].get_uint64().get(longest) == simdjson::SUCCESS)
      out_.max_characters_ = longest;
    out_.unknown_ = out_.vocabulary_.find(text(model["unk_token"]), false);
    if (out_.unknown_ == Vocabulary::kNone) return wrong("model.unk_token is not in the vocabulary");
    return {};
  }

  Result<void> added_tokens() {
    array tokens;
    if (root_["added_tokens"].get_array().get(tokens) != simdjson::SUCCESS) return {};
    for (const element token : tokens) {
      AddedToken added;
      added.content = text(token["content"]);
      if (added.content.empty()) return wrong("an added token has no content");
      for (const char* const key : {"single_word", "lstrip", "rstrip", "normalized"}) {
        if (flag(token[key], false)) return wrong(fmt::format("added token {} asks for {}", added.content, key));
      }
      TRY(added.id, id_of(token["id"]));
      out_.added_.push_back(std::move(added));
    }
    std::sort(out_.added_.begin(), out_.added_.end(), [](const AddedToken& a, const AddedToken& b) {
      return std::tuple(b.content.size(), a.id) < std::tuple(a.content.size(), b.id);
    });
    return {};
  }

  Result<void> normalizer(bool lowercase) {
    const auto normalizer = root_["normalizer"];
    if (text(normalizer["type"]) != "BertNormalizer") return wrong("normalizer is no BertNormalizer");
    out_.clean_ = flag(normalizer["clean_text"], true);
    out_.split_ideographs_ = flag(normalizer["handle_chinese_chars"], true);
    out_.lowercase_ = lowercase || flag(normalizer["lowercase"], true);
    // null means: as lowercase
    out_.strip_accents_ = lowercase || flag(normalizer["strip_accents"], out_.lowercase_);
    return {};
  }

  Result<int32_t> special(std::string_view content) const {
    for (const AddedToken& token : out_.added_) {
      if (token.content == content) return token.id;
    }
    const int32_t id = out_.vocabulary_.find(content, false);
    if (content.empty() || id == Vocabulary::kNone) return wrong("post_processor names a token that is not there");
    return id;
  }

  Result<void> post_processor() {
    const auto processor = root_["post_processor"];
    if (text(processor["type"]) == "BertProcessing") {
      TRY(out_.first_, special(text(processor["cls"].at(0))));
      TRY(out_.last_, special(text(processor["sep"].at(0))));
      return {};
    }
    array single;
    if (text(processor["type"]) != "TemplateProcessing" ||
        processor["single"].get_array().get(single) != simdjson::SUCCESS || single.size() != 3) {
      return wrong("post_processor does not frame the text with two tokens");
    }
    TRY(out_.first_, special(text(single.at(0)["SpecialToken"]["id"])));
    TRY(out_.last_, special(text(single.at(2)["SpecialToken"]["id"])));
    return {};
  }

  Tokenizer& out_;
  const object& root_;
  const std::string& file_;
};

Result<Tokenizer> Tokenizer::parse(std::string_view json, const std::string& file, bool lowercase) {
  simdjson::dom::parser parser;
  object root;
  if (parser.parse(simdjson::padded_string(json)).get_object().get(root) != simdjson::SUCCESS) {
    return fail(ErrorCode::kInternal, fmt::format("{}: no JSON object; run scripts/setup to write it again", file),
                file);
  }
  Tokenizer out;
  TRY_OK(Reader(out, root, file).read(lowercase));
  return out;
}

}  // namespace hengshi::nn
