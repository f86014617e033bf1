// FlushFolder, checked by its system calls and in the page tables.
#include "record/place/flush_folder.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

namespace {

std::set<std::string>* flushed = nullptr;  // names of the files; set during a test
std::string broken;                        // the file for which fsync fails

std::string NameOf(int fd) {
  return std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd)).filename();
}

}  // namespace

extern "C" int fsync(int fd) {
  static const auto real = reinterpret_cast<int (*)(int)>(dlsym(RTLD_NEXT, "fsync"));
  if (flushed != nullptr) flushed->insert(NameOf(fd));
  if (!broken.empty() && NameOf(fd) == broken) {
    errno = EIO;
    return -1;
  }
  return real(fd);
}

namespace jprof::record {
namespace {

namespace fs = std::filesystem;

class FlushTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/jprof-flush-XXXXXX";
    parent_ = mkdtemp(name);
    folder_ = parent_ + "/p";
    fs::create_directory(folder_);
    directory_ = open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    flushed = &flushed_;
  }
  void TearDown() override {
    flushed = nullptr;
    broken.clear();
    close(directory_);
    fs::remove_all(parent_);
  }

  void Write(const std::string& name) { std::ofstream(folder_ + "/" + name) << "text"; }

  std::string parent_, folder_;
  int directory_ = -1;
  std::set<std::string> flushed_;
};

TEST_F(FlushTest, EveryFileAndTheNamesAreFlushed) {
  Write("control");
  Write("nodes");
  Write("meta.json");
  ASSERT_TRUE(FlushFolder(directory_));
  EXPECT_EQ(flushed_, (std::set<std::string>{"control", "nodes", "meta.json", "p",
                                             fs::path(parent_).filename()}));
}

TEST_F(FlushTest, WhatIsNoFileIsLeftAlone) {
  ASSERT_EQ(mkfifo((folder_ + "/pipe").c_str(), 0600), 0);
  fs::create_symlink("/dev/null", folder_ + "/link");
  EXPECT_TRUE(FlushFolder(directory_));
  EXPECT_FALSE(flushed_.contains("pipe"));
  EXPECT_FALSE(flushed_.contains("null"));
}

TEST_F(FlushTest, AFileThatCannotBeWrittenIsNamed) {
  Write("control");
  Write("nodes");
  broken = "nodes";
  const auto result = FlushFolder(directory_);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "cannot write nodes to the disk: Input/output error");
}

// KiB of the mapping at `address` that have not been written to the disk.
long DirtyKib(const void* address) {
  char begin[32];
  snprintf(begin, sizeof begin, "%lx-", reinterpret_cast<unsigned long>(address));
  std::ifstream maps("/proc/self/smaps");
  long dirty = 0;
  bool inside = false;
  for (std::string line; std::getline(maps, line);) {
    if (line.find('-') < line.find(' ')) inside = line.starts_with(begin);
    if (inside && (line.starts_with("Shared_Dirty:") || line.starts_with("Private_Dirty:")))
      dirty += std::stol(line.substr(line.find(':') + 1));
  }
  return dirty;
}

TEST_F(FlushTest, WhatWasWrittenIntoAMappingIsOnTheDisk) {
  struct statfs status;
  ASSERT_EQ(statfs(parent_.c_str(), &status), 0);
  constexpr long kTmpfs = 0x01021994;
  if (status.f_type == kTmpfs) GTEST_SKIP() << "/tmp is in memory";
  constexpr size_t kBytes = 64 << 10;
  const int fd = open((folder_ + "/nodes").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  ASSERT_EQ(posix_fallocate(fd, 0, kBytes), 0);
  void* mapping = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  ASSERT_NE(mapping, MAP_FAILED);
  memset(mapping, 1, kBytes);
  EXPECT_EQ(DirtyKib(mapping), long{kBytes >> 10});
  EXPECT_TRUE(FlushFolder(directory_));
  EXPECT_EQ(DirtyKib(mapping), 0);
  munmap(mapping, kBytes);
}

}  // namespace
}  // namespace jprof::record
