#include "app/config.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <regex>

namespace hengshi::app {
namespace {

std::string why(std::string_view text) {
  const auto config = parse_config(text, "dir/hengshi.toml");
  return config ? "fine" : config.error().message;
}

TEST(Config, EmptyIsTheDefaults) {
  const auto config = parse_config("", "dir/hengshi.toml");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->server.address, "127.0.0.1");
  ASSERT_EQ(config->routes.size(), 1U);
  EXPECT_EQ(config->routes[0].models, std::vector<std::string>{"hengshi"});
  EXPECT_EQ(config->ledger.path, "dir/run/ledger.db");
}

TEST(Config, ErrorsNameLineAndFix) {
  EXPECT_EQ(why("[server]\nprot = 1\n"), "dir/hengshi.toml:2: [server] unknown key 'prot'; did you mean 'port'?");
  EXPECT_EQ(why("\n[sever]\n"), "dir/hengshi.toml:2: unknown section 'sever'; did you mean 'server'?");
  EXPECT_EQ(why("[server]\nport = \"x\"\n"),
            "dir/hengshi.toml:2: [server] port must be a whole number from 0 to 65535");
  EXPECT_EQ(
      why("[cache]\nttl = 5\n"),
      "dir/hengshi.toml:2: [cache] ttl must be a duration such as \"500ms\", \"1.5s\", \"10m\", \"1h\", of a second or "
      "more");
  EXPECT_EQ(why("[[route]]\nscope = \"all\"\n"),
            "dir/hengshi.toml:2: [route] scope must be one of \"user\", \"tenant\"");
  EXPECT_NE(why("[server\n").find("dir/hengshi.toml:1: "), std::string::npos);
  EXPECT_EQ(why("[key]\nname = \"a\"\n"), "dir/hengshi.toml:1: write it as [[key]]");
  EXPECT_EQ(why("[models]\nzh = \"\"\n\n[light]\n[models]\n"),
            "dir/hengshi.toml:5: [models] is there already in line 1: write its keys there and take this line out");
  EXPECT_EQ(why("[light]\nzh = \"a\"\n[models]\nen = \"\"\nzh = \"\"\nzh = \"b\"\n"),
            "dir/hengshi.toml:6: zh is there already in line 5: keep one of the two");
}

TEST(Config, OpenAddressWithoutKeysIsRefused) {
  EXPECT_NE(why("[server]\naddress = \"0.0.0.0\"\n").find("there are no keys"), std::string::npos);
  EXPECT_EQ(why("[server]\naddress = \"0.0.0.0\"\n[[key]]\nsha256 = \"" + std::string(64, 'a') + "\"\n"), "fine");
}

TEST(Config, CrossReferencesAreChecked) {
  EXPECT_NE(why("[[route]]\nupstreams = [\"x\"]\n").find("no [[upstream]] is named 'x'"), std::string::npos);
  EXPECT_NE(why("[[route]]\ntiers = [\"magic\"]\n").find("unknown tier 'magic'"), std::string::npos);
  EXPECT_NE(why("[[upstream]]\nname = \"a\"\nmodel = \"m\"\nbase_url = \"host\"\n").find("http://"), std::string::npos);
  EXPECT_NE(why("[server]\ntls_cert = \"c.pem\"\n").find("go together"), std::string::npos);
  EXPECT_NE(why("[[key]]\nsha256 = \"zz\"\n").find("64 lower-case hex"), std::string::npos);
}

TEST(Config, NamesAreOneLineOfText) {
  for (const std::string_view bad : {"", "a\nb", "a\rb", "\x1b[31m", "a\x7f", "a\u0085b", "a\u2028b", "a\xff"}) {
    EXPECT_NE(name_fault(bad), "") << bad;
  }
  for (const std::string_view good : {"a", "客服 bot №1", "naïve\u00a0name"}) EXPECT_EQ(name_fault(good), "") << good;
  const std::string sha = "sha256 = \"" + std::string(64, 'a') + "\"\n";
  const std::string up = "[[upstream]]\nbase_url = \"http://h/v1\"\n";
  for (const std::string& config :
       {"[[key]]\nname = \"a\\nb\"\n" + sha, "[[key]]\nname = \"\"\n" + sha, "[[key]]\ntenant = \"a\\u0007\"\n" + sha,
        up + "name = \"a\\tb\"\nmodel = \"m\"\n", up + "name = \"a\"\nmodel = \"m\\n\"\n",
        std::string("[[route]]\nname = \"\"\n"), std::string("[[route]]\nmodels = [\"a\\nb\"]\n")}) {
    EXPECT_NE(why(config).find("a name must not"), std::string::npos) << config << why(config);
  }
}

TEST(Config, UnitsAreRead) {
  const auto config = parse_config(
      "[cache]\nexact_bytes = \"1.5MB\"\nttl = \"2h\"\n[[upstream]]\nname = \"a\"\nmodel = \"m\"\nbase_url = "
      "\"http://h/v1\"\ninput_price = 0.15\n[[route]]\nupstreams = [\"a\"]\nfirst_answer = \"1.5s\"\n",
      "f");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->cache.exact_bytes, 1572864U);
  EXPECT_EQ(config->cache.ttl.count(), 7200);
  EXPECT_EQ(config->upstreams[0].price.input_micro_usd, 150'000);
  EXPECT_EQ(config->routes[0].times.first_answer.count(), 1500);
}

// The commented config is itself a config, and shows every key; uncommented list entries are too.
TEST(Config, TheCommentedConfigIsValidAndComplete) {
  EXPECT_EQ(why(commented_config()), "fine");
  const auto parsed = parse_config(commented_config(), "f");
  const auto defaults = parse_config("", "f");
  EXPECT_EQ(show_config(*parsed), show_config(*defaults));
  EXPECT_EQ(commented_config().find("\n# floor"), std::string::npos) << "an example must not be taken for a default";
}

TEST(Config, WhatWasFoundIsWrittenIn) {
  const auto parsed = parse_config(commented_config({"m/zh", ""}, {"", "a/en"}), "dir/f");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->models.zh, "dir/m/zh");
  EXPECT_EQ(parsed->light.en, "dir/a/en");
  EXPECT_EQ(parsed->light.zh, "");
}

