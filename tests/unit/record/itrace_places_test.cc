// Where calls enter compiled Java methods, in this process with a made log of jitted code.
#include "record/itrace/itrace_places.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "common/fd.h"
#include "profile/log/jit_log.h"

namespace jprof::record {
namespace {

using Bytes = std::vector<uint8_t>;

// cmp of the receiver's class; jump; padding.
const Bytes kCheck = {0x49, 0x3b, 0xc2, 0x0f, 0x85, 0, 0, 0, 0, 0x90, 0x90, 0x90};
const Bytes kTouch = {0x89, 0x84, 0x24, 0x00, 0xc0, 0xfe, 0xff};  // mov [rsp - 0x14000], eax
const Bytes kFrame = {0x55, 0x48, 0x83, 0xec, 0x20};              // push rbp; sub rsp, 0x20

Bytes Code(std::initializer_list<Bytes> parts) {
  Bytes code;
  for (const Bytes& part : parts) code.insert(code.end(), part.begin(), part.end());
  code.resize(64, 0x90);
  return code;
}

TEST(JavaEntries, AreBehindTheCheckOfTheReceiver) {
  EXPECT_EQ(JavaEntries(1000, Code({kCheck, kTouch, kFrame})), std::vector<uint64_t>{1012});
  EXPECT_EQ(JavaEntries(1000, Code({kTouch, kFrame})), std::vector<uint64_t>{1000});
  EXPECT_EQ(JavaEntries(1000, Code({kCheck, kFrame})), std::vector<uint64_t>{1012});
  EXPECT_EQ(JavaEntries(1000, Code({})), std::vector<uint64_t>{1000});
}

class PlaceFinderTest : public testing::Test {
 protected:
  PlaceFinderTest() {
    const Fd folder(open(folder_.c_str(), O_RDONLY | O_DIRECTORY));
    EXPECT_TRUE(log_.Open(folder.get()));
  }
  ~PlaceFinderTest() override { std::filesystem::remove_all(folder_); }

  void Load(const Bytes& code, const char* name) {
    log_.Load({.address = reinterpret_cast<uint64_t>(code.data()),
               .length = static_cast<uint32_t>(code.size()),
               .class_name = "com/acme/Foo",
               .name = name},
              false);
  }
  std::vector<uint64_t> Find() { return finder_.Find(); }

  static std::string MakeFolder() {
    char name[] = "/tmp/jprof-places-XXXXXX";
    return mkdtemp(name);
  }

  const std::string folder_ = MakeFolder();
  profile::JitLogWriter log_;
  PlaceFinder finder_{static_cast<uint32_t>(getpid()), "com.acme.Foo.bar", folder_};
};

TEST_F(PlaceFinderTest, FindsWhatIsCompiledLater) {
  EXPECT_EQ(Find(), std::vector<uint64_t>());
  const Bytes first = Code({kCheck, kTouch, kFrame}), other = first, second = Code({kFrame});
  Load(first, "bar");
  const uint64_t entry = reinterpret_cast<uint64_t>(first.data()) + kCheck.size();
  EXPECT_EQ(Find(), std::vector<uint64_t>{entry});
  Load(other, "other");
  EXPECT_EQ(Find(), std::vector<uint64_t>{entry});
  Load(second, "bar");
  EXPECT_EQ(Find(), (std::vector{entry, reinterpret_cast<uint64_t>(second.data())}));
  log_.Unload(reinterpret_cast<uint64_t>(first.data()));
  EXPECT_EQ(Find(), std::vector{reinterpret_cast<uint64_t>(second.data())});
}

// The tracer looks again while its own trap is there.
TEST_F(PlaceFinderTest, ATrapDoesNotMoveThePlace) {
  Bytes code = Code({kCheck, kTouch, kFrame});
  const Bytes other = code;
  Load(code, "bar");
  const std::vector<uint64_t> places = Find();
  ASSERT_EQ(places.size(), 1u);
  code[kCheck.size()] = 0xcc;
  Load(other, "other");
  EXPECT_EQ(Find(), places);
}

}  // namespace
}  // namespace jprof::record
