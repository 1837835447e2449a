#include "train/pack_toml.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <optional>

#include "base/toml_words.h"
#include "train/rows.h"

namespace hengshi::train {

namespace {

bool is_name(std::string_view s) {
  const auto letter = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto rest = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '_'; };
  return !s.empty() && letter(s[0]) && std::all_of(s.begin(), s.end(), rest);
}

uint32_t line_of(const toml::node& node) { return node.source().begin.line; }
uint32_t line_of(const toml::key& key) { return key.source().begin.line; }

class Reader {
 public:
  Reader(const std::string& file, Pack& pack) : file_(file), pack_(pack) {}

  Result<void> pack(const toml::table& document) {
    for (const auto& [key, value] : document) {
      if (key.str() == "name") {
        TRY(const Located name, text(value, "name"));
        pack_.name = name.text;
      } else if (key.str() == "description") {
        TRY(const Located description, text(value, "description"));
        pack_.description = description.text;
      } else if (key.str() == "languages") {
        TRY_OK(languages(value));
      } else {
        return unknown(key, "pack.toml has name, description and languages");
      }
    }
    if (pack_.name.empty()) return fault(file_, 1, "no name; write name = \"my-pack\"");
    if (pack_.name.find_first_of("/\\") != std::string::npos || pack_.name.starts_with(".")) {
      return fault(file_, 1, "the name becomes a folder: it may not hold a slash or begin with a dot");
    }
    if (pack_.languages.empty()) return fault(file_, 1, "no languages; write languages = [\"zh\", \"en\"]");
    return {};
  }

  Result<void> intents(const toml::table& document) {
    for (const auto& [key, value] : document) {
      if (key.str() != "intent") return unknown(key, "the file holds [[intent]] entries only");
      if (!value.is_array_of_tables()) return fault(file_, line_of(key), "an intent is written as [[intent]]");
      for (const toml::node& element : *value.as_array()) TRY_OK(intent(*element.as_table()));
    }
    return {};
  }

  Result<void> negatives(const toml::table& document) {
    for (const auto& [key, value] : document) {
      TRY(const text::Language language, language_key(key, "a file of negatives has [zh] and [en]"));
      const toml::table* table = value.as_table();
      if (table == nullptr)
        return fault(file_, line_of(key), fmt::format("write [{}], then phrasings = […]", key.str()));
      for (const auto& [inner, list] : *table) {
        if (inner.str() != "phrasings") return unknown(inner, "negatives have phrasings only");
        TRY_OK(texts(list, "phrasings", pack_.negatives[language]));
      }
    }
    return {};
  }

 private:
  tl::unexpected<Error> unknown(const toml::key& key, std::string_view fix) const {
    return fault(file_, line_of(key), fmt::format("unknown key '{}'; {}", key.str(), fix));
  }

  Result<text::Language> language_key(const toml::key& key, std::string_view fix) const {
    const auto language = text::language_named(key.str());
    if (!language) return unknown(key, fix);
    if (std::find(pack_.languages.begin(), pack_.languages.end(), *language) == pack_.languages.end()) {
      return fault(file_, line_of(key),
                   fmt::format("'{}' is not among the languages of pack.toml; add it there", key.str()));
    }
    return *language;
  }

  Result<Located> text(const toml::node& node, std::string_view key) const {
    const auto value = node.value_exact<std::string>();
    if (!value) return fault(file_, line_of(node), fmt::format("{} must be text; put it in quotes", key));
    if (value->find_first_not_of(" \t\r\n") == std::string::npos) {
      return fault(file_, line_of(node), fmt::format("{} is empty; write it or take it out", key));
    }
    return Located{*value, file_, line_of(node)};
  }

  Result<void> texts(const toml::node& node, std::string_view key, std::vector<Located>& into) const {
    const toml::array* array = node.as_array();
    if (array == nullptr)
      return fault(file_, line_of(node), fmt::format("{} must be a list; write [\"…\", \"…\"]", key));
    for (const toml::node& element : *array) {
      TRY(Located one, text(element, fmt::format("one of the {}", key)));
      into.push_back(std::move(one));
    }
    return {};
  }

  Result<void> languages(const toml::node& node) {
    std::vector<Located> names;
    TRY_OK(texts(node, "languages", names));
    for (const Located& name : names) {
      const auto language = text::language_named(name.text);
      if (!language)
        return fault(file_, name.line, fmt::format("language '{}' is not known; it is {}", name.text, kLanguageNames));
      pack_.languages.push_back(*language);
    }
    return {};
  }

  Result<void> intent(const toml::table& table) {
    PackIntent out;
    const toml::node* name = table.get("name");
    if (name == nullptr) return fault(file_, line_of(table), "an intent needs a name; write name = \"wifi_connect\"");
    TRY(out.name, text(*name, "name"));
    if (!is_name(out.name.text) || out.name.text == kOutOfScope) {
      return fault(file_, out.name.line,
                   fmt::format("intent name '{}' must be [a-z][a-z0-9_]*, and not oos", out.name.text));
    }
    for (const auto& [key, value] : table) {
      if (key.str() == "name") continue;
      if (key.str() == "slots") {
        TRY_OK(slots(value, out));
        continue;
      }
      TRY(const text::Language language, language_key(key, "an intent has name, zh, en and slots"));
      TRY_OK(side(key, value, out.sides[language]));
    }
    pack_.intents.push_back(std::move(out));
    return {};
  }

