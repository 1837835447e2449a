#include "text/slots.h"

#include <gtest/gtest.h>

namespace hengshi::text {
namespace {

std::string filled(std::string_view source, const Slots& slots) {
  const auto parsed = Template::parse(source);
  if (!parsed) return "error: " + parsed.error().message;
  return parsed->fill(slots).value_or("nothing");
}

TEST(Template, FillsItsSlots) {
  const Slots slots = {{"order_id", "A7"}, {"city", "西安"}, {"empty", ""}};
  EXPECT_EQ(filled("plain", slots), "plain");
  EXPECT_EQ(filled("", slots), "");
  EXPECT_EQ(filled("Order {order_id} is on its way.", slots), "Order A7 is on its way.");
  EXPECT_EQ(filled("{city}到{city}", slots), "西安到西安");
  EXPECT_EQ(filled("{{literal}} {order_id}", slots), "{literal} A7");
  EXPECT_EQ(filled("{{{order_id}}}", slots), "{A7}");
  EXPECT_EQ(filled("Dear {name|customer}", slots), "Dear customer");
  EXPECT_EQ(filled("x{name|}y", slots), "xy");
  EXPECT_EQ(filled("{empty|none}", slots), "none");
}

TEST(Template, StaysSilentWithoutAValue) {
  EXPECT_EQ(filled("Order {order_id}", {}), "nothing");
  EXPECT_EQ(filled("Order {order_id}", {{"order_id", ""}}), "nothing");
}

TEST(Template, AValueIsNeverParsedAgain) { EXPECT_EQ(filled("{a}", {{"a", "{b}{{"}, {"b", "x"}}), "{b}{{"); }

TEST(Template, NamesTheColumn) {
  EXPECT_EQ(filled("订单 {Order}", {}), "error: column 4: a slot's name is [a-z][a-z0-9_]*");
  EXPECT_EQ(filled("ab {order", {}), "error: column 4: '{' is not closed; write '{{' for a brace");
  EXPECT_EQ(filled("ab {a{b}", {}), "error: column 4: '{' is not closed; write '{{' for a brace");
  EXPECT_EQ(filled("ab }", {}), "error: column 4: '}' closes nothing; write '}}' for a brace");
  EXPECT_EQ(filled("{}", {}), "error: column 1: a slot's name is [a-z][a-z0-9_]*");
  EXPECT_EQ(filled("{1a}", {}), "error: column 1: a slot's name is [a-z][a-z0-9_]*");
}

TEST(Template, ListsEachNameOnce) {
  const auto parsed = Template::parse("{b} {a|x} {b}");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->names(), (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(parsed->required(), (std::vector<std::string>{"b"}));
}

}  // namespace
}  // namespace hengshi::text
