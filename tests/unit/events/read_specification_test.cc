#include "events/spec/read_specification.h"

#include <gtest/gtest.h>

#include "tests/unit/events/small_specification.h"

namespace jprof::events {
namespace {

std::string ErrorOf(std::string_view text) {
  const auto read = ParseSpecification(text, "x.xml");
  return read ? "it was read" : read.error().message;
}

TEST(ReadSpecification, EveryPartIsRead) {
  const auto read = ParseSpecification(kSmall, "x.xml");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->name, "shop");
  EXPECT_EQ(read->text, kSmall);
  ASSERT_EQ(read->classes.size(), 1u);
  const std::vector<Event>& events = read->classes[0].events;
  ASSERT_EQ(events.size(), 4u);
  const Event& begin = events[0];
  EXPECT_EQ(begin.level, Level::kLog);
  EXPECT_EQ(begin.line, 6);
  EXPECT_EQ(begin.written, std::vector{Context::kProcessor});
  EXPECT_EQ(begin.restored, std::vector{Context::kCallingContext});
  EXPECT_TRUE(begin.pair && begin.pair->begins && begin.pair->on == "number");
  EXPECT_EQ(begin.link + begin.marker, "numbercustomer");
  EXPECT_EQ(begin.fields[1].meaning, "Who <orders> \"it\".");
  EXPECT_EQ(begin.fields[2].values[1].name, "card");
  EXPECT_EQ(begin.fields[2].values[1].number, 7);
  EXPECT_EQ(RecordFields(begin)[0].name, "processor");
  EXPECT_EQ(events[1].version, 2u);
  EXPECT_EQ(events[1].counter + events[1].statistics, "stockduration");
  EXPECT_EQ(events[1].fields[1].unit, "ms");
  for (size_t i = 0; i < 11; ++i) {
    EXPECT_EQ(events[2].fields[i].type, static_cast<FieldType>(i));
    EXPECT_EQ(TraitsOf(events[2].fields[i].type).type, events[2].fields[i].type);
  }
  EXPECT_EQ(events[3].level, Level::kOff);
}

struct Bad {
  const char *from, *to, *error;
};

TEST(ReadSpecification, ErrorsHaveLineAndColumn) {
  const Bad bad[] = {
      {"<class name=\"orders\">", "<class>",
       "x.xml:4:3: Element 'class': The attribute 'name' is required but missing"},
      {"type=\"uint64\"", "type=\"int\"",
       "x.xml:12:7: Element 'field', attribute 'type': The value 'int' is not an element of the "
       "set {"},
      {"level=\"log\"", "level=\"log\" lewel=\"log\"",
       "x.xml:6:5: Element 'event', attribute 'lewel': The attribute 'lewel' is not allowed"},
      {"version=\"2\"", "version=\"0\"", "x.xml:18:5: Element 'event', attribute 'version'"},
      {"<link on=\"number\"/>", "<link on=\"namber\"/>",
       "x.xml:10:7: the event 'order_begin' has no field 'namber'"},
      {"<marker field=\"customer\"/>", "<marker field=\"number\"/>",
       "x.xml:11:7: the field 'number' must be a text, not uint64"},
      {"<statistics field=\"duration\"/>", "<statistics field=\"stock\"/>",
       "x.xml:22:7: the field 'stock' must be an integer, not float64"},
      {"<end pair=\"order\"", "<end pair=\"other\"",
       "x.xml:9:7: the pair 'order' has no end in this class"},
      {"<end pair=\"order\" on=\"number\"/>", "<end pair=\"order\"/>",
       "x.xml:20:7: the begin of the pair 'order' has on=\"number\", its end on=\"\""},
      {"name=\"order_end\"", "name=\"order_begin\"",
       "x.xml:18:5: there is another event with the name 'order_begin'"},
      {"name=\"duration\"", "name=\"int\"",
       "x.xml:24:7: 'int' is a reserved word of C, C++ or Java; choose another name"},
      {"name=\"kind\"", "name=\"processor\"",
       "x.xml:14:7: the context 'processor' is written already; choose another name"},
      {"name=\"card\" number=\"7\"", "name=\"card\" number=\"1\"",
       "x.xml:15:53: another value has the number 1"},
      {"name=\"a\"", "name=\"A\"", "x.xml:29:7: Element 'field', attribute 'name': The value 'A'"},
      {"name=\"nothing\"", "name=\"go_on\"",
       "x.xml:42:5: names of events must not end with _on, which generated code appends"},
      {"name=\"a\"", "name=\"size_t\"", "x.xml:29:7: 'size_t' is a reserved word"},
      {"name=\"b\"", "name=\"co_await\"", "x.xml:30:7: 'co_await' is a reserved word"},
      {"name=\"c\"", "name=\"wait\"", "x.xml:31:7: 'wait' is a reserved word"},
      {"<class name=\"orders\"", "<class name=\"orders_record\"",
       "x.xml:4:3: names of classes must not end with _record, which generated code appends"},
      {"<class name=\"orders\"", "<class name=\"shop_events\"",
       "x.xml:4:3: 'shop_events' would be the class of all these events in Java"},
      {"</class>", "</clas>", "x.xml:45:10: Opening and ending tag mismatch"},
  };
  for (const Bad& one : bad) {
    const std::string text = SmallWith(one.from, one.to);
    EXPECT_TRUE(ErrorOf(text).starts_with(one.error)) << one.to << ": " << ErrorOf(text);
  }
}

TEST(ReadSpecification, NamesThatAreEqualInJavaAreRefused) {
  std::string text = SmallWith("name=\"b\"", "name=\"a_1\"");
  text.replace(text.find("name=\"c\""), 8, "name=\"a1\"");
  EXPECT_TRUE(
      ErrorOf(text).starts_with("x.xml:31:7: another field has the name of 'a1' in Java, too"))
      << ErrorOf(text);
}

TEST(ReadSpecification, HostileTextsAreRefused) {
  EXPECT_TRUE(ErrorOf("").starts_with("x.xml:1:1: ")) << ErrorOf("");
  const std::string doctype = "a document type (<!DOCTYPE) is not allowed here";
  const std::string laughs =
      "<!DOCTYPE e [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;\">]>\n<e>&b;&b;</e>";
  EXPECT_NE(ErrorOf(laughs).find(doctype), std::string::npos) << ErrorOf(laughs);
  const std::string file = "<!DOCTYPE e SYSTEM \"/etc/passwd\"><e/>";
  EXPECT_NE(ErrorOf(file).find(doctype), std::string::npos) << ErrorOf(file);
  std::string deep;
  for (int i = 0; i < 50000; ++i) deep += "<e>";
  EXPECT_NE(ErrorOf(deep).find("nested too deeply"), std::string::npos) << ErrorOf(deep);
  std::string many = "<e>";  // in time that does not grow with the square
  while (many.size() < 200000) many += "<e/>\n";
  EXPECT_TRUE(ErrorOf(many + "</e>").starts_with("x.xml:1:1: Element 'e'"))
      << ErrorOf(many + "</e>");
  const std::string large = "<e>" + std::string(2 << 20, 'x') + "</e>";
  EXPECT_NE(ErrorOf(large).find("more than 262144 bytes"), std::string::npos);
  EXPECT_TRUE(ErrorOf(SmallWith("A shop.", "\xff\xfe")).starts_with("x.xml:3:"));
  EXPECT_NE(ErrorOf(SmallWith("A shop.", std::string(1, '\0'))), "it was read");
}

TEST(ReadSpecification, FilesThatCannotBeReadAreNamed) {
  EXPECT_EQ(ReadSpecification("/no/such.xml").error().message,
            "/no/such.xml: No such file or directory");
  EXPECT_TRUE(ReadSpecification("/").error().message.starts_with("/: Is a directory"));
}

}  // namespace
}  // namespace jprof::events
