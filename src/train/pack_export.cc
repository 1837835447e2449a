#include "train/pack_export.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/counted.h"
#include "base/file.h"
#include "base/log.h"
#include "text/slots.h"
#include "train/csv.h"

namespace hengshi::train {

namespace {

tl::unexpected<Error> bad(const std::string& what, std::string_view why) {
  return fail(ErrorCode::kInvalidRequest, fmt::format("{}: {}", what, why), what);
}

// What an answer says without slots; nullopt when it uses one.
std::optional<std::string> plain(const std::string& answer) {
  const auto parsed = text::Template::parse(answer);
  return parsed && parsed->names().empty() ? parsed->fill({}) : std::nullopt;
}

struct Told {
  std::string source, plain;  // the template, and what it says
};

class Writer {
 public:
  Writer(const Pack& pack, std::optional<text::Language> only) : pack_(pack), only_(only) {}

  Exported jsonl() {
    for_each_row([&](const std::string& text, const std::string& label, const Told* answer, std::string_view lang) {
      std::string& out = out_.bytes;
      out += "{\"text\": ";
      append_json_string(out, text);
      out += ", \"label\": ";
      append_json_string(out, label);
      if (answer != nullptr) {
        out += ", \"answer\": ";
        append_json_string(out, answer->source);
      }
      out += fmt::format(", \"lang\": \"{}\"}}\n", lang);
    });
    return done();
  }

  Exported csv() {
    out_.bytes = "text,label,answer,lang\r\n";
    for_each_row([&](const std::string& text, const std::string& label, const Told* answer, std::string_view lang) {
      append_csv_field(out_.bytes, text);
      out_.bytes += ',';
      append_csv_field(out_.bytes, label);
      out_.bytes += ',';
      if (answer != nullptr) append_csv_field(out_.bytes, answer->plain);
      out_.bytes.append(",").append(lang).append("\r\n");
    });
    return done();
  }

  Exported rasa() {
    out_.bytes = "version: \"3.1\"\n\nnlu:\n";
    std::string responses;
    for (const PackIntent& intent : pack_.intents) {
      for (const auto& [language, side] : intent.sides) {
        if (!wanted(language)) continue;
        examples(intent.name.text, side.phrasings);
        const std::vector<Told> answers = carried(side);
        if (answers.empty()) continue;
        responses += fmt::format("  utter_{}:\n", intent.name.text);
        for (const Told& answer : answers) {
          responses += "  - text: ";
          append_json_string(responses, answer.plain);
          responses += '\n';
        }
      }
    }
    for (const auto& [language, texts] : pack_.negatives) {
      if (wanted(language)) examples("out_of_scope", texts);
    }
    if (!responses.empty()) out_.bytes += "\nresponses:\n" + responses;
    return done();
  }

 private:
  bool wanted(text::Language language) const { return !only_ || *only_ == language; }

  // The answers that can be told without slots; the others are counted.
  std::vector<Told> carried(const Side& side) {
    std::vector<Told> out;
    for (const Located& answer : side.answers) {
      if (auto told = plain(answer.text)) {
        out.push_back({answer.text, std::move(*told)});
      } else {
        ++slotted_;
      }
    }
    return out;
  }

  // A row per phrasing; answers ride on the first rows, and on repeats of them where there are more.
  template <typename Emit>
  void for_each_row(const Emit& emit) {
    for (const PackIntent& intent : pack_.intents) {
      for (const auto& [language, side] : intent.sides) {
        if (!wanted(language) || side.phrasings.empty()) continue;
        const std::vector<Told> answers = carried(side);
        const size_t rows = std::max(side.phrasings.size(), answers.size());
        for (size_t i = 0; i < rows; ++i) {
          emit(side.phrasings[i % side.phrasings.size()].text, intent.name.text,
               i < answers.size() ? &answers[i] : nullptr, text::language_name(language));
          ++out_.rows;
        }
      }
    }
    for (const auto& [language, texts] : pack_.negatives) {
      for (const Located& one : texts) {
        if (!wanted(language)) continue;
        emit(one.text, std::string(kOutOfScope), nullptr, text::language_name(language));
        ++out_.rows;
      }
    }
  }

  void examples(std::string_view intent, const std::vector<Located>& texts) {
    out_.bytes += fmt::format("- intent: {}\n  examples: |\n", intent);
    for (const Located& one : texts) {
      std::string line = one.text;
      std::replace(line.begin(), line.end(), '\n', ' ');
      out_.bytes.append("    - ").append(line).append("\n");
      ++out_.rows;
    }
  }

  Exported done() {
    if (slotted_ > 0) {
      out_.notes.push_back(
          fmt::format("left out: answers that use slots, which the format does not carry ({})", slotted_));
    }
    return std::move(out_);
  }

  const Pack& pack_;
  std::optional<text::Language> only_;
  Exported out_;
  size_t slotted_ = 0;
};

Result<std::optional<text::Language>> language_of(const std::string& lang) {
  if (lang.empty()) return std::nullopt;
  if (const auto known = text::language_named(lang)) return known;
  return bad("--lang " + lang, fmt::format("is not known; it is {}", kLanguageNames));
}

}  // namespace

Result<Exported> exported(const Pack& pack, const std::string& format, std::optional<text::Language> language) {
  if (format == "jsonl") return Writer(pack, language).jsonl();
  if (format == "csv") return Writer(pack, language).csv();
  if (format != "rasa") return bad("--format " + format, "is not known; there are jsonl, csv and rasa");
  if (!language && pack.languages.size() > 1) {
    return bad(pack.where, "speaks several languages, and a Rasa file holds one; name it with --lang");
  }
  return Writer(pack, language).rasa();
}

Result<std::string> export_pack(const ExportOptions& options) {
  TRY(const auto language, language_of(options.lang));
  TRY(const Pack pack, read_unchecked_pack(options.pack));
  TRY(const Exported file, exported(pack, options.format, language));
  TRY_OK(write_whole(options.out, {file.bytes}));
  std::string told = fmt::format("{}: {}", options.out, counted(file.rows, "row"));
  for (const std::string& note : file.notes) told += fmt::format("\n  {}", note);
  return told;
}

}  // namespace hengshi::train
