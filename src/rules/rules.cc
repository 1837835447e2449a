#include "rules/rules.h"

#include <fmt/format.h>
#include <re2/re2.h>
#include <re2/set.h>

#include <algorithm>
#include <array>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <utility>

#include "base/digest.h"
#include "rules/file.h"
#include "text/slots.h"

namespace hengshi::rules {

namespace {

constexpr int64_t kSetMemory = int64_t{32} << 20;  // For the automaton of all patterns; it grows only as it is used.
constexpr int kMaxGroups = 32;

RE2::Options pattern_options() {
  RE2::Options options;
  options.set_case_sensitive(false);
  options.set_log_errors(false);
  return options;
}

re2::StringPiece piece(std::string_view text) { return re2::StringPiece(text.data(), text.size()); }

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

struct Rule {
  std::string name;
  int64_t priority = 0;
  std::array<std::optional<text::Template>, kLanguages> answers;
  std::string route;
};

class Pattern {
 public:
  Pattern(const std::string& source, size_t rule) : rule_(rule), regex_(source, pattern_options()) {
    if (!regex_.ok()) return;
    groups_ = regex_.NumberOfCapturingGroups();
    for (const auto& [at, name] : regex_.CapturingGroupNames()) slots_.emplace_back(at, name);
  }

  const RE2& regex() const { return regex_; }
  size_t rule() const { return rule_; }
  int groups() const { return groups_; }

  // The slots of a match; none when it does not match. A group that took nothing is no slot.
  std::optional<text::Slots> match(std::string_view question) const {
    std::array<re2::StringPiece, kMaxGroups + 1> groups;
    if (!regex_.Match(piece(question), 0, question.size(), RE2::UNANCHORED, groups.data(), groups_ + 1))
      return std::nullopt;
    text::Slots out;
    for (const auto& [at, name] : slots_) {
      const re2::StringPiece& found = groups[static_cast<size_t>(at)];
      if (!found.empty()) out.emplace(name, std::string(found.data(), found.size()));
    }
    return out;
  }

  text::Slots every_slot() const {
    text::Slots out;
    for (const auto& [at, name] : slots_) out.emplace(name, "x");
    return out;
  }

 private:
  size_t rule_;
  RE2 regex_;
  int groups_ = 0;
  std::vector<std::pair<int, std::string>> slots_;
};

// The patterns that one language asks, in the order of their rules: one pass over a question finds which match.
class PatternSet {
 public:
  void add(const Pattern& pattern) { patterns_.push_back(&pattern); }

  bool compile() {
    RE2::Options options = pattern_options();
    options.set_max_mem(kSetMemory);
    set_ = std::make_unique<RE2::Set>(options, RE2::UNANCHORED);
    for (const Pattern* pattern : patterns_) {
      if (set_->Add(pattern->regex().pattern(), nullptr) < 0) return false;
    }
    return set_->Compile();
  }

  // Indexes of patterns to try.
  std::vector<int> candidates(std::string_view question) const {
    std::vector<int> out;
    RE2::Set::ErrorInfo error{};
    if (set_->Match(piece(question), &out, &error) || error.kind == RE2::Set::kNoError) return out;
    out.resize(patterns_.size());  // The automaton ran out of memory: try them all.
    std::iota(out.begin(), out.end(), 0);
    return out;
  }

  const Pattern& at(int index) const { return *patterns_[static_cast<size_t>(index)]; }
  bool empty() const { return patterns_.empty(); }

 private:
  std::vector<const Pattern*> patterns_;
  std::unique_ptr<RE2::Set> set_;
};

class CompiledRules final : public RuleSet {
 public:
  CompiledRules(std::string file_name, std::string version)
      : file_(std::move(file_name)), version_(std::move(version)) {}

  Result<void> compile(std::vector<RuleText> texts) {
    std::stable_sort(texts.begin(), texts.end(),
                     [](const RuleText& a, const RuleText& b) { return a.priority > b.priority; });
    for (const RuleText& text : texts) TRY_OK(add(text));
    for (PatternSet& set : sets_) {
      if (!set.compile()) {
        return fail(ErrorCode::kInvalidRequest, file_ + ": the patterns together are too large", file_);
      }
    }
    for (const RuleText& text : texts) TRY_OK(run_examples(text));
    return {};
  }

  std::optional<Match> match(std::string_view question, text::Language language) const override {
    const PatternSet& set = sets_[static_cast<size_t>(language)];
    const std::string_view asked = trimmed(question);
    if (set.empty() || asked.empty()) return std::nullopt;
    const std::string normal = text::normalise(asked);
    // Of one rule, the words as asked come first: their slots keep case and width.
    struct Candidate {
      size_t rule;
      bool normalised;
      int pattern;
      auto operator<=>(const Candidate&) const = default;
    };
    std::vector<Candidate> found;
    for (const int i : set.candidates(asked)) found.push_back({set.at(i).rule(), false, i});
    if (normal != asked) {
      for (const int i : set.candidates(normal)) found.push_back({set.at(i).rule(), true, i});
    }
    std::sort(found.begin(), found.end());
    for (const Candidate& candidate : found) {
      auto match = respond(set.at(candidate.pattern), candidate.normalised ? normal : asked, language);
      if (match) return match;
    }
    return std::nullopt;
  }

