#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <unordered_set>

#include "train/pack_sources.h"

namespace hengshi::train {

namespace {

constexpr std::string_view kUtter = "utter_";

uint32_t line_of(const YAML::Node& node) { return static_cast<uint32_t>(node.Mark().line + 1); }

// "to [Berlin](city)" and "[Berlin]{"entity": "city"}" are said as "Berlin".
std::string without_annotations(std::string_view s) {
  std::string out;
  for (size_t at = 0; at < s.size();) {
    const size_t close = s[at] == '[' ? s.find(']', at) : std::string_view::npos;
    const char open = close == std::string_view::npos || close + 1 >= s.size() ? '\0' : s[close + 1];
    const size_t end = open == '(' ? s.find(')', close) : open == '{' ? s.find('}', close) : std::string_view::npos;
    if (end == std::string_view::npos) {
      out += s[at++];
      continue;
    }
    out += s.substr(at + 1, close - at - 1);
    at = end + 1;
  }
  return out;
}

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t' || s.back() == '\r')) s.remove_suffix(1);
  return s;
}

class Reader {
 public:
  Result<void> read(const PackFile& file) {
    file_ = &file;
    TRY_OK(check_utf8(file.bytes, file.name));
    try {
      return document(YAML::Load(file.bytes));
    } catch (const YAML::Exception& error) {
      const int line = std::max(error.mark.line, 0) + 1;
      return fault(file.name, static_cast<uint32_t>(line), fmt::format("not YAML: {}", error.msg));
    }
  }

  Imported done() {
    std::unordered_set<std::string> spoken;
    for (const Row& row : out_.rows) spoken.insert(row.label);
    size_t stray = 0;
    for (Row& answer : answers_) {
      const bool known = spoken.contains(answer.label);
      stray += known ? 0 : 1;
      if (known) out_.rows.push_back(std::move(answer));
    }
    note(stray, "responses of no intent (utter_<intent>)");
    note(filled_, "responses with slots, which an import does not bring");
    note(others_, "synonyms, regexes and lookup tables, for which a pack has slots (docs/pack.md)");
    return std::move(out_);
  }

 private:
  void note(size_t count, std::string_view what) {
    if (count > 0) out_.notes.push_back(fmt::format("left out: {} ({})", what, count));
  }

  tl::unexpected<Error> wrong(const YAML::Node& node, std::string_view why) const {
    return fault(file_->name, line_of(node), why);
  }

  Result<void> document(const YAML::Node& root) {
    if (!root.IsMap()) return wrong(root, "not a Rasa file; it begins with nlu: or responses:");
    if (const YAML::Node nlu = root["nlu"]; nlu.IsDefined() && !nlu.IsNull()) {
      if (!nlu.IsSequence()) return wrong(nlu, "nlu: must be a list; write - intent: name");
      for (const YAML::Node& entry : nlu) TRY_OK(intent(entry));
    }
    if (const YAML::Node responses = root["responses"]; responses.IsDefined() && !responses.IsNull()) {
      if (!responses.IsMap()) return wrong(responses, "responses: must be a table; write utter_name: - text: …");
      for (const auto& entry : responses) TRY_OK(response(entry.first, entry.second));
    }
    return {};
  }

  Result<void> intent(const YAML::Node& entry) {
    if (!entry.IsMap()) return wrong(entry, "an entry of nlu: must be a table; write - intent: name");
    const YAML::Node name = entry["intent"], examples = entry["examples"];
    if (!name.IsDefined()) {
      ++others_;
      return {};
    }
    if (!name.IsScalar() || name.Scalar().empty()) return wrong(name, "intent: must be a name");
    if (!examples.IsDefined()) return wrong(entry, "an intent without examples:; write examples: | and - lines");
    if (examples.IsScalar()) return lines(name.Scalar(), examples);
    if (!examples.IsSequence()) return wrong(examples, "examples: must be - lines or a list");
    for (const YAML::Node& one : examples) {
      const YAML::Node text = one.IsMap() ? one["text"] : one;
      if (!text.IsDefined() || !text.IsScalar()) return wrong(one, "an example without text");
      add(name.Scalar(), trimmed(text.Scalar()), line_of(one));
    }
    return {};
  }

  Result<void> lines(const std::string& label, const YAML::Node& examples) {
    std::string_view block = examples.Scalar();
    for (uint32_t line = line_of(examples) + 1; !block.empty(); ++line) {
      const size_t end = std::min(block.find('\n'), block.size());
      std::string_view text = trimmed(block.substr(0, end));
      if (!text.empty() && !text.starts_with("-")) {
        return fault(file_->name, line, fmt::format("an example begins with '- ', not with '{}'", text.substr(0, 20)));
      }
      if (!text.empty()) text.remove_prefix(1);
      add(label, trimmed(text), line);
      block.remove_prefix(std::min(end + 1, block.size()));
    }
    return {};
  }

  void add(const std::string& label, std::string_view text, uint32_t line) {
    std::string said = without_annotations(text);
    if (!said.empty()) out_.rows.push_back({std::move(said), label, "", "", line});
  }

  Result<void> response(const YAML::Node& key, const YAML::Node& variants) {
    if (!key.IsScalar() || !key.Scalar().starts_with(kUtter)) return {};
    if (!variants.IsSequence()) return wrong(key, "a response must be a list; write - text: …");
    const std::string label = key.Scalar().substr(kUtter.size());
    for (const YAML::Node& variant : variants) {
      const YAML::Node text = variant.IsMap() ? variant["text"] : YAML::Node();
      if (!text.IsDefined() || !text.IsScalar() || text.Scalar().empty()) continue;
      const bool slots = text.Scalar().find('{') != std::string::npos;
      filled_ += slots ? 1 : 0;
      if (!slots) answers_.push_back({"", label, text.Scalar(), "", line_of(variant)});
    }
    return {};
  }

  const PackFile* file_ = nullptr;
  Imported out_;
  std::vector<Row> answers_;
  size_t filled_ = 0, others_ = 0;
};

}  // namespace

Result<Imported> import_rasa(const std::vector<PackFile>& files) {
  Reader reader;
  for (const PackFile& file : files) TRY_OK(reader.read(file));
  return reader.done();
}

}  // namespace hengshi::train
