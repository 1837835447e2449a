#include "train/pack_import.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "train/pack_check.h"
#include "train/pack_export.h"
#include "train/pack_names.h"

namespace hengshi::train {
namespace {

namespace fs = std::filesystem;

class ImportTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = (fs::temp_directory_path() / ("pack_import_test." + std::to_string(::getpid()))).string();
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ + "/" + name, std::ios::binary) << bytes;
    return folder_ + "/" + name;
  }

  // The message of what went wrong, or the report's first line behind the folder.
  std::string import(const std::string& name, const std::string& bytes, ImportOptions options = {}) {
    options.source = write(name, bytes);
    options.out = folder_ + "/pack" + std::to_string(packs_++);
    out_ = options.out;
    const auto report = import_pack(options);
    if (!report)
      return report.error().message.substr(report.error().message.starts_with(folder_) ? folder_.size() + 1 : 0);
    notes_ = report->notes;
    pack_ = *read_unchecked_pack(options.out);
    return report->table().substr(options.out.size() + 2, report->table().find('\n') - options.out.size() - 2);
  }

  const Side& side(const std::string& name, text::Language language = text::Language::kEnglish) const {
    for (const PackIntent& intent : pack_.intents) {
      if (intent.name.text == name) return intent.sides.at(language);
    }
    ADD_FAILURE() << "no intent " << name;
    return pack_.intents.front().sides.begin()->second;
  }

  std::string folder_, out_;
  int packs_ = 0;
  std::vector<std::string> notes_;
  Pack pack_;
};

TEST(PackNames, AreReadable) {
  EXPECT_EQ(name_of_label("Card Arrival"), "card_arrival");
  EXPECT_EQ(name_of_label("faq/退款"), "faq_tui_kuan");
  EXPECT_EQ(name_of_label("2fa"), "n_2fa");
  EXPECT_EQ(name_of_label("???"), "intent");
  EXPECT_EQ(name_of_label("oos"), "oos_1");
  EXPECT_EQ(name_of_question("How do I reset my password?"), "reset_password");
  EXPECT_EQ(name_of_question("请问怎么申请退款？"), "shen_qing_tui_kuan");
  EXPECT_EQ(name_of_question("What is it?"), "what_is_it");
  NameBook book;
  EXPECT_EQ(book.of_label("a b"), "a_b");
  EXPECT_EQ(book.of_label("a-b"), "a_b_2");
  EXPECT_EQ(book.of_label("a b"), "a_b");
}

TEST_F(ImportTest, RasaFilesLoseTheirAnnotations) {
  EXPECT_EQ(import("nlu.yml", R"(version: "3.1"
nlu:
- intent: book_table
  examples: |
    - a table in [Berlin](city) please
    - book [two]{"entity": "n", "value": "2"} seats
    - a table in [Berlin](city) please
- intent: faq/hours
  examples: |
    - when do you open
- synonym: two
  examples: |
    - 2
- intent: out_of_scope
  examples:
  - text: write a poem
responses:
  utter_book_table:
  - text: "Done {so}."
  - text: "Done: {{}}."
  utter_faq/hours:
  - text: At nine.
  utter_other:
  - text: Hello.
)"),
            "2 intents, 3 phrasings, 1 answer, 1 negative");
  EXPECT_EQ(side("book_table").phrasings[0].text, "a table in Berlin please");
  EXPECT_EQ(side("book_table").phrasings[1].text, "book two seats");
  EXPECT_EQ(side("faq_hours").answers[0].text, "At nine.");
  EXPECT_EQ(notes_, (std::vector<std::string>{
                        "left out: responses of no intent (utter_<intent>) (1)",
                        "left out: responses with slots, which an import does not bring (2)",
                        "left out: synonyms, regexes and lookup tables, for which a pack has slots (docs/pack.md) (1)",
                        "taken as English: 6 rows without a Chinese character; --lang sets it",
                        "repeats, but perhaps for their answer: 2 rows",
                        "to mend before training: intents without phrasings or answers in a language (1)"}));
}