  size_t size() const override { return rules_.size(); }
  const std::string& version() const override { return version_; }

  std::vector<std::string> routes() const override {
    std::vector<std::string> out;
    for (const Rule& rule : rules_) {
      if (!rule.route.empty()) out.push_back(rule.route);
    }
    return out;
  }

 private:
  std::optional<Match> respond(const Pattern& pattern, std::string_view question, text::Language language) const {
    const Rule& rule = rules_[pattern.rule()];
    const auto slots = pattern.match(question);
    if (!slots) return std::nullopt;
    if (!rule.route.empty()) return Match{rule.name, {}, rule.route};
    const auto& answer = rule.answers[static_cast<size_t>(language)];
    auto text = answer ? answer->fill(*slots) : std::nullopt;
    if (!text) return std::nullopt;  // A slot without a value: another pattern may have it.
    return Match{rule.name, *std::move(text), {}};
  }

  Result<void> add(const RuleText& text) {
    Rule rule{text.name.text, text.priority, {}, text.route.text};
    for (size_t i = 0; i < kLanguages; ++i) {
      const auto& source = text.answers[i];
      if (!source) continue;
      auto parsed = text::Template::parse(source->text);
      if (!parsed) return wrong(text, source->line, "answer: " + parsed.error().message);
      rule.answers[i] = *std::move(parsed);
    }
    rules_.push_back(std::move(rule));
    const size_t first = patterns_.size();
    for (const Located& pattern : text.patterns) TRY_OK(add_pattern(text, pattern));
    return check_slots(text, first);
  }

  Result<void> add_pattern(const RuleText& text, const Located& source) {
    const Pattern& pattern = patterns_.emplace_back(source.text, rules_.size() - 1);
    if (!pattern.regex().ok()) {
      return wrong(text, source.line, fmt::format("bad pattern '{}': {}", source.text, pattern.regex().error()));
    }
    if (pattern.groups() > kMaxGroups) {
      return wrong(text, source.line, fmt::format("pattern '{}' has more than {} groups", source.text, kMaxGroups));
    }
    for (size_t i = 0; i < kLanguages; ++i) {
      const bool useful = !text.route.text.empty() || text.answers[i].has_value();
      if (useful && text.takes(static_cast<text::Language>(i))) sets_[i].add(pattern);
    }
    return {};
  }

  // Every slot of an answer is a named group of each of the rule's patterns, or has a default.
  Result<void> check_slots(const RuleText& text, size_t first_pattern) const {
    for (size_t i = 0; i < kLanguages; ++i) {
      const auto& answer = rules_.back().answers[i];
      const auto& source = text.answers[i];
      if (!answer || !source) continue;
      text::Slots known;
      for (size_t p = first_pattern; p < patterns_.size(); ++p) known.merge(patterns_[p].every_slot());
      for (const std::string& name : answer->names()) {
        if (known.contains(name)) continue;
        return wrong(text, source->line, fmt::format("answer: no pattern has a group named '{}'", name));
      }
      for (size_t p = first_pattern; p < patterns_.size(); ++p) {
        if (answer->fill(patterns_[p].every_slot())) continue;
        return wrong(text, text.patterns[p - first_pattern].line,
                     fmt::format("pattern '{}' lacks a group that the answer needs; give the slot a default: "
                                 "{{name|default}}",
                                 text.patterns[p - first_pattern].text));
      }
    }
    return {};
  }

  Result<void> run_examples(const RuleText& text) const {
    for (const Located& example : text.examples) {
      const auto found = match(example.text, text::detect_language(example.text));
      if (found && found->rule == text.name.text) continue;
      const std::string instead = found ? fmt::format("is taken by rule \"{}\"", found->rule) : "matches no rule";
      return wrong(text, example.line, fmt::format("example '{}' {}", example.text, instead));
    }
    for (const Located& example : text.counter_examples) {
      const auto found = match(example.text, text::detect_language(example.text));
      if (!found || found->rule != text.name.text) continue;
      return wrong(text, example.line, fmt::format("'{}' must not match, but does", example.text));
    }
    return {};
  }

  tl::unexpected<Error> wrong(const RuleText& text, uint32_t line, std::string_view reason) const {
    return fault(file_, line, text.name.text, reason);
  }

  std::string file_, version_;
  std::vector<Rule> rules_;  // Best first.
  std::deque<Pattern> patterns_;
  std::array<PatternSet, kLanguages> sets_;
};

}  // namespace

Result<std::shared_ptr<const RuleSet>> RuleSet::parse(std::string_view toml, const std::string& file_name) {
  TRY(auto texts, read_rules(toml, file_name));
  auto out = std::make_shared<CompiledRules>(file_name, sha256_hex(toml).substr(0, 12));
  TRY_OK(out->compile(std::move(texts)));
  return out;
}

Result<std::shared_ptr<const RuleSet>> RuleSet::load(const std::string& path) {
  std::error_code ignored;
  std::ifstream in(path, std::ios::binary);
  if (!in || !std::filesystem::is_regular_file(path, ignored)) {
    return fail(ErrorCode::kInvalidRequest, "cannot read the rules file " + path, path);
  }
  const std::string toml((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  return parse(toml, path);
}

}  // namespace hengshi::rules
