#include "train/pack_lint.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <memory>
#include <set>
#include <tuple>
#include <unordered_map>

#include "base/counted.h"
#include "base/log.h"
#include "rules/rules.h"
#include "text/shape.h"
#include "text/slots.h"
#include "train/embed.h"
#include "train/pack_check.h"
#include "train/pack_lint_parts.h"

namespace hengshi::train {

namespace {

constexpr size_t kDozen = 12;
constexpr size_t kMany = 100;  // phrasings; below, no intent has too many
constexpr size_t kTimesMedian = 10;

struct KindText {
  std::string_view name, told;
};
constexpr std::array<KindText, kLintKinds> kTexts = {{
    {"fault", "what keeps the pack from being trained"},
    {"bad_rule", "what keeps rules.toml from being loaded; the first is told"},
    {"wrong_label", "phrasings that likely stand in the wrong intent"},
    {"leak", "negatives that read like an intent, or the reverse"},
    {"near_duplicate", "phrasings that are nearly the same in two places"},
    {"merge", "pairs of intents that are taken for each other: make them one, or tell them apart by phrasings"},
    {"few_phrasings", "intents with fewer than a dozen phrasings"},
    {"unbalanced", "intents with far more phrasings than the others"},
    {"unreachable", "phrasings of a shape that is never answered (docs/pack.md)"},
    {"duplicate", "phrasings that stand twice in one intent"},
    {"unused_slot", "slots that no answer of their intent uses"},
}};

void check_counts(const LintRows& rows, std::vector<Finding>& out) {
  const std::string_view language = text::language_name(rows.language);
  std::vector<size_t> counts(rows.intents.size() + 1);
  for (const LintRow& row : rows.rows) ++counts[row.label];
  counts.pop_back();
  std::vector<size_t> sorted = counts;
  std::sort(sorted.begin(), sorted.end());
  const size_t median = sorted.empty() ? 0 : sorted[sorted.size() / 2];
  for (size_t i = 0; i < counts.size(); ++i) {
    const Located& name = rows.intents[i]->name;
    if (counts[i] < kDozen) {
      out.push_back({LintKind::kFewPhrasings, static_cast<double>(kDozen - counts[i]), name.file, name.line,
                     fmt::format("intent {} has {} in {}", name.text, counted(counts[i], "phrasing"), language)});
    } else if (counts[i] >= kMany && counts[i] > kTimesMedian * median) {
      out.push_back({LintKind::kUnbalanced, static_cast<double>(counts[i]), name.file, name.line,
                     fmt::format("intent {} has {} phrasings in {}, most have about {}", name.text, counts[i], language,
                                 median)});
    }
  }
}

void check_slots(const Pack& pack, std::vector<Finding>& out) {
  for (const PackIntent& intent : pack.intents) {
    std::set<std::string> used;
    for (const auto& [language, side] : intent.sides) {
      for (const Located& answer : side.answers) {
        const auto parsed = text::Template::parse(answer.text);
        if (parsed) used.insert(parsed->names().begin(), parsed->names().end());
      }
    }
    for (const auto& [name, slot] : intent.slots) {
      if (used.contains(name)) continue;
      out.push_back({LintKind::kUnusedSlot, 0, slot.name.file, slot.name.line,
                     fmt::format("no answer of intent {} uses {{{}}}", intent.name.text, name)});
    }
  }
}

// Training leaves a pack's rules alone; the server loads them when [rules] file names them.
void check_rules(const Pack& pack, std::vector<Finding>& out) {
  const std::string file = pack.where + "/rules.toml";
  std::error_code error;
  if (!std::filesystem::exists(file, error)) return;
  const auto rules = rules::RuleSet::load(file);
  if (rules) return;
  std::string_view why = rules.error().message;  // "file:line: reason", or without a line
  uint32_t line = 1;
  if (why.starts_with(file + ":")) {
    why.remove_prefix(file.size() + 1);
    const auto [end, bad] = std::from_chars(why.data(), why.data() + why.size(), line);
    if (bad == std::errc()) why.remove_prefix(static_cast<size_t>(end - why.data()) + 1);
    why.remove_prefix(std::min(why.find_first_not_of(' '), why.size()));
  }
  out.push_back({LintKind::kBadRule, 0, file, line, std::string(why)});
}

// The worst of each kind, `limit` of them.
void cut(std::vector<Finding>& findings, size_t limit, LintReport& out) {
  std::sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    return std::tie(a.kind, b.score, a.file, a.line, a.what) < std::tie(b.kind, a.score, b.file, b.line, b.what);
  });
  for (Finding& one : findings) {
    if (out.counts.empty() || out.counts.back().first != one.kind) out.counts.emplace_back(one.kind, 0);
    if (++out.counts.back().second <= limit) out.findings.push_back(std::move(one));
  }
}

void append_number(std::string& out, std::string_view key, double value) {
  out += fmt::format(", \"{}\": {:g}", key, value);
}

}  // namespace

std::string_view lint_kind_name(LintKind kind) { return kTexts[static_cast<size_t>(kind)].name; }

std::string LintRows::named(uint32_t label) const {
  return label < intents.size() ? fmt::format("intent {}", intents[label]->name.text) : "the negatives";
}

