#include "record/place/profile_copy.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

namespace jprof::record {
namespace {

namespace fs = std::filesystem;

class ProfileCopyTest : public testing::Test {
 protected:
  ProfileCopyTest() {
    std::string made = (fs::temp_directory_path() / "jprof-copy-XXXXXX").string();
    folder_ = mkdtemp(made.data());
    from_ = folder_ / "from";
    to_ = folder_ / "to";
    fs::create_directory(from_);
  }
  ~ProfileCopyTest() override { fs::remove_all(folder_); }

  static std::string Contents(const fs::path& path, off_t from = 0) {
    std::ifstream file(path, std::ios::binary);
    file.seekg(from);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }

  fs::path folder_, from_, to_;
};

TEST_F(ProfileCopyTest, CopiesDataAndHoles) {
  constexpr off_t kSize = off_t{1} << 36;
  std::ofstream(from_ / "nodes") << "begin";
  ASSERT_EQ(truncate((from_ / "nodes").c_str(), kSize), 0);
  {
    std::ofstream file(from_ / "nodes", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(kSize - 3);
    file << "end";
  }
  std::ofstream(from_ / "meta.json");  // empty
  const auto copied = CopyProfile(from_, to_);
  ASSERT_TRUE(copied) << copied.error().message;
  EXPECT_EQ(fs::file_size(to_ / "meta.json"), 0u);
  EXPECT_EQ(Contents(to_ / "nodes", kSize - 3), "end");
  char begin[8] = {};
  std::ifstream(to_ / "nodes").read(begin, sizeof(begin));
  EXPECT_EQ(std::string(begin, 8), std::string("begin\0\0\0", 8));
  struct stat about = {};
  ASSERT_EQ(stat((to_ / "nodes").c_str(), &about), 0);
  EXPECT_EQ(about.st_size, kSize);
  EXPECT_LT(about.st_blocks * 512, 1 << 20);
}

TEST_F(ProfileCopyTest, CopiesOnlyRegularFilesOfAProfile) {
  std::ofstream(from_ / "control") << "control";
  std::ofstream(from_ / "notes.txt") << "mine";
  fs::create_symlink("notes.txt", from_ / "trace");
  ASSERT_EQ(mkfifo((from_ / "methods").c_str(), 0600), 0);
  fs::create_directory(from_ / "extra");
  ASSERT_TRUE(CopyProfile(from_, to_));
  EXPECT_EQ(Contents(to_ / "control"), "control");
  EXPECT_EQ(std::distance(fs::directory_iterator(to_), {}), 1);
}

TEST_F(ProfileCopyTest, AnErrorNamesTheDirectory) {
  fs::create_directory(to_);
  const auto copied = CopyProfile(from_, to_);
  ASSERT_FALSE(copied);
  EXPECT_EQ(copied.error().message, "cannot make " + to_.string() + ": File exists");
}

}  // namespace
}  // namespace jprof::record
