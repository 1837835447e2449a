#include "train/pack_check.h"

#include <fmt/format.h>

#include <unordered_map>
#include <utility>

#include "text/slots.h"

namespace hengshi::train {

namespace {

std::string at(const Located& where) { return fmt::format("{}:{}", where.file, where.line); }

std::string named(std::string_view owner) { return owner.empty() ? "a negative" : fmt::format("intent {}", owner); }

class Check {
 public:
  explicit Check(const Pack& pack) : pack_(pack) {}

  std::vector<PackFault> run() {
    names();
    for (const PackIntent& intent : pack_.intents) answers(intent);
    for (const text::Language language : pack_.languages) this->language(language);
    return std::move(found_);
  }

 private:
  void add(std::string_view kind, const Located& where, std::string why) {
    found_.push_back({kind, where.file, where.line, std::move(why)});
  }

  void names() {
    std::unordered_map<std::string_view, const Located*> known;
    for (const PackIntent& intent : pack_.intents) {
      const auto [earlier, is_new] = known.emplace(intent.name.text, &intent.name);
      if (is_new) continue;
      add("name", intent.name,
          fmt::format("intent {} is already in {}; give one of them another name", intent.name.text,
                      at(*earlier->second)));
    }
  }

  void answers(const PackIntent& intent) {
    for (const auto& [name, slot] : intent.slots) {
      if (const auto made = light::Slot::make(slot.source); !made) {
        add("slot", slot.name, fmt::format("slot {}: {}", name, made.error().message));
      }
    }
    for (const auto& [language, side] : intent.sides) {
      for (const Located& answer : side.answers) check_template(intent, answer);
    }
  }

  void check_template(const PackIntent& intent, const Located& answer) {
    const auto parsed = text::Template::parse(answer.text);
    if (!parsed) return add("answer", answer, fmt::format("answer: {}", parsed.error().message));
    for (const std::string& name : parsed->names()) {
      if (intent.slots.contains(name)) continue;
      add("answer", answer,
          fmt::format("answer uses {{{}}}, which nothing fills; add [intent.slots.{}] with a pattern, kind or values",
                      name, name));
    }
  }

  void side(const PackIntent& intent, text::Language language, const Side& side) {
    const auto missing = [&](const char* what) {
      const std::string_view name = text::language_name(language);
      add("missing", intent.name,
          fmt::format("intent {} has no {} in {}; add them under [intent.{}], or to its JSONL rows", intent.name.text,
                      what, name, name));
    };
    if (side.phrasings.empty()) missing("phrasings");
    if (side.answers.empty()) missing("answers");
  }

  void language(text::Language language) {
    const std::string_view name = text::language_name(language);
    const Located whole{"", pack_.where, 1};
    places_.clear();
    size_t intents = 0;
    for (const PackIntent& intent : pack_.intents) {
      const auto spoken = intent.sides.find(language);
      if (spoken == intent.sides.end()) continue;
      ++intents;
      side(intent, language, spoken->second);
      for (const Located& phrasing : spoken->second.phrasings) place(phrasing, intent.name.text);
    }
    if (intents == 0) {
      add("classes", whole, fmt::format("no intents in {}; add some, or take {} out of its languages", name, name));
    } else if (intents == 1) {
      add("classes", whole, fmt::format("one intent only in {}; a classifier needs two", name));
    }
    const auto negatives = pack_.negatives.find(language);
    if (negatives == pack_.negatives.end()) return;
    for (const Located& negative : negatives->second) place(negative, "");
  }

  // One normal form stands for one intent.
  void place(const Located& phrasing, std::string_view owner) {
    const auto [place, is_new] = places_.emplace(text::normalise(phrasing.text), std::pair(&phrasing, owner));
    const auto& [earlier, earlier_owner] = place->second;
    if (is_new || earlier_owner == owner) return;
    add("conflict", phrasing,
        fmt::format("\"{}\" stands for {} and, in {}, for {}; keep it in one of them", phrasing.text, named(owner),
                    at(*earlier), named(earlier_owner)));
  }

  const Pack& pack_;
  std::vector<PackFault> found_;
  std::unordered_map<std::string, std::pair<const Located*, std::string_view>> places_;
};

}  // namespace

std::vector<PackFault> find_faults(const Pack& pack) { return Check(pack).run(); }

Result<void> check_pack(const Pack& pack) {
  const std::vector<PackFault> faults = find_faults(pack);
  if (faults.empty()) return {};
  return fault(faults.front().file, faults.front().line, faults.front().why);
}

}  // namespace hengshi::train
