#include "rules/file.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/toml_words.h"

namespace hengshi::rules {

namespace {

class RuleReader {
 public:
  RuleReader(const std::string& file_name, const toml::table& table) : file_(file_name), table_(table) {}

  Result<RuleText> read() {
    TRY_OK(read_name());
    for (const auto& [key, value] : table_) TRY_OK(read_key(key, value));
    TRY_OK(check());
    return std::move(rule_);
  }

 private:
  tl::unexpected<Error> wrong(uint32_t line, std::string_view reason) const {
    return fault(file_, line, rule_.name.text, reason);
  }

  // First, because every other error names the rule.
  Result<void> read_name() {
    const toml::node* name = table_.get("name");
    if (name == nullptr) return wrong(table_.source().begin.line, "a rule needs a name");
    TRY(rule_.name, text(*name, "name"));
    return {};
  }

  Result<void> read_key(const toml::key& key, const toml::node& value) {
    const std::string_view name = key.str();
    if (name == "name") return {};
    if (name == "priority") return read_priority(value);
    if (name == "language") return read_language(value);
    if (name == "answer") return read_answer(value);
    if (name == "patterns") return texts(value, name, rule_.patterns);
    if (name == "examples") return texts(value, name, rule_.examples);
    if (name == "not") return texts(value, name, rule_.counter_examples);
    if (name == "route") {
      TRY(rule_.route, text(value, name));
      return {};
    }
    return wrong(key.source().begin.line,
                 fmt::format("unknown key '{}'; a rule has name, priority, language, patterns, answer, route, examples "
                             "and not",
                             name));
  }

  Result<Located> text(const toml::node& node, std::string_view key) const {
    const uint32_t line = node.source().begin.line;
    const auto value = node.value_exact<std::string>();
    if (!value) return wrong(line, fmt::format("{} must be text", key));
    if (value->find_first_not_of(" \t\r\n") == std::string::npos) return wrong(line, fmt::format("{} is empty", key));
    return Located{*value, line};
  }

  Result<void> texts(const toml::node& node, std::string_view key, std::vector<Located>& into) const {
    const toml::array* array = node.as_array();
    if (array == nullptr) return wrong(node.source().begin.line, fmt::format("{} must be a list of texts", key));
    for (const toml::node& element : *array) {
      TRY(auto one, text(element, key));
      into.push_back(std::move(one));
    }
    return {};
  }

  Result<void> read_priority(const toml::node& node) {
    const auto value = node.value_exact<int64_t>();
    if (!value) return wrong(node.source().begin.line, "priority must be a whole number");
    rule_.priority = *value;
    return {};
  }

  Result<void> read_language(const toml::node& node) {
    TRY(const auto value, text(node, "language"));
    if (value.text == "any") return {};
    rule_.language = text::language_named(value.text);
    if (!rule_.language) return wrong(value.line, "language must be \"zh\", \"en\", \"other\" or \"any\"");
    return {};
  }

  Result<void> read_answer(const toml::node& node) {
    const toml::table* by_language = node.as_table();
    if (by_language == nullptr) {
      TRY(const auto one, text(node, "answer"));
      rule_.answers.fill(one);
      return {};
    }
    answers_by_language_ = true;
    for (const auto& [key, value] : *by_language) {
      const auto language = text::language_named(key.str());
      const uint32_t line = key.source().begin.line;
      if (!language) return wrong(line, fmt::format("answer.{}: a language is zh, en or other", key.str()));
      TRY(rule_.answers[static_cast<size_t>(*language)], text(value, fmt::format("answer.{}", key.str())));
    }
    return {};
  }

  Result<void> check() const {
    const uint32_t line = rule_.name.line;
    const bool answers =
        std::any_of(rule_.answers.begin(), rule_.answers.end(), [](const auto& a) { return a.has_value(); });
    const bool routes = !rule_.route.text.empty();
    if (rule_.patterns.empty()) return wrong(line, "no patterns");
    if (!answers && !routes) return wrong(line, "neither an answer nor a route");
    if (answers && routes) return wrong(rule_.route.line, "an answer and a route: a rule has one of them");
    if (!answers_by_language_) return {};
    for (const text::Language language : text::kLanguages) {
      const std::string_view name = text::language_name(language);
      const auto& answer = rule_.answers[static_cast<size_t>(language)];
      if (answer && !rule_.takes(language)) {
        return wrong(answer->line, fmt::format("answer.{} is never given: the rule takes another language", name));
      }
      if (!answer && rule_.language == language) return wrong(line, fmt::format("no answer.{}", name));
    }
    return {};
  }

  const std::string& file_;
  const toml::table& table_;
  RuleText rule_;
  bool answers_by_language_ = false;
};

Result<void> check_names(const std::vector<RuleText>& rules, const std::string& file_name) {
  std::unordered_map<std::string_view, uint32_t> lines;
  for (const RuleText& rule : rules) {
    const auto [earlier, is_new] = lines.emplace(rule.name.text, rule.name.line);
    if (!is_new) {
      return fault(file_name, rule.name.line, rule.name.text,
                   fmt::format("this name is taken by the rule on line {}", earlier->second));
    }
  }
  return {};
}

Result<std::vector<RuleText>> read_document(const toml::table& document, const std::string& file_name) {
  std::vector<RuleText> out;
  for (const auto& [key, value] : document) {
    const uint32_t line = key.source().begin.line;
    if (key.str() != "rule") {
      return fault(file_name, line, {},
                   fmt::format("unknown key '{}'; the file holds [[rule]] entries only", key.str()));
    }
    if (!value.is_array_of_tables()) return fault(file_name, line, {}, "a rule is written as [[rule]]");
    for (const toml::node& element : *value.as_array()) {
      TRY(auto rule, RuleReader(file_name, *element.as_table()).read());
      out.push_back(std::move(rule));
    }
  }
  TRY_OK(check_names(out, file_name));
  return out;
}

}  // namespace

tl::unexpected<Error> fault(const std::string& file_name, uint32_t line, std::string_view rule,
                            std::string_view reason) {
  const std::string who = rule.empty() ? "" : fmt::format("rule \"{}\": ", rule);
  return fail(ErrorCode::kInvalidRequest, fmt::format("{}:{}: {}{}", file_name, line, who, reason), file_name);
}

Result<std::vector<RuleText>> read_rules(std::string_view toml, const std::string& file_name) {
  try {
    return read_document(toml::parse(toml, file_name), file_name);
  } catch (const toml::parse_error& error) {
    const uint32_t line = error.source().begin.line;
    return fault(file_name, line, {}, toml_words(error.description(), toml, line));
  }
}

}  // namespace hengshi::rules