TEST_F(ImportTest, RasaFaultsNameTheLine) {
  EXPECT_EQ(import("a.yml", "nlu:\n- intent: a\n  examples: |\n    - b\n    c\n"),
            "a.yml:5: an example begins with '- ', not with 'c'");
  EXPECT_EQ(import("b.yml", "nlu:\n- intent: a\n"),
            "b.yml:2: an intent without examples:; write examples: | and - lines");
  EXPECT_EQ(import("c.yml", "- a\n"), "c.yml:1: not a Rasa file; it begins with nlu: or responses:");
  EXPECT_EQ(import("d.yml", "nlu: [\n"), "d.yml:2: not YAML: end of sequence flow not found");
  EXPECT_EQ(import("e.yml", "nlu:\n- \xff\n"), "e.yml:2: not UTF-8; save the file as UTF-8");
}

TEST_F(ImportTest, TablesNameTheirColumns) {
  EXPECT_EQ(import("a.csv",
                   "text,label,answer\r\nwhere is it,order,\"Soon, {really}.\"\r\nmy money,refund,Seven "
                   "days.\r\na poem,oos,\r\n"),
            "2 intents, 2 phrasings, 2 answers, 1 negative");
  EXPECT_EQ(side("order").answers[0].text, "Soon, {{really}}.");
  EXPECT_TRUE(find_faults(pack_).empty());
  ImportOptions options;
  options.columns = "text=Frage,label=Ziel";
  EXPECT_EQ(import("b.csv", "Ziel;Frage\norder;where is it\nrefund;my money\n", options),
            "2 intents, 2 phrasings, 0 answers, 0 negatives");
  options.columns = "text=2,label=1";
  EXPECT_EQ(import("c.csv", "order,where is it\nrefund,my money\n", options),
            "2 intents, 2 phrasings, 0 answers, 0 negatives");
  options.columns = "text=Frage,label=Weg";
  EXPECT_EQ(import("d.csv", "Ziel;Frage\norder;where is it\n", options),
            "d.csv:1: no column 'Weg'; there are Ziel, Frage");
  EXPECT_EQ(import("e.csv", "a,b\nc,d\n"),
            "e.csv:1: no columns text and label, nor question and answer, but a, b; name them with --columns "
            "text=…,label=…,answer=…");
}

TEST_F(ImportTest, AFaqMakesAnIntentOfEachAnswer) {
  EXPECT_EQ(import("faq.csv", "问题,答案\n怎么申请退款？,在订单页申请。\n如何退钱,在订单页申请。\n几点开门？,九点。\n"),
            "2 intents, 3 phrasings, 2 answers, 0 negatives");
  EXPECT_EQ(side("shen_qing_tui_kuan", text::Language::kChinese).phrasings.size(), 2U);
  EXPECT_EQ(pack_.languages, (std::vector{text::Language::kChinese}));
}

TEST_F(ImportTest, JsonIsToldByItsKeys) {
  EXPECT_EQ(import("a.jsonl",
                   "{\"text\": \"where is it\", \"label\": \"order\", \"answer\": \"{{Soon}}.\", \"id\": 3}\n\n"
                   "{\"text\": \"my money\", \"label\": \"refund\", \"lang\": \"en-GB\"}\n"),
            "2 intents, 2 phrasings, 1 answer, 0 negatives");
  EXPECT_EQ(side("order").answers[0].text, "{{Soon}}.");
  EXPECT_EQ(import("alpaca.json",
                   "[{\"instruction\": \"Where is it\", \"input\": \"AB1\", \"output\": \"Soon.\"},\n"
                   "{\"instruction\": \"Opening hours?\", \"input\": \"\", \"output\": \"Nine.\"}]"),
            "2 intents, 2 phrasings, 2 answers, 0 negatives");
  EXPECT_EQ(side("opening_hours").answers[0].text, "Nine.");
  EXPECT_EQ(
      import(
          "chat.jsonl",
          "{\"messages\": [{\"role\": \"system\", \"content\": \"Be short.\"}, {\"role\": \"user\", \"content\": "
          "[{\"type\": \"text\", \"text\": \"Opening hours?\"}]}, {\"role\": \"assistant\", \"content\": \"Nine.\"}, "
          "{\"role\": \"user\", \"content\": \"And?\"}, {\"role\": \"assistant\", \"content\": \"Six.\"}]}\n"),
      "1 intent, 1 phrasing, 1 answer, 0 negatives");
  EXPECT_EQ(notes_.front(), "only the first turn was taken: conversations of several (1)");
  EXPECT_EQ(notes_.back(), "to mend before training: languages with fewer than two intents (1)");
  EXPECT_EQ(import("b.jsonl", "{\"text\": \"a\", \"label\": \"b\"}\n{\"question\": 3}\n"),
            "b.jsonl:2: none of text and label; instruction and output; messages");
  EXPECT_EQ(import("c.json", "[{\"text\": \"a\", \"label\": 3}]"), "c.json:1: entry 1: 'label' must be text");
  EXPECT_EQ(import("d.jsonl", " \n"), "d.jsonl:1: no rows");
}

