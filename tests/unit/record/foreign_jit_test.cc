#include "record/tprof/foreign_jit.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "common/fd.h"

namespace jprof::record {
namespace {

namespace fs = std::filesystem;

class CopyTrustedTest : public testing::Test {
 protected:
  CopyTrustedTest() {
    std::string made = (fs::temp_directory_path() / "jprof-foreign-XXXXXX").string();
    folder_ = mkdtemp(made.data());
    fs::create_directories(folder_ / "in/tmp");
    fs::create_directories(folder_ / "out");
    Write("in/tmp/map", "400000 10 jitted\n");
  }
  ~CopyTrustedTest() override { fs::remove_all(folder_); }

  void Write(const char* name, std::string_view text) { std::ofstream(folder_ / name) << text; }

  // The error message, "copied" or "none".
  std::string Copy(const char* path, UserIds ids = UserIds::Own()) {
    const Fd root(open((folder_ / "in").c_str(), O_PATH | O_CLOEXEC)),
        out(open((folder_ / "out").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const auto copied = CopyTrusted(root.get(), path, ids, out.get(), "copy", room_);
    return copied ? (*copied ? "copied" : "none") : copied.error().message;
  }
  bool HasCopy() const { return fs::exists(folder_ / "out/copy"); }
  void ExpectRefused(const char* path, const char* words) {
    EXPECT_NE(Copy(path).find(words), std::string::npos) << Copy(path);
    EXPECT_FALSE(HasCopy());
  }

  fs::path folder_;
  uint64_t room_ = 1000;
};

TEST_F(CopyTrustedTest, AFileOfTheProcessUserIsCopied) {
  EXPECT_EQ(Copy("/tmp/map"), "copied");
  std::ifstream copy(folder_ / "out/copy");
  std::string line;
  std::getline(copy, line);
  EXPECT_EQ(line, "400000 10 jitted");
  EXPECT_EQ(room_, 1000u - 17);
  EXPECT_EQ(Copy("/tmp/no-such-map"), "none");
}

TEST_F(CopyTrustedTest, NoLinkIsFollowed) {
  Write("secret", "secret");
  fs::create_symlink(folder_ / "secret", folder_ / "in/tmp/link");
  fs::create_directory_symlink("tmp", folder_ / "in/also");
  ExpectRefused("/tmp/link", "symbolic link");
  ExpectRefused("/also/map", "symbolic link");
  fs::create_hard_link(folder_ / "secret", folder_ / "in/tmp/hard");
  ExpectRefused("/tmp/hard", "2 names");
}

TEST_F(CopyTrustedTest, NothingOutsideTheRootIsReached) {
  Write("secret", "secret");
  EXPECT_NE(Copy("/../secret"), "copied");
  EXPECT_FALSE(HasCopy());
}

TEST_F(CopyTrustedTest, OnlyRegularFiles) {
  ASSERT_EQ(mkfifo((folder_ / "in/tmp/fifo").c_str(), 0666), 0);
  ExpectRefused("/tmp/fifo", "not a regular file");  // does not wait for a writer
  ExpectRefused("/tmp", "not a regular file");
}

TEST_F(CopyTrustedTest, AllFilesTogetherStayBelowTheLimit) {
  fs::resize_file(folder_ / "in/tmp/map", 600);
  EXPECT_EQ(Copy("/tmp/map"), "copied");
  fs::remove(folder_ / "out/copy");
  ExpectRefused("/tmp/map", "600 bytes long; 400 bytes are left");
}

TEST_F(CopyTrustedTest, OnlyOfTheProcessUserAndWithItsRights) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  constexpr UserIds kOther = {4321, 4321};
  EXPECT_EQ(Copy("/tmp/map", kOther), "it belongs to user 0, its process to user 4321");
  ASSERT_EQ(chown((folder_ / "in/tmp/map").c_str(), 4321, 4321), 0);
  EXPECT_EQ(Copy("/tmp/map", kOther), "copied");
  fs::remove(folder_ / "out/copy");
  ASSERT_EQ(chmod((folder_ / "in/tmp/map").c_str(), 0), 0);  // root could read it
  EXPECT_EQ(Copy("/tmp/map", kOther), "it cannot be read: Permission denied");
  ExpectRefused("/tmp/map", "belongs to user 4321, its process to user 0");
}

TEST_F(CopyTrustedTest, TheCopyIsPrivate) {
  ASSERT_EQ(Copy("/tmp/map"), "copied");
  struct stat status;
  ASSERT_EQ(stat((folder_ / "out/copy").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777u, 0600u);
}

}  // namespace
}  // namespace jprof::record
