// What is generated of the small specification, against tests/golden/events. After a change that is
// meant, write the files again: JPROF_WRITE_GOLDEN=1 events_test.
#include "events/generate/generate.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/events/small_specification.h"

namespace jprof::events {
namespace {

std::string Read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Generate, IsAsTheGoldenFiles) {
  const Specification small = ParseSpecification(kSmall, "x.xml").value();
  for (const Language& language : kLanguages) {
    for (const GeneratedFile& file : language.generate(small)) {
      // With .txt, because they are laid out otherwise than sources of this tree.
      const auto path = std::filesystem::path(JPROF_GOLDEN) / (file.name + ".txt");
      if (getenv("JPROF_WRITE_GOLDEN") != nullptr) std::ofstream(path) << file.text;
      EXPECT_EQ(file.text, Read(path)) << path;
    }
  }
}

TEST(Generate, TextsCannotEndCommentsOrLiterals) {
  const std::string hostile = "*/ &quot; \\ ?? /* %s {}";
  const auto parsed = ParseSpecification(SmallWith("An order arrives.", hostile), "x.xml");
  ASSERT_TRUE(parsed) << parsed.error().message;
  const GeneratedFiles files = GenerateC(*parsed);
  EXPECT_NE(files[0].text.find(" * +/ \" \\ ?? /+ %s {}\n"), std::string::npos);
  EXPECT_NE(files[1].text.find("<documentation>*/ &quot; \\\\ \\077\\077 /* %s {}<"),
            std::string::npos);
}

}  // namespace
}  // namespace jprof::events
