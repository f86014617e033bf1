// Tests the parts of the fleet that need no server.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "fleet/push/identity.h"
#include "fleet/push/run_row.h"
#include "fleet/read/context_rows.h"
#include "fleet/read/questions.h"
#include "fleet/read/selection.h"
#include "fleet/schema/schema.h"
#include "fleet/server/row_binary.h"
#include "fleet/server/row_pieces.h"
#include "fleet/server/url.h"

namespace jprof::fleet {
namespace {

TEST(FleetUrl, HasPartsAndDefaults) {
  const auto url = ParseUrl("clickhouse://me%40x@db.example:9/fleet?service=a%20b&label.zone=eu+1");
  ASSERT_TRUE(url) << url.error().message;
  EXPECT_EQ(url->user, "me@x");
  EXPECT_EQ(url->host, "db.example");
  EXPECT_EQ(url->port, 9);
  EXPECT_EQ(url->Get("service"), "a b");
  EXPECT_EQ(url->Get("label.zone"), "eu 1");
  EXPECT_EQ(url->Http(true), "http://me%40x@db.example:9");
  EXPECT_EQ(ParseUrl("clickhouses://h/d")->Http(false), "https://h:8443");
  EXPECT_EQ(ParseUrl("clickhouse://[::1]/d")->port, 8123);
}

TEST(FleetUrl, IsItsOwnText) {
  for (const char* text : {"clickhouse://a+b@h:1/d", "clickhouse://me%40x%2F%1B@h:1/d"})
    EXPECT_EQ(ParseUrl(ParseUrl(text)->Text())->user, ParseUrl(text)->user) << text;
  EXPECT_EQ(ParseUrl("clickhouse://a+b@h:1/d")->user, "a+b");
  EXPECT_EQ(ParseUrl("clickhouse://h/d?label.a=%-1")->Get("label.a"), "%-1");
  EXPECT_TRUE(ParseUrl("clickhouse://h:1/d?label.owner=me@x:y/z"));
}

TEST(FleetUrl, DoesNotPrintAPassword) {
  for (const char* text : {"clickhouse://u:97secret@h/d", "clickhouse://u:97/secret@h/d",
                           "clickhouse://u%3Asecret@h/d", "clickhouse://u:97?secret@h/d",
                           "clickhouse://u:se/cret@h/d", "http://u:secret@h/d"}) {
    const auto url = ParseUrl(text);
    ASSERT_FALSE(url) << text;
    EXPECT_EQ(url.error().message.find("ecret"), std::string::npos) << url.error().message;
    EXPECT_EQ(url.error().message.find("97"), std::string::npos) << url.error().message;
  }
}

TEST(FleetUrl, TheTextOfAUrlIsThatUrl) {
  for (const std::string text : {"clickhouse://a%2Fb@h:8123/d", "clickhouse://%1B%5B31m@h:1/d",
                                 "clickhouse://me@h:8123/d", "clickhouses://h:8443/d"}) {
    const auto url = ParseUrl(text);
    ASSERT_TRUE(url) << url.error().message;
    EXPECT_EQ(url->Text(), text);
  }
}

TEST(FleetUrl, RefusesPasswordsAndOddNames) {
  for (const char* text : {"clickhouse://u:p@h/d", "clickhouse://h", "clickhouse://h/", "x",
                           "clickhouse://h/d;e", "clickhouse://h:0/d", "clickhouse:///d"})
    EXPECT_FALSE(ParseUrl(text)) << text;
}

TEST(FleetSelection, ParsesMomentsAndRefusesOthers) {
  constexpr uint64_t kNow = 1'800'000'000'000'000'000;
  const auto of = [&](const std::string& query) {
    return SelectionOf(*ParseUrl("clickhouse://h/d?" + query), kNow);
  };
  EXPECT_EQ(of("from=2h")->from_ns, kNow - 7200'000'000'000);
  EXPECT_EQ(of("from=1970-01-02")->from_ns, 86400'000'000'000u);
  EXPECT_EQ(of("to=1970-01-02")->to_ns, 2 * 86400'000'000'000u - 1);
  EXPECT_EQ(of("to=1970-1-2")->to_ns, 2 * 86400'000'000'000u - 1);
  EXPECT_EQ(of("to=9999-12-31")->to_ns, UINT64_MAX);
  EXPECT_EQ(of("min_share=0")->min_share, 0);
  for (const char* query :
       {"from=", "from=2026", "to=5w", "min_share=1", "min_share=x", "sevice=a"})
    EXPECT_FALSE(of(query)) << query;
}

TEST(FleetRows, AreReadAsWrittenAndNotBeyondTheirEnd) {
  std::string text;
  RowWriter out(text);
  out.Put(uint16_t{7});
  out.Text(std::string(300, 'x'));
  out.Put(int64_t{-5});
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    RowReader in(std::string_view(text).substr(0, cut));
    const auto number = in.Get<uint16_t>();
    const auto name = in.Text();
    const auto last = in.Get<int64_t>();
    EXPECT_EQ(in.ok(), cut == text.size());
    if (!in.ok()) continue;
    EXPECT_EQ(number, 7);
    EXPECT_EQ(name.size(), 300u);
    EXPECT_EQ(last, -5);
  }
  RowReader huge("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
  EXPECT_TRUE(huge.Text().empty());
  EXPECT_FALSE(huge.ok());
}

// RFC 4122 as others compute it: uuid.uuid5(uuid.NAMESPACE_DNS, "python.org") in Python.
TEST(FleetIdentity, IsAUuidOfVersion5) {
  const unsigned char dns[] = {0x6b, 0xa7, 0xb8, 0x10, 0x9d, 0xad, 0x11, 0xd1,
                               0x80, 0xb4, 0x00, 0xc0, 0x4f, 0xd4, 0x30, 0xc8};
  Fingerprint space;
  std::copy(std::begin(dns), std::end(dns), space.bytes.begin());
  std::string text;
  for (const char c : Below(space, "python.org").bytes)
    text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  EXPECT_EQ(text, "886313e13b8a53729b900c9aee199e5d");
}

TEST(FleetIdentity, TellsMethodsApart) {
  const Frame a = {FrameClass::kMethod, {"ab", "c", "", 0}};
  const Frame b = {FrameClass::kMethod, {"a", "bc", "", 0}};
  const Frame thread = {FrameClass::kThread, {"ab", "c", "", 0}};
  EXPECT_NE(a.Key(), b.Key());
  EXPECT_NE(a.Number(), thread.Number());
  EXPECT_NE(KeyBelow(a, true, FrameKind::kJitted), KeyBelow(a, true, FrameKind::kRejitted));
  EXPECT_EQ(KeyBelow(a, false, FrameKind::kJitted), KeyBelow(a, false, FrameKind::kRejitted));
}

TEST(FleetRunRow, PacksHeaders) {
  profile::ControlHeader header;
  header.lost_events = 17;
  const std::string packed = Packed(header);
  EXPECT_LT(packed.size(), 300u);
  const auto unpacked = Unpacked(packed);
  ASSERT_TRUE(unpacked);
  EXPECT_EQ(unpacked->lost_events, 17u);
  EXPECT_FALSE(Unpacked("nonsense"));
  EXPECT_FALSE(Unpacked(packed.substr(0, packed.size() / 2)));
}

std::vector<HistoryRow> Changes(const std::vector<std::vector<double>>& shares) {
  std::vector<HistoryRow> rows(shares.size());
  MarkChanges(shares, rows);
  return rows;
}

TEST(FleetChanges, AreFoundWhereTheLevelChanges) {
  std::vector<std::vector<double>> shares;
  for (int day = 0; day < 20; ++day) {
    const double level = day < 7 ? 0.1 : day < 14 ? 0.2 : 0.12;
    shares.push_back({level + 0.001 * (day % 3), level - 0.001 * (day % 2), level});
  }
  const auto rows = Changes(shares);
  for (size_t day = 0; day < rows.size(); ++day)
    EXPECT_EQ(rows[day].changes, day == 7 || day == 14) << day;
}

TEST(FleetChanges, AreNotFoundInEqualOrFewValues) {
  EXPECT_FALSE(Changes({{1, 1}, {1, 1}, {1, 1}})[1].changes);
  EXPECT_FALSE(Changes({{0.1, 0.2}, {0.9, 1}})[1].changes);
  EXPECT_TRUE(Changes({{1, 1, 1}, {2, 2, 2}})[1].changes);
}

TEST(FleetScores, UseMedianDeviations) {
  const auto scores = RobustScores({1, 2, 3, 4, 100}, 0);
  EXPECT_DOUBLE_EQ(scores[2], 0);
  EXPECT_NEAR(scores[4], 97 / 1.4826, 1e-9);
  EXPECT_DOUBLE_EQ(RobustScores({5, 5, 5, 6}, 0.5)[3], 2);
}

TEST(FleetInterval, IsStudents) {
  // Of 1, 2, 3: mean 2, deviation 1, t(2) = 4.302653.
  EXPECT_NEAR(ArmOfMean(6, 14, 3), 4.302653 / std::sqrt(3.0), 1e-6);
  EXPECT_EQ(ArmOfMean(6, 14, 1), 0);
}

TEST(FleetContexts, HidesWhatIsSmallWithItsCallees) {
  const auto row = [](uint32_t above, uint64_t calls) {
    ContextRow made;
    made.above = above;
    made.sums.push_back({.counts = {calls}});
    return made;
  };
  ContextRows contexts;
  // A thread, a hot method, a small one, one below it, and a small caller of a hot one.
  contexts.rows = {
      row(profile::kNoRecord, 0), row(0, 1000), row(0, 1), row(2, 2), row(0, 1), row(4, 500)};
  EXPECT_EQ(HideSmall(contexts, 0.01), 2u);
  std::vector<bool> hidden;
  for (const ContextRow& one : contexts.rows) hidden.push_back(one.hidden);
  EXPECT_EQ(hidden, (std::vector<bool>{false, false, true, true, false, false}));
}

TEST(FleetSchema, HasVersions) {
  ASSERT_FALSE(SchemaFiles().empty());
  EXPECT_NE(std::string(SchemaFiles()[0]).find("counts{local}"), std::string::npos);
}

// Rows of a text and a number, whose bytes arrive in pieces of each size.
TEST(RowPieces, AreTheRowsOfTheWhole) {
  std::vector<std::pair<std::string, uint16_t>> expected;
  std::string bytes;
  RowWriter writer(bytes);
  for (uint16_t i = 0; i < 60; ++i) {
    expected.emplace_back(std::string(i % 7 == 0 ? 300 : i % 5, 'x'), i);
    writer.Text(expected.back().first);
    writer.Put(i);
  }
  for (size_t size = 1; size <= bytes.size(); size += size < 20 ? 1 : 37) {
    std::vector<std::pair<std::string, uint16_t>> taken;
    RowPieces pieces([&](RowReader& reader) {
      const std::string text(reader.Text());
      const auto number = reader.Get<uint16_t>();
      if (reader.ok()) taken.emplace_back(text, number);
    });
    for (size_t at = 0; at < bytes.size(); at += size)
      pieces.Add(std::string_view(bytes).substr(at, size));
    EXPECT_TRUE(pieces.End());
    EXPECT_EQ(taken, expected) << size;
  }
}

TEST(RowPieces, NoticeThatTheLastRowIsCutOff) {
  for (size_t size = 0; size <= 6; ++size) {
    size_t taken = 0;
    RowPieces pieces([&](RowReader& reader) {
      reader.Get<uint16_t>();
      taken += reader.ok();
    });
    pieces.Add(std::string_view("abcdef").substr(0, size));
    EXPECT_EQ(pieces.End(), size % 2 == 0);
    EXPECT_EQ(taken, size / 2);
  }
}

// The work is in proportion to the bytes also for a row of many pieces.
TEST(RowPieces, ReadALongRowFewTimes) {
  std::string bytes;
  RowWriter(bytes).Text(std::string(1 << 20, 'x'));
  size_t read = 0;
  RowPieces pieces([&](RowReader& reader) {
    ++read;
    reader.Text();
  });
  for (size_t at = 0; at < bytes.size(); at += 100)
    pieces.Add(std::string_view(bytes).substr(at, 100));
  EXPECT_TRUE(pieces.End());
  EXPECT_LT(read, 30u);
}

}  // namespace
}  // namespace jprof::fleet
