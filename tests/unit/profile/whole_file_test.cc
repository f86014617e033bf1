#include "profile/files/whole_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace jprof::profile {
namespace {

namespace fs = std::filesystem;

class WholeFile : public testing::Test {
 protected:
  void SetUp() override { fs::create_directory(directory_); }
  void TearDown() override { fs::remove_all(directory_); }
  size_t Files() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(directory_), {}));
  }
  std::string Read(const fs::path& path) const {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

  const fs::path directory_ =
      fs::temp_directory_path() / ("jprof-whole-file-" + std::to_string(getpid()));
};

TEST_F(WholeFile, ReplacesAFileAndLeavesNothingElse) {
  const std::string path = directory_ / "meta.json";
  ASSERT_TRUE(WriteWholeFile(path, std::string(100'000, 'a')));
  ASSERT_TRUE(WriteWholeFile(path, "second"));
  EXPECT_EQ(Read(path), "second");
  EXPECT_EQ(Files(), 1u);
}

TEST_F(WholeFile, AFailureNamesTheFileAndLeavesNothing) {
  const fs::path taken = directory_ / "meta.json";
  fs::create_directory(taken);  // a file cannot replace a directory
  const auto written = WriteWholeFile(taken, "text");
  ASSERT_FALSE(written);
  EXPECT_TRUE(written.error().message.starts_with("cannot write " + taken.string() + ": "));
  EXPECT_EQ(Files(), 1u);
  EXPECT_FALSE(WriteWholeFile(directory_ / "none" / "meta.json", "text"));
}

}  // namespace
}  // namespace jprof::profile
