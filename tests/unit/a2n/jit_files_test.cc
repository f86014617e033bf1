#include "a2n/jit_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace jprof::a2n {
namespace {

// A file that exists until its path has been used.
class Written {
 public:
  explicit Written(const std::string& bytes)
      : path_(testing::TempDir() + "a2n_jit_file-" + std::to_string(getpid())) {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes;
  }
  Written(const Written&) = delete;
  Written& operator=(const Written&) = delete;
  ~Written() { std::filesystem::remove(path_); }
  operator const std::string&() const { return path_; }

 private:
  const std::string path_;
};

TEST(PerfMapTest, Lines) {
  std::string damage;
  const auto codes =
      ReadPerfMap(Written("7f0010 20 Foo.bar(int, long)\n0x00007f0040 0x10 stub\n"), &damage);
  ASSERT_TRUE(codes.has_value());
  ASSERT_EQ(codes->size(), 2u);
  EXPECT_EQ((*codes)[0].start, 0x7f0010u);
  EXPECT_EQ((*codes)[0].length, 0x20u);
  EXPECT_EQ((*codes)[0].name, "Foo.bar(int, long)");
  EXPECT_EQ((*codes)[0].loaded, kAlways);
  EXPECT_EQ((*codes)[0].unloaded, kForever);
  EXPECT_EQ((*codes)[1].start, 0x7f0040u);
  EXPECT_EQ(damage, "");
}

TEST(PerfMapTest, LaterLinesReplace) {
  Resolver resolver;
  std::string damage;
  for (JittedCode& code : ParsePerfMap("1000 100 old\n1000 80 new\n", damage))
    resolver.Jitted(7, std::move(code));
  EXPECT_EQ(resolver.Resolve(7, 0x1000, 5).symbol, "new");
  EXPECT_EQ(resolver.Resolve(7, 0x1090, 5).symbol, "old");
}

TEST(PerfMapTest, DamageIsNamed) {
  std::string damage;
  const auto codes = ReadPerfMap(
      Written("1000 10 good\nwhat\nffffffffffffffff 10 x\n2000 0 empty\n3000 10 last"), &damage);
  ASSERT_TRUE(codes.has_value());
  EXPECT_EQ(codes->size(), 2u);
  EXPECT_NE(damage.find("3 of 5 lines"), std::string::npos) << damage;
  EXPECT_NE(damage.find("first is line 2"), std::string::npos) << damage;
  EXPECT_FALSE(ReadPerfMap(Written("binary\x01\x02")).has_value());
  EXPECT_TRUE(ReadPerfMap(Written("")).has_value());
  EXPECT_FALSE(ReadPerfMap("/no/such/map").has_value());
}

TEST(PerfMapTest, APipeInItsPlaceIsNotWaitedFor) {
  const std::string path = testing::TempDir() + "a2n_pipe-" + std::to_string(getpid());
  std::filesystem::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_FALSE(ReadPerfMap(path).has_value());
  std::filesystem::remove(path);
}

// Composes a jitdump.
class Dump {
 public:
  explicit Dump(uint64_t flags = 0) {
    U32(0x4A695444), U32(1), U32(40), U32(62), U32(0), U32(99), U64(1), U64(flags);
  }
  Dump& Load(uint64_t time, uint64_t address, const std::string& code, uint64_t index,
             const std::string& name) {
    Head(0, 16 + 40 + name.size() + 1 + code.size(), time);
    U32(99), U32(100), U64(address), U64(address), U64(code.size()), U64(index);
    bytes_ += name + '\0' + code;
    return *this;
  }
  Dump& Move(uint64_t time, uint64_t from, uint64_t to, uint64_t size, uint64_t index) {
    Head(1, 16 + 48, time);
    U32(99), U32(100), U64(to), U64(from), U64(to), U64(size), U64(index);
    return *this;
  }
  Dump& Lines(uint64_t address) {
    Head(2, 16 + 16 + (16 + 7) + (16 + 2), 1);
    U64(address), U64(2);
    U64(address), U32(10), U32(0), bytes_ += std::string("A.java") + '\0';
    U64(address + 2), U32(11), U32(0), bytes_ += std::string("\xff") + '\0';
    return *this;
  }
  Dump& Unknown() {
    Head(77, 16 + 5, 1);
    bytes_ += "12345";
    return *this;
  }
  Dump& Close() {
    Head(3, 16, 1);
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  void Head(uint32_t id, size_t size, uint64_t time) {
    U32(id), U32(static_cast<uint32_t>(size)), U64(time);
  }
  void U32(uint32_t value) { bytes_.append(reinterpret_cast<const char*>(&value), 4); }
  void U64(uint64_t value) { bytes_.append(reinterpret_cast<const char*>(&value), 8); }
  std::string bytes_;
};

const Dump& Good() {
  static const Dump dump = Dump()
                               .Lines(0x1000)
                               .Load(100, 0x1000, "code", 1, "first")
                               .Unknown()
                               .Load(200, 0x1000, "other code", 2, "second")
                               .Move(300, 0x1000, 0x5000, 10, 2)
                               .Close();
  return dump;
}

TEST(JitDumpTest, LoadsMovesAndLines) {
  std::string damage;
  auto codes = ReadJitDump(Written(Good().bytes()), &damage);
  ASSERT_TRUE(codes.has_value());
  EXPECT_EQ(damage, "");
  ASSERT_EQ(codes->size(), 3u);
  EXPECT_EQ((*codes)[0].name, "first");
  EXPECT_EQ((*codes)[0].loaded, 100u);
  EXPECT_EQ((*codes)[0].code, (std::vector<uint8_t>{'c', 'o', 'd', 'e'}));
  EXPECT_EQ((*codes)[0].source, "A.java");
  EXPECT_EQ((*codes)[0].lines, (std::vector<std::pair<uint32_t, uint32_t>>{{0, 10}, {2, 11}}));
  EXPECT_TRUE((*codes)[1].lines.empty());
  EXPECT_EQ((*codes)[1].unloaded, 300u);
  EXPECT_EQ((*codes)[2].start, 0x5000u);
  Resolver resolver;
  for (JittedCode& code : *codes) resolver.Jitted(99, std::move(code));
  EXPECT_EQ(resolver.Resolve(99, 0x1001, 150).symbol, "first");
  EXPECT_EQ(resolver.Resolve(99, 0x1001, 250).symbol, "second");
  EXPECT_EQ(resolver.Resolve(99, 0x5001, 299).symbol, "NoSymbolFound");
  EXPECT_EQ(resolver.Resolve(99, 0x5001, 300).symbol, "second");
}

TEST(JitDumpTest, TimesOfTheProcessorAreNotBelieved) {
  std::string damage;
  const auto codes = ParseJitDump(Dump(1).Load(100, 0x1000, "code", 1, "first").bytes(), damage);
  ASSERT_TRUE(codes.has_value());
  EXPECT_EQ((*codes)[0].loaded, kAlways);
}

TEST(JitDumpTest, CutAtEveryByte) {
  const std::string& whole = Good().bytes();
  size_t most = 0;
  for (size_t size = 0; size < whole.size(); ++size) {
    std::string damage;
    const auto codes = ParseJitDump(std::string(whole, 0, size), damage);
    EXPECT_EQ(codes.has_value(), size >= 40) << size;
    if (!codes) continue;
    EXPECT_GE(codes->size(), most) << size;
    most = codes->size();
  }
  EXPECT_EQ(most, 3u);
  std::string damage;
  EXPECT_TRUE(ParseJitDump(std::string(whole, 0, 100), damage).has_value());
  EXPECT_NE(damage.find("cut short"), std::string::npos) << damage;
}

TEST(JitDumpTest, EveryByteChanged) {
  const std::string& whole = Good().bytes();
  for (size_t place = 0; place < whole.size(); ++place) {
    for (const int change : {0x01, 0x80, 0xff}) {
      std::string bytes = whole, damage;
      bytes[place] = static_cast<char>(bytes[place] ^ change);
      ParseJitDump(bytes, damage);
    }
  }
  std::string damage, swapped = whole;
  std::reverse(swapped.begin(), swapped.begin() + 4);
  EXPECT_NE(ParseJitDump(swapped, damage).error().message.find("byte order"), std::string::npos);
}

TEST(PerfMapTest, CutAtEveryByte) {
  const std::string whole = "7f0010 20 Foo.bar(int, long)\n0x00007f0040 0x10 stub\n";
  for (size_t size = 0; size <= whole.size(); ++size) {
    std::string damage;
    EXPECT_LE(ParsePerfMap(std::string(whole, 0, size), damage).size(), 2u);
  }
}

}  // namespace
}  // namespace jprof::a2n
