// The method table: marks of methods, and when memory runs out.
#include "jprof/engine/method_table.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

namespace jprof::engine {
namespace {

class Numbered : public MethodSource {
 public:
  bool Describe(uint64_t method, MethodText* text) override {
    const int length = snprintf(text->scratch, sizeof text->scratch, "m%lu", method);
    text->class_name = "Class";
    text->name = {text->scratch, static_cast<size_t>(length)};
    text->signature = "()V";
    text->is_intrinsic = method % 2 == 1;
    return true;
  }
  FrameKind Classify(uint64_t) override { return FrameKind::kInterpreted; }
};

constexpr int kNoLimit = 77;  // exit status: the system does not enforce RLIMIT_AS

// Adds, in a child process, more methods than the first table has slots, without memory for another
// table. Exit status 0: all methods with a slot keep their ids, all others share one, and each
// search ended.
[[noreturn]] void FillWithoutMemory(const std::string& directory) {
  profile::Writer writer;
  profile::WriterOptions options;
  options.directory = directory + "/p";
  MethodTable table;
  const auto filter = [](std::string_view, std::string_view name) { return !name.ends_with("7"); };
  if (!writer.Open(options) || !table.Open(&writer, filter)) _exit(10);
  alarm(600);  // aborts a search that does not end
  size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t bytes = pages * sysconf(_SC_PAGESIZE) + (16 << 10);
  const rlimit none = {bytes, bytes};  // the current size: every new mapping fails
  if (setrlimit(RLIMIT_AS, &none) != 0) _exit(11);
  void* const page = mmap(nullptr, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page != MAP_FAILED) _exit(kNoLimit);
  Numbered source;
  constexpr uint32_t kSlots = 4096, kMethods = 6000;
  uint32_t known = 0;
  for (uint32_t i = 0; i < kMethods; ++i) {
    const profile::MethodId id = table.Find(source, i).id;
    if ((i % 10 == 7) != (id == kIgnoredMethod)) _exit(12);
    if (id != kUnknownMethod && id != kIgnoredMethod) known = i + 1;
  }
  if (known < kSlots / 2 || known > kSlots + 1) _exit(13);
  if (table.Find(source, 4).id == kUnknownMethod) _exit(14);
  if (table.Find(source, kMethods + 1).id != kUnknownMethod) _exit(15);
  if (writer.header()->name_failures == 0) _exit(16);
  _exit(0);
}

TEST(MethodTableTest, ATableThatCannotGrowStillResolves) {
#ifdef JPROF_SANITIZED
  GTEST_SKIP() << "a sanitizer does not live without memory";
#endif
  char name[] = "/tmp/jprof-methods-XXXXXX";
  const std::string directory = mkdtemp(name);
  bool limited = true;
  const auto ended = [&](int status) {
    limited = !WIFEXITED(status) || WEXITSTATUS(status) != kNoLimit;
    return !limited || testing::ExitedWithCode(0)(status);
  };
  EXPECT_EXIT(FillWithoutMemory(directory), ended, "");
  std::filesystem::remove_all(directory);
  if (!limited) GTEST_SKIP() << "RLIMIT_AS does not limit this process (an emulator's)";
}

TEST(MethodTableTest, SitesAreNamedByBytecodeAndLine) {
  MethodText text;
  const Site longest = {UINT32_MAX, UINT32_MAX}, unknown = {17, 0};
  SiteNames names;
  ASSERT_TRUE(names.Describe(reinterpret_cast<uint64_t>(&longest), &text));
  EXPECT_EQ(text.name, "4294967295:4294967295");
  ASSERT_TRUE(names.Describe(reinterpret_cast<uint64_t>(&unknown), &text));
  EXPECT_EQ(text.name, "17:0");
  EXPECT_EQ(text.class_name, "");
  EXPECT_EQ(text.flags, profile::kMethodSite);
}

TEST(MethodTableTest, IntrinsicsAreMarkedIfTheyMayBeUsed) {
  char name[] = "/tmp/jprof-methods-XXXXXX";
  const std::string directory = mkdtemp(name);
  for (const bool used : {false, true}) {
    profile::Writer writer;
    profile::WriterOptions options;
    options.directory = directory + (used ? "/used" : "/unused");
    MethodTable table;
    ASSERT_TRUE(writer.Open(options) && table.Open(&writer, {}));
    if (used) table.MarkIntrinsics();
    Numbered source;
    for (const uint64_t method : {0, 1}) {
      const uint64_t at = writer.header()->methods_bytes;
      table.Find(source, method);
      const auto* record = reinterpret_cast<const profile::MethodRecord*>(writer.methods() + at);
      EXPECT_EQ(record->flags, used && method == 1 ? profile::kMethodIntrinsic : 0);
    }
  }
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace jprof::engine
