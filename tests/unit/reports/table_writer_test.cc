// The writers of tables: one table of unprintable texts and extreme numbers in every format.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "profile/files/printable_text.h"
#include "reports/print/formats.h"

namespace jprof::reports {
namespace {

struct Line {
  std::string name;
  double number = 0;
  uint64_t count = 0;
};

std::string Printed(Format format, const std::vector<Line>& lines) {
  char* text = nullptr;
  size_t size = 0;
  std::FILE* file = open_memstream(&text, &size);
  Output out(file);
  Columns<Line> columns(EntryOf(format).view);
  columns.Add(kPeople | kCsv | kJson, {"n", 6},
              [](const Line& line) { return Value::Number(line.number); });
  columns.Add(kCsv | kJson, {"fixed"},
              [](const Line& line) { return Value::Fixed(line.number, 2); });
  columns.Add(kPeople | kCsv | kJson, {"count", 5},
              [](const Line& line) { return Value::Integer(line.count); });
  columns.Add(kPeople | kCsv | kJson, {"none", 4}, [](const Line&) { return Value::Missing(); });
  columns.Add(kJson, {.name = "list", .shape = Column::Shape::kList, .cells = 2},
              [](const Line& line, size_t i) { return Value::Integer(line.count + i); });
  columns.Add(kPeople | kCsv | kJson, {"name, it"},
              [](const Line& line) { return Value::Text(line.name); });
  const Layout layout;
  const auto writer = EntryOf(format).make(layout, out);
  writer->Begin(columns.columns());
  for (const Line& line : lines) writer->Row(columns.Of(line));
  writer->End();
  EXPECT_TRUE(out.Finish());
  std::fclose(file);
  std::string printed(text, size);
  std::free(text);
  return printed;
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(TableWriter, Text) {
  EXPECT_EQ(Printed(Format::kText, {{"a", 1.25, 3}, {"b", -2, 123456}}),
            "     n count none name, it\n"
            "   1.3     3    - a\n"
            "    -2 123456    - b\n");
}

// 34,000 characters in one line help nobody; programs get all of them.
TEST(TableWriter, LongNamesAreShortenedForPeople) {
  const std::string name = "begin" + std::string(34'000, 'x') + "end";
  for (const Format format : {Format::kText, Format::kMarkdown}) {
    const std::string printed = Printed(format, {{name, 1, 1}});
    EXPECT_LT(printed.size(), 1500u);
    EXPECT_NE(printed.find("(34008 bytes)"), std::string::npos) << printed;
    EXPECT_NE(printed.find("beginx"), std::string::npos);
    EXPECT_NE(printed.find("xend"), std::string::npos);
  }
  for (const Format format : {Format::kJson, Format::kCsv})
    EXPECT_NE(Printed(format, {{name, 1, 1}}).find(name), std::string::npos);
}

TEST(TableWriter, ShorteningKeepsCharactersWhole) {
  for (size_t before = 0; before < 3; ++before) {
    std::string name(before, 'x');
    for (int i = 0; i < 1000; ++i) name += "\u20ac";
    const std::string shown = Shortened(name);
    EXPECT_EQ(shown, profile::CleanText(shown));
    EXPECT_LT(shown.size(), 1000u);
  }
}

TEST(TableWriter, TextOfABound) {
  EXPECT_EQ(TextOf(Value::Below(7)), "<7");
  char* text = nullptr;
  size_t size = 0;
  std::FILE* file = open_memstream(&text, &size);
  Output out(file);
  std::vector<Column> columns = {{"BASE", 6}, {"NAME"}};
  const Layout layout;
  const auto writer = EntryOf(Format::kText).make(layout, out);
  writer->Begin(columns);
  writer->Row(std::vector<Value>{Value::Below(42), Value::Text("a")});
  writer->Row(std::vector<Value>{Value::Below(1234567), Value::Text("b")});
  EXPECT_TRUE(out.Finish());
  std::fclose(file);
  EXPECT_EQ(std::string(text, size), "  BASE NAME\n   <42 a\n<1234567 b\n");
  std::free(text);
}

TEST(TableWriter, CsvHasNoFormulas) {
  for (const std::string name : {"=1+1", "+1", "-1", "@x", "=HYPERLINK(\"http://x\")"}) {
    const std::string printed = Printed(Format::kCsv, {{name, -1, 1}});
    EXPECT_NE(printed.find("\n-1,-1.00,1,,\"'" + name.substr(0, 2)), std::string::npos) << printed;
  }
  for (const std::string name : {"a=b", "C.main()V", "-", ""}) {
    EXPECT_NE(Printed(Format::kCsv, {{name, -1, 1}}).find("1,," + name + "\n"), std::string::npos);
  }
}

TEST(TableWriter, CsvQuotesAndCleans) {
  EXPECT_EQ(Printed(Format::kCsv, {{"a,\"b\"", 1, 1}, {"c\nd\x01\xff", kNan, 2}}),
            "n,fixed,count,none,\"name, it\"\n"
            "1,1.00,1,,\"a,\"\"b\"\"\"\n"
            "0,nan,2,,c?d?\xef\xbf\xbd\n");
}

TEST(TableWriter, JsonOfHostileTextAndOddNumbers) {
  const std::vector<Line> lines = {{"q\"\\/\n\x01\xff\xed\xa0\x80", kNan, 0},
                                   {"", INFINITY, UINT64_MAX},
                                   {std::string(20000, 'x'), -1e300, 1}};
  const auto json = nlohmann::json::parse(Printed(Format::kJson, lines));
  ASSERT_EQ(json["rows"].size(), 3u);
  EXPECT_EQ(json["rows"][0]["name, it"], "q\"\\/??\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(json["rows"][0]["n"], 0);
  EXPECT_TRUE(json["rows"][0]["fixed"].is_null());
  EXPECT_TRUE(json["rows"][1]["fixed"].is_null());
  EXPECT_TRUE(json["rows"][1]["none"].is_null());
  EXPECT_EQ(json["rows"][1]["count"], UINT64_MAX);
  EXPECT_EQ(json["rows"][2]["name, it"], lines[2].name);
  EXPECT_EQ(json["rows"][2]["list"], nlohmann::json::parse("[1,2]"));
}

TEST(TableWriter, MarkdownEscapesWhatWouldBeMarkup) {
  EXPECT_EQ(
      Printed(Format::kMarkdown, {{"a|b`c\\<d>*_~[x](y)&lt;", 1.25, 3}, {"e\nf\x01", -2, 12}}),
      "| n | count | none | name, it |\n"
      "| ---: | ---: | ---: | :--- |\n"
      "| 1.3 | 3 | - | a\\|b\\`c\\\\\\<d\\>\\*\\_\\~\\[x\\](y)\\&lt; |\n"
      "| -2 | 12 | - | e?f? |\n");
}

TEST(TableWriter, MarkdownKeepsTheIndentationOfNames) {
  EXPECT_NE(Printed(Format::kMarkdown, {{"  J:A.b()", 1, 1}}).find("| &nbsp;&nbsp;J:A.b() |\n"),
            std::string::npos);
}

TEST(TableWriter, EmptyTables) {
  EXPECT_EQ(Printed(Format::kText, {}), "     n count none name, it\n");
  EXPECT_EQ(Printed(Format::kCsv, {}), "n,fixed,count,none,\"name, it\"\n");
  EXPECT_EQ(Printed(Format::kMarkdown, {}),
            "| n | count | none | name, it |\n| ---: | ---: | ---: | :--- |\n");
  EXPECT_EQ(Printed(Format::kJson, {}), "{\"rows\":[]}\n");
}

TEST(Tenths, HugeAndNegative) {
  EXPECT_EQ(Tenths(-1e300).text(), "-922337203685477580.8");
  EXPECT_EQ(Tenths(1e300).text(), "922337203685477580.7");
  EXPECT_EQ(Tenths(-0.26).text(), "-0.3");
  EXPECT_EQ(Tenths(-0.01).text(), "0");
}

TEST(Formats, AFormatThatIsNotOfferedIsRefusedWithTheList) {
  const auto refused = CheckOffered("methods", kTableFormats, Format::kCollapsed);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, Error::Kind::kWrongUse);
  EXPECT_NE(refused.error().message.find("text, json, csv, markdown"), std::string::npos);
  EXPECT_TRUE(CheckOffered("scs", kTreeFormats, Format::kCollapsed));
}

}  // namespace
}  // namespace jprof::reports
