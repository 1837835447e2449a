#include "app/init.h"

#include <gtest/gtest.h>

#include "app/left_off.h"
#include "base/test_folder.h"

namespace hengshi::app {
namespace {

constexpr const char* kWeights = "model.safetensors";

std::vector<std::string> off(std::string_view text) {
  const auto config = parse_config(text, "hengshi.toml");
  return config ? left_off(*config) : std::vector{config.error().message};
}

TEST(Init, FindsWhatLiesBesideTheConfig) {
  const TempFolder folder;
  EXPECT_EQ(find_parts(folder.path()).models.zh, "");
  folder.write(std::string("models/bge-small-zh-v1.5/") + kWeights, "");
  folder.write(std::string("models/other/") + kWeights, "");
  folder.write("artifacts/demo/zh/manifest.json", "");
  folder.write("artifacts/demo/en/manifest.json", "");
  const Found found = find_parts(folder.path());
  EXPECT_EQ(found.models.zh, "models/bge-small-zh-v1.5");
  EXPECT_EQ(found.light.zh, "artifacts/demo/zh");
  EXPECT_EQ(found.models.other, "models/other");
  EXPECT_EQ(found.light.other, "");
  EXPECT_EQ(found.models.en, "");
  EXPECT_EQ(found.light.en, "") << "a light model is nothing without its encoder";
}

TEST(Init, LeavesTheChoiceOfAPackToAPerson) {
  const TempFolder folder;
  folder.write(std::string("models/all-minilm-l6-v2/") + kWeights, "");
  folder.write("artifacts/shop/en/manifest.json", "");
  folder.write("artifacts/demo/en/manifest.json", "");
  folder.write("artifacts/tried/notes.txt", "");
  const Found found = find_parts(folder.path());
  EXPECT_EQ(found.packs, (std::vector<std::string>{"demo", "shop"}));
  EXPECT_EQ(found.light.en, "");
}

TEST(LeftOff, SaysWhatWouldTurnEachTierOn) {
  EXPECT_EQ(off(""), (std::vector<std::string>{
                         "rules: write [rules] file = \"my-pack/rules.toml\" (docs/rules.md)",
                         "semantic (zh, en): no encoder; scripts/setup puts them into models/, then [models] zh = "
                         "\"models/bge-small-zh-v1.5\", en = \"models/all-minilm-l6-v2\"",
                         "light (zh, en): no light model; `hengshi train PACK` makes it, then [light] zh = "
                         "\"artifacts/PACK/zh\", en = \"artifacts/PACK/en\"",
                         "upstreams: no [[upstream]]; what the tiers above do not answer gets an apology"}));
  EXPECT_EQ(off("[models]\nzh = \"a\"\nen = \"b\"\n[light]\nzh = \"c\"\n[rules]\nfile = \"r\"\n[[upstream]]\nname = "
                "\"u\"\nmodel = \"m\"\nbase_url = \"http://h/v1\"\n[[route]]\ntiers = [\"exact\", \"light\"]\n"),
            (std::vector<std::string>{"rules: no [[route]] has \"rules\" in its tiers",
                                      "semantic: no [[route]] has \"semantic\" in its tiers",
                                      "light (en): no light model; `hengshi train PACK` makes it, then [light] en = "
                                      "\"artifacts/PACK/en\""}));
}

}  // namespace
}  // namespace hengshi::app
