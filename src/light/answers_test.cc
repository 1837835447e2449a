#include "light/answers.h"

#include <gtest/gtest.h>

namespace hengshi::light {
namespace {

IntentAnswers order() {
  return {"order",
          {"{order_id} arrives on {day}.", "Order {order_id} is on its way."},
          {{"order_id", {"[A-Z]{2}\\d{3}", "", {}, "Which order is it?"}}, {"day", {"", "date", {}, ""}}}};
}

AnswerBook book_of(std::vector<IntentAnswers> intents) {
  auto book = AnswerBook::make(std::move(intents));
  EXPECT_TRUE(book) << book.error().message;
  return std::move(*book);
}

std::string error_of(SlotSource source) {
  const auto book = AnswerBook::make({{"order", {"x"}, {{"id", std::move(source)}}}});
  return book ? "none" : book.error().message;
}

std::string text_of(const AnswerBook& book, std::string_view question) {
  const auto reply = book.answer(0, question, 0);
  return reply ? reply->text : "none";
}

TEST(Answers, SlotsAreFilledByPatternKindAndValues) {
  const SlotSource colours{"", "", {{"red", {"crimson", "dark red"}}, {"blue", {}}, {"红色", {"大红"}}}, ""};
  const AnswerBook lamp =
      book_of({{"lamp", {"{count} x {colour}"}, {{"count", {"", "number", {}, ""}}, {"colour", colours}}}});
  EXPECT_EQ(text_of(lamp, "three lamps in Crimson"), "3 x red");
  EXPECT_EQ(text_of(lamp, "a dark red one, twenty of them"), "20 x red");
  EXPECT_EQ(text_of(lamp, "要三盏大红的"), "3 x 红色");
  EXPECT_EQ(text_of(lamp, "I bored three people"), "none");
}

TEST(Answers, AMissingSlotIsAskedForOnlyWhenNoAnswerCanDoWithoutIt) {
  const AnswerBook book = book_of({order()});
  const auto asked = book.answer(0, "where is it", 7);
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->text, "Which order is it?");
  EXPECT_EQ(asked->asks, "order_id");
  const auto answered = book.answer(0, "where is AB123", 7);
  ASSERT_TRUE(answered);
  EXPECT_EQ(answered->text, "Order AB123 is on its way.");
  EXPECT_TRUE(answered->asks.empty());
}

TEST(Answers, ASlotWithADefaultIsNotAskedFor) {
  IntentAnswers intent = order();
  intent.answers = {"{order_id|It} arrives on {day}."};
  const AnswerBook book = book_of({intent});
  EXPECT_FALSE(book.answer(0, "where is it", 0));  // day is what is missing, and nothing asks for it
  EXPECT_EQ(text_of(book, "is it there tomorrow"), "It arrives on tomorrow.");
}

TEST(Answers, BadSlotsSayWhatIsWrong) {
  EXPECT_EQ(error_of({"", "", {}, "?"}), "intent order: slot id: it needs one of pattern, kind and values");
  EXPECT_EQ(error_of({"a", "date", {}, ""}), "intent order: slot id: it needs one of pattern, kind and values");
  EXPECT_EQ(error_of({"", "colour", {}, ""}),
            "intent order: slot id: kind 'colour' is not known; there are number, date, time, amount, percent, phone, "
            "email, id");
  EXPECT_EQ(error_of({"", "", {{"red", {"blue"}}, {"blue", {}}}, ""}),
            "intent order: slot id: 'blue' names both 'blue' and 'red'");
  EXPECT_EQ(error_of({"", "", {{"", {}}}, ""}), "intent order: slot id: one of its values is empty");
}

TEST(Answers, TheFileKeepsEverything) {
  IntentAnswers lamp{
      "lamp", {"a \"b\""}, {{"colour", {"", "", {{"red", {"crimson"}}, {"blue", {}}}, "Which colour?"}}}};
  const std::string json = answers_json({order(), lamp});
  EXPECT_EQ(
      json,
      "{\"format\":2,\"intents\":[\n"
      "{\"name\":\"order\",\"answers\":[\"{order_id} arrives on {day}.\",\"Order {order_id} is on its way.\"],"
      "\"slots\":{\"day\":{\"kind\":\"date\"},\"order_id\":{\"pattern\":\"[A-Z]{2}\\\\d{3}\",\"ask\":\"Which order "
      "is it?\"}}},\n"
      "{\"name\":\"lamp\",\"answers\":[\"a \\\"b\\\"\"],\"slots\":{\"colour\":{\"values\":{\"blue\":[],\"red\":"
      "[\"crimson\"]},\"ask\":\"Which colour?\"}}}\n]}\n");
  const auto book = AnswerBook::parse(json);
  ASSERT_TRUE(book) << book.error().message;
  EXPECT_EQ(book->size(), 2U);
  EXPECT_EQ(book->answer(0, "where", 0)->asks, "order_id");
  EXPECT_EQ(book->answer(1, "x", 0)->text, "a \"b\"");
}

TEST(Answers, TheFirstFormatIsStillRead) {
  const auto book = AnswerBook::parse(
      R"({"intents":[{"name":"order","answers":["{id} is on its way"],"slots":{"id":"[A-Z]{2}\\d+"}}]})");
  ASSERT_TRUE(book) << book.error().message;
  EXPECT_EQ(text_of(*book, "where is AB1"), "AB1 is on its way");
}

TEST(Answers, OtherFilesAreRefused) {
  const auto later = AnswerBook::parse(R"({"format":3,"intents":[]})");
  ASSERT_FALSE(later);
  EXPECT_EQ(later.error().message, "format 3 is not the 2 read here");
  for (const char* json :
       {R"({"format":"2","intents":[]})", R"({"format":2})", R"({"format":2,"intents":[{"name":"a","answers":[]}]})",
        R"({"format":2,"intents":[{"name":"a","answers":[],"slots":{"b":7}}]})",
        R"({"format":2,"intents":[{"name":"a","answers":[],"slots":{"b":{"colour":"x"}}}]})",
        R"({"format":2,"intents":[{"name":"a","answers":[],"slots":{"b":{"values":["x"]}}}]})"}) {
    EXPECT_FALSE(AnswerBook::parse(json)) << json;
  }
}

}  // namespace
}  // namespace hengshi::light
