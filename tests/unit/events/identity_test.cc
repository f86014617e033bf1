#include "events/spec/identity.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "tests/unit/events/small_specification.h"

namespace jprof::events {
namespace {

Specification Small(const std::string& text = kSmall) {
  return ParseSpecification(text, "x.xml").value();
}

TEST(Identity, IdsAreForEver) {
  EXPECT_EQ(EventId("shop::orders::order_begin", 1), 0xa0ac1746u);
  EXPECT_NE(EventId("shop::orders::order_begin", 2), EventId("shop::orders::order_begin", 1));
}

TEST(Identity, EachChangeOfFieldsNeedsANewVersion) {
  const std::string kept = "# a comment\n\n" + IdentityLines(Small());
  ASSERT_TRUE(CheckIdentities(Small(), kept));
  const std::pair<const char*, const char*> changes[] = {
      {"name=\"duration\" type=\"int32\"", "name=\"duration\" type=\"int64\""},
      {"unit=\"ms\"", "unit=\"s\""},
      {"number=\"7\"", "number=\"8\""},
      {"name=\"card\"", "name=\"cheque\""},
      {"written=\"processor\"", "written=\"processor thread\""},
      {"name=\"stock\" type", "name=\"stok\" type"},
  };
  for (const auto& [from, to] : changes) {
    std::string text = SmallWith(from, to);
    if (std::string(from).find("stock") != std::string::npos)
      text.replace(text.find("counter field=\"stock\""), 21, "counter field=\"stok\"");
    const auto checked = CheckIdentities(Small(text), kept);
    ASSERT_FALSE(checked) << to;
    EXPECT_NE(checked.error().message.find("raise its version"), std::string::npos);
  }
  EXPECT_TRUE(CheckIdentities(Small(SmallWith("An order is done.", "It is done.")), kept));
  const auto unknown = CheckIdentities(Small(SmallWith("version=\"2\"", "version=\"3\"")), kept);
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("order_end version 3 is not among"), std::string::npos);
}

// Fails if a field of jprof's own events was changed without a new version.
TEST(Identity, OwnSpecificationsAreAsKept) {
  const std::filesystem::path folder(JPROF_EVENT_SPECIFICATIONS);
  std::ifstream file(folder / "identities.txt");
  const std::string kept(std::istreambuf_iterator<char>(file), {});
  std::set<std::string> names, layers;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".xml") continue;
    const auto read = ReadSpecification(entry.path());
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->name + ".xml", entry.path().filename());
    const auto checked = CheckIdentities(*read, kept);
    EXPECT_TRUE(checked) << checked.error().message;
    for (const EventClass& of : read->classes)
      for (const Event& event : of.events) names.insert(event.name);
  }
  for (const char* name : {"dispatch", "interrupt_begin", "collection_begin", "compiled",
                           "contended", "park_begin", "loaded", "page_fault", "system_call_begin",
                           "thread_begin", "thread_end", "sample", "mark"})
    EXPECT_TRUE(names.contains(name)) << name;
}

}  // namespace
}  // namespace jprof::events