  Result<void> side(const toml::key& language, const toml::node& node, Side& into) const {
    const toml::table* table = node.as_table();
    if (table == nullptr)
      return fault(file_, line_of(language), fmt::format("write it as [intent.{}]", language.str()));
    for (const auto& [key, value] : *table) {
      if (key.str() == "phrasings") {
        TRY_OK(texts(value, "phrasings", into.phrasings));
      } else if (key.str() == "answers") {
        TRY_OK(texts(value, "answers", into.answers));
      } else {
        return unknown(key, fmt::format("[intent.{}] has phrasings and answers", language.str()));
      }
    }
    return {};
  }

  Result<void> slots(const toml::node& node, PackIntent& into) const {
    const toml::table* table = node.as_table();
    if (table == nullptr) return fault(file_, line_of(node), "write a slot as [intent.slots.order_id]");
    for (const auto& [name, value] : *table) {
      const toml::table* slot = value.as_table();
      if (slot == nullptr || !is_name(name.str())) {
        return fault(file_, line_of(name),
                     fmt::format("slot '{}': write [intent.slots.a_name], then pattern, kind or values", name.str()));
      }
      TRY(PackSlot read, this->slot(name, *slot));
      into.slots.emplace(name.str(), std::move(read));
    }
    return {};
  }

  Result<PackSlot> slot(const toml::key& name, const toml::table& table) const {
    PackSlot out;
    for (const auto& [key, value] : table) {
      if (key.str() == "ask") {
        TRY_OK(asks(value, out));
        continue;
      }
      if (key.str() != "pattern" && key.str() != "kind" && key.str() != "values") {
        return unknown(key, "a slot has a pattern, a kind or values, and ask");
      }
      if (!out.name.text.empty()) {
        return fault(file_, line_of(key),
                     fmt::format("slot '{}' has more than one of pattern, kind and values; keep one", name.str()));
      }
      out.name = {std::string(name.str()), file_, line_of(key)};
      TRY_OK(source(key.str(), value, out.source));
    }
    if (out.name.text.empty()) {
      return fault(file_, line_of(name),
                   fmt::format("slot '{}' has no pattern, kind or values; write pattern = '\\d+'", name.str()));
    }
    return out;
  }

  Result<void> source(std::string_view key, const toml::node& node, light::SlotSource& into) const {
    if (key != "values") {
      TRY(Located written, text(node, key));
      (key == "kind" ? into.kind : into.pattern) = std::move(written.text);
      return {};
    }
    TRY_OK(node.is_table() ? named_values(*node.as_table(), into) : plain_values(node, into));
    if (into.values.empty()) return fault(file_, line_of(node), "values are none; write values = [\"red\", \"blue\"]");
    return {};
  }

  Result<void> plain_values(const toml::node& node, light::SlotSource& into) const {
    std::vector<Located> names;
    TRY_OK(texts(node, "values", names));
    for (Located& name : names) into.values[std::move(name.text)];
    return {};
  }

  // Values with what else they are called: "red" = ["crimson"].
  Result<void> named_values(const toml::table& table, light::SlotSource& into) const {
    for (const auto& [value, others] : table) {
      std::vector<Located> names;
      TRY_OK(texts(others, fmt::format("names of '{}'", value.str()), names));
      std::vector<std::string>& list = into.values[std::string(value.str())];
      for (Located& name : names) list.push_back(std::move(name.text));
    }
    return {};
  }

  Result<void> asks(const toml::node& node, PackSlot& into) const {
    const toml::table* table = node.as_table();
    if (table == nullptr)
      return fault(file_, line_of(node), "write [intent.slots.a_name.ask], then zh = \"…\" and en = \"…\"");
    for (const auto& [key, value] : *table) {
      TRY(const text::Language language, language_key(key, "a slot asks in zh, en and other"));
      TRY(into.asks[language], text(value, "ask"));
    }
    return {};
  }

  const std::string& file_;
  Pack& pack_;
};

template <typename Read>
Result<void> read_toml(const PackFile& file, const Read& read) {
  TRY_OK(check_utf8(file.bytes, file.name));
  try {
    return read(toml::parse(file.bytes, file.name));
  } catch (const toml::parse_error& error) {
    const uint32_t line = error.source().begin.line;
    return fault(file.name, line, toml_words(error.description(), file.bytes, line));
  }
}

}  // namespace

Result<void> read_pack_toml(const PackFile& file, Pack& into) {
  return read_toml(file, [&](const toml::table& document) { return Reader(file.name, into).pack(document); });
}

Result<void> read_intents_toml(const PackFile& file, Pack& into) {
  return read_toml(file, [&](const toml::table& document) { return Reader(file.name, into).intents(document); });
}

Result<void> read_negatives_toml(const PackFile& file, Pack& into) {
  return read_toml(file, [&](const toml::table& document) { return Reader(file.name, into).negatives(document); });
}

}  // namespace hengshi::train