TEST_F(ImportTest, ARowThatLacksSomethingIsLeftOutAndTold) {
  EXPECT_EQ(import("a.csv", "text,label,answer\na,x,1\n,y,\nb,,\nc,y,2\nd,,\ne,,\n\nf,,\ng,,\nh,,\n"),
            "2 intents, 2 phrasings, 2 answers, 0 negatives");
  EXPECT_EQ(notes_,
            (std::vector<std::string>{"left out: rows without text (1: line 3)",
                                      "left out: rows with neither label nor answer (6: lines 4, 6, 7, 9, 10, …)",
                                      "taken as English: 2 rows without a Chinese character; --lang sets it"}));
  EXPECT_EQ(import("b.jsonl",
                   "{\"text\": \"a\", \"label\": \"x\"}\n{\"text\": \"b\"}\n{\"text\": \"c\", \"label\": \"y\"}\n"),
            "2 intents, 2 phrasings, 0 answers, 0 negatives");
  EXPECT_EQ(notes_.front(), "left out: rows without text or label (1: line 2)");
  EXPECT_EQ(
      import("c.json", "[{\"instruction\": \"a\", \"output\": \"\"}, {\"instruction\": \"b\", \"output\": \"c\"}]"),
      "1 intent, 1 phrasing, 1 answer, 0 negatives");
  EXPECT_EQ(notes_.front(), "left out: instructions without text or output (1: entry 1)");
  EXPECT_EQ(import("d.csv", "text,label\na,\n"),
            "pack3: nothing to import; left out: rows with neither label nor answer (1: line 2)");
}

TEST_F(ImportTest, ANamedFormatIsHeldTo) {
  const std::string row = R"({"text": "a", "label": "b"})", alpaca = R"({"instruction": "a", "output": "b"})";
  const std::string chat = R"({"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]})";
  ImportOptions options;
  options.format = "jsonl";
  EXPECT_EQ(import("a.jsonl", row + "\n" + alpaca + "\n", options),
            "a.jsonl:2: no text and label, as --format jsonl has them");
  options.format = "alpaca";
  EXPECT_EQ(import("b.jsonl", alpaca + "\n" + chat + "\n", options),
            "b.jsonl:2: no instruction and output, as --format alpaca has them");
  options.format = "openai";
  EXPECT_EQ(import("c.jsonl", chat + "\n" + row + "\n", options),
            "c.jsonl:2: no messages, as --format openai has them");
  EXPECT_EQ(import("d.jsonl", chat + "\n", options), "1 intent, 1 phrasing, 1 answer, 0 negatives");
  options.format = "faq";
  EXPECT_EQ(import("e.csv", "text,label,answer\na,b,c\n", options),
            "e.csv:1: a FAQ has questions and answers, no labels; leave --format faq out, or name its columns with "
            "--columns text=…,answer=…");
  options.columns = "text=text,answer=answer";
  EXPECT_EQ(import("f.csv", "text,label,answer\na,b,c\nd,e,\n", options),
            "1 intent, 1 phrasing, 1 answer, 0 negatives");
  EXPECT_EQ(notes_.front(), "left out: rows without an answer (1: line 3)");
  options.format = ".csv";
  EXPECT_EQ(import("g.csv", "", options),
            "--format .csv: is not known; there are csv, faq, jsonl, alpaca, openai and rasa");
}

TEST_F(ImportTest, LatinPhrasingsOfAChinesePackStayThere) {
  EXPECT_EQ(
      import("zh.csv", "text,label\n怎么退款,refund\n退钱,refund\n订单,order\n物流,order\n发货,order\nWiFi,net\n"),
      "3 intents, 6 phrasings, 0 answers, 0 negatives");
  EXPECT_EQ(pack_.languages.size(), 1U);
  EXPECT_EQ(notes_.front(), "taken as Chinese: 1 row without a Chinese character; --lang sets it");
  EXPECT_EQ(import("both.csv", "text,label\n怎么退款,refund\nrefund me,refund\n订单,order\nmy order,order\n"),
            "2 intents, 4 phrasings, 0 answers, 0 negatives");
  EXPECT_EQ(pack_.languages.size(), 2U);
  ImportOptions options;
  options.lang = "en";
  (void)import("en.csv", "text,label\n怎么退款,refund\nmy order,order\n", options);
  EXPECT_EQ(pack_.languages, (std::vector{text::Language::kEnglish}));
}