// Each key of the reference, set to another value, changes what is in force: no key is without effect.
TEST(Config, EveryKeyChangesSomething) {
  const std::string reference = commented_config();
  const std::regex entry(
      R"((?:^|\n)(?:# )?(\[\[?)(\w+)\]\]?|(?:^|\n)(?:# ){0,2}(\w+) = ("[^"]*"|\[[^\]]*\]|[\w.]+)  # )");
  std::string section, open;
  int keys = 0;
  for (std::sregex_iterator it(reference.begin(), reference.end(), entry), end; it != end; ++it) {
    if ((*it)[2].matched) {
      open = (*it)[1];
      section = (*it)[2];
      continue;
    }
    const std::string key = (*it)[3], value = (*it)[4];
    static const std::map<std::string, std::string> special = {{"level", "\"warn\""},
                                                               {"system_prompt", "\"ignore\""},
                                                               {"scope", "\"tenant\""},
                                                               {"on_exhausted", "\"503\""},
                                                               {"notice", "\"header\""},
                                                               {"address", "\"127.0.0.2\""},
                                                               {"tiers", "[\"light\"]"},
                                                               {"upstreams", "[\"other\"]"},
                                                               {"base_url", "\"http://other/v1\""},
                                                               {"sha256", "\"" + std::string(64, 'b') + "\""}};
    std::string other = "\"other\"";
    if (special.contains(key)) {
      other = special.at(key);
    } else if (value == "true" || value == "false") {
      other = value == "true" ? "false" : "true";
    } else if (value.front() == '[') {
      other = "[\"other\"]";
    } else if (value.size() > 2 && value.back() == '"' && std::isdigit(static_cast<unsigned char>(value[1])) != 0) {
      other = value.find('B') != value.npos ? "\"3MB\"" : "\"3s\"";
    } else if (value.front() != '"') {
      other = value.find('.') != value.npos ? "0.25" : "7";
    }
    std::string base = open == "[[" ? "[[" + section + "]]\n" : "[" + section + "]\n";
    const std::string key_line = std::string(key).append(" = ").append(other).append("\n");
    if (section == "key" && key != "sha256") base += "sha256 = \"" + std::string(64, 'a') + "\"\n";
    if (section == "key" && key == "sha256") base += "name = \"k\"\n";
    if (section == "upstream") {
      for (const auto& [k, v] : {std::pair("name", "\"n\""), {"model", "\"m\""}, {"base_url", "\"http://h/v1\""}}) {
        if (key != k) base += std::string(k) + " = " + v + "\n";
      }
    }
    std::string with = base + key_line;
    std::string without = base;
    if (section == "server" && key.starts_with("tls_")) {
      with += (key == "tls_cert" ? "tls_key" : "tls_cert") + std::string(" = \"x\"\n");
      without = base + "tls_cert = \"x\"\ntls_key = \"x\"\n";
    }
    if (key == "upstreams") {
      const std::string up = "[[upstream]]\nname = \"other\"\nmodel = \"m\"\nbase_url = \"http://h/v1\"\n";
      with += up;
      without += up;
    }
    const auto changed = parse_config(with, "f");
    ASSERT_TRUE(changed) << section << "." << key << ": " << changed.error().message;
    const auto unchanged = parse_config(without, "f");
    if (unchanged) {
      EXPECT_NE(show_config(*changed), show_config(*unchanged)) << section << "." << key;
    }
    ++keys;
  }
  EXPECT_GT(keys, 50);
}

TEST(Config, TheDeployedOneIsGood) {
  const auto config = load_config(std::string(HENGSHI_SOURCE_DIR) + "/deploy/hengshi.toml");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->ledger.path, "/var/lib/hengshi/ledger.db");
}

TEST(Config, TheReferenceInTheDocsIsTheCodes) {
  std::ifstream in(std::string(HENGSHI_SOURCE_DIR) + "/docs/config.md");
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  EXPECT_NE(text.find(commented_config()), text.npos)
      << "docs/config.md is out of date: paste this into its code block:\n"
      << commented_config();
}

}  // namespace
}  // namespace hengshi::app