LintRows lint_rows(const Pack& pack, text::Language language) {
  LintRows out;
  out.language = language;
  out.intents = intents_in(pack, language);
  const auto add = [&](const std::vector<Located>& from, size_t label) {
    for (const Located& one : from) out.rows.push_back({&one, text::normalise(one.text), static_cast<uint32_t>(label)});
  };
  for (size_t i = 0; i < out.intents.size(); ++i) add(out.intents[i]->sides.at(language).phrasings, i);
  if (const auto own = pack.negatives.find(language); own != pack.negatives.end()) add(own->second, out.intents.size());
  return out;
}

void check_rows(const LintRows& rows, std::vector<Finding>& out) {
  std::unordered_map<std::string, const Located*> seen;
  for (const LintRow& row : rows.rows) {
    const auto [earlier, is_new] = seen.emplace(fmt::format("{} {}", row.label, row.normalised), row.where);
    if (!is_new) {
      out.push_back({LintKind::kDuplicate, 0, row.where->file, row.where->line,
                     fmt::format("\"{}\" stands in {} already, in {}:{}", row.where->text, rows.named(row.label),
                                 earlier->second->file, earlier->second->line)});
    }
    const std::string_view shape = row.label < rows.intents.size() ? text::unfit_shape(row.normalised) : "";
    if (shape.empty()) continue;
    out.push_back({LintKind::kUnreachable, 0, row.where->file, row.where->line,
                   fmt::format("\"{}\" of {} is never answered: {}", row.where->text, rows.named(row.label), shape)});
  }
  check_counts(rows, out);
}

LintReport lint_pack(const Pack& pack, const LintOptions& options, const std::vector<const nn::Encoder*>& encoders) {
  const auto start = std::chrono::steady_clock::now();
  LintReport out;
  out.pack = pack.where;
  std::vector<Finding> findings;
  for (PackFault& one : find_faults(pack)) {
    findings.push_back({LintKind::kFault, 0, std::move(one.file), one.line, std::move(one.why)});
  }
  check_rules(pack, findings);
  check_slots(pack, findings);
  for (size_t i = 0; i < pack.languages.size(); ++i) {
    const LintRows rows = lint_rows(pack, pack.languages[i]);
    out.rows += rows.rows.size();
    check_rows(rows, findings);
    check_near_duplicates(rows, findings);
    check_labels(rows, encoders[i], options, findings, out.notes);
  }
  cut(findings, options.limit, out);
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return out;
}

Result<LintReport> lint_pack(const LintOptions& options) {
  TRY(const Pack pack, read_unchecked_pack(options.pack));
  std::vector<std::unique_ptr<const nn::Encoder>> owned;
  std::vector<const nn::Encoder*> encoders;
  std::vector<std::string> notes;
  for (const text::Language language : pack.languages) {
    auto encoder = load_encoder("", options.models, language);
    if (!encoder) {
      notes.push_back(
          fmt::format("{}: goes on with n-grams alone: {}", text::language_name(language), encoder.error().message));
    }
    owned.push_back(encoder ? std::move(*encoder) : nullptr);
    encoders.push_back(owned.back().get());
  }
  LintReport out = lint_pack(pack, options, encoders);
  out.notes.insert(out.notes.begin(), notes.begin(), notes.end());
  return out;
}

std::string LintReport::table() const {
  std::string out = fmt::format("{}: {}, {:.1f} s\n", pack, counted(rows, "row"), seconds);
  for (const std::string& note : notes) out += note + "\n";
  size_t at = 0;
  for (const auto& [kind, count] : counts) {
    const auto same = [&](const Finding& one) { return one.kind == kind; };
    const auto shown = static_cast<size_t>(std::count_if(findings.begin(), findings.end(), same));
    out += fmt::format("\n{} ({}{}): {}\n", lint_kind_name(kind), count,
                       shown < count ? fmt::format(", {} shown", shown) : "", kTexts[static_cast<size_t>(kind)].told);
    for (size_t i = 0; i < shown; ++i, ++at) {
      out += fmt::format("  {}:{}  {}\n", findings[at].file, findings[at].line, findings[at].what);
    }
  }
  return out + (counts.empty() ? "\nnothing found" : "");
}

std::string LintReport::json() const {
  std::string out = "{\"pack\": ";
  append_json_string(out, pack);
  append_number(out, "rows", static_cast<double>(rows));
  append_number(out, "seconds", seconds);
  out += ", \"counts\": {";
  for (const auto& [kind, count] : counts) {
    out += fmt::format("{}\"{}\": {}", kind == counts.front().first ? "" : ", ", lint_kind_name(kind), count);
  }
  out += "}, \"findings\": [";
  for (size_t i = 0; i < findings.size(); ++i) {
    out += fmt::format("{}{{\"kind\": \"{}\", \"file\": ", i == 0 ? "" : ", ", lint_kind_name(findings[i].kind));
    append_json_string(out, findings[i].file);
    append_number(out, "line", findings[i].line);
    append_number(out, "score", findings[i].score);
    out += ", \"what\": ";
    append_json_string(out, findings[i].what);
    out += '}';
  }
  out += "], \"notes\": [";
  for (size_t i = 0; i < notes.size(); ++i) {
    if (i > 0) out += ", ";
    append_json_string(out, notes[i]);
  }
  return out + "]}";
}

}  // namespace hengshi::train