TEST_F(ImportTest, WhatCannotBeToldIsAskedFor) {
  EXPECT_EQ(import("a.xlsx", "PK"),
            "a.xlsx: what is it? Name it with --format csv, faq, jsonl, alpaca, openai or rasa");
  ImportOptions options;
  options.source = write("a.csv", "text,label\na,b\nc,d\n");
  options.out = folder_;
  const auto there = import_pack(options);
  ASSERT_FALSE(there);
  EXPECT_EQ(there.error().message, folder_ + ": is there already; name a new folder");
  options.lang = "fr";
  EXPECT_EQ(import_pack(options).error().message,
            "--lang fr: is not known; it is zh, en, or other for any further language");
}

// What is written on one line of a pack, places aside.
std::vector<std::string> content(const Pack& pack) {
  std::vector<std::string> out;
  const auto add = [&](std::string_view language, const std::string& label, const char* what,
                       const std::vector<Located>& texts) {
    for (const Located& one : texts) out.push_back(std::string(language) + "/" + label + "/" + what + "/" + one.text);
  };
  for (const PackIntent& intent : pack.intents) {
    for (const auto& [language, side] : intent.sides) {
      add(text::language_name(language), intent.name.text, "phrasing", side.phrasings);
      add(text::language_name(language), intent.name.text, "answer", side.answers);
    }
  }
  for (const auto& [language, texts] : pack.negatives) add(text::language_name(language), "oos", "negative", texts);
  std::sort(out.begin(), out.end());
  return out;
}

TEST_F(ImportTest, WhatIsExportedIsImportedAgain) {
  const Pack demo = *read_pack(HENGSHI_SOURCE_DIR "/packs/demo");
  for (const std::string format : {"jsonl", "csv", "rasa"}) {
    for (const text::Language language : {text::Language::kChinese, text::Language::kEnglish}) {
      const auto file = exported(demo, format, language);
      ASSERT_TRUE(file) << file.error().message;
      ImportOptions options;
      options.lang = text::language_name(language);
      (void)import("demo." + (format == "rasa" ? "yml" : format), file->bytes, options);
      Pack expected = demo;
      for (PackIntent& intent : expected.intents) {
        std::erase_if(intent.sides, [&](const auto& one) { return one.first != language; });
        for (auto& [spoken, side] : intent.sides) {
          std::erase_if(side.answers, [](const Located& one) { return one.text.find('{') != std::string::npos; });
        }
      }
      std::erase_if(expected.negatives, [&](const auto& one) { return one.first != language; });
      EXPECT_EQ(content(pack_), content(expected)) << format;
    }
  }
}

TEST_F(ImportTest, BothLanguagesFitInOneTable) {
  const Pack demo = *read_pack(HENGSHI_SOURCE_DIR "/packs/demo");
  const auto csv = exported(demo, "csv", std::nullopt), jsonl = exported(demo, "jsonl", std::nullopt);
  ASSERT_TRUE(csv && jsonl);
  (void)import("a.csv", csv->bytes);
  const std::vector<std::string> from_csv = content(pack_);
  (void)import("a.jsonl", jsonl->bytes);
  EXPECT_EQ(content(pack_), from_csv);
  EXPECT_EQ(exported(pack_, "jsonl", std::nullopt)->rows, jsonl->rows);
  EXPECT_EQ(exported(demo, "rasa", std::nullopt).error().message,
            demo.where + ": speaks several languages, and a Rasa file holds one; name it with --lang");
  EXPECT_EQ(exported(demo, "xml", std::nullopt).error().message,
            "--format xml: is not known; there are jsonl, csv and rasa");
}

TEST_F(ImportTest, ALargePackHasFewFiles) {
  std::string rows = "text,label\n";
  for (int i = 0; i < 450; ++i) rows += "question " + std::to_string(i) + ",label" + std::to_string(i) + "\n";
  EXPECT_EQ(import("a.csv", rows), "450 intents, 450 phrasings, 0 answers, 0 negatives");
  EXPECT_EQ(std::distance(fs::directory_iterator(out_ + "/intents"), fs::directory_iterator()), 5);
}

}  // namespace
}  // namespace hengshi::train
