#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "a2n/a2n.h"
#include "a2n/demangle.h"
#include "a2n/symbol_table.h"
#include "tests/unit/temporary_directory.h"

namespace jprof::a2n {
namespace {

std::string Bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The line of the sample's source that has this mark.
uint32_t LineOf(const std::string& mark) {
  std::ifstream file(A2N_SAMPLE_SOURCE);
  uint32_t number = 1;
  for (std::string line; std::getline(file, line); ++number) {
    if (line.ends_with("// mark: " + mark)) return number;
  }
  return 0;
}

// An address of the function; 0: none.
uint64_t AddressOf(Resolver& resolver, const std::string& file, const std::string& name) {
  for (uint64_t address = 0; address < 0x10000; ++address) {
    if (resolver.ResolveInFile(file, address).symbol == name) return address;
  }
  return 0;
}

TEST(ImageTest, InlinedFramesInnermostFirst) {
  Resolver resolver;
  const uint64_t start = AddressOf(resolver, A2N_SAMPLE, "OuterOfSample");
  ASSERT_NE(start, 0u);
  const Place place = resolver.ResolveInFile(A2N_SAMPLE, start);
  EXPECT_EQ(place.symbol_start, start);
  std::vector<Frame> deepest;
  for (uint64_t address = start; address < start + place.symbol_size; ++address) {
    std::vector<Frame> frames = resolver.FramesInFile(A2N_SAMPLE, address);
    ASSERT_FALSE(frames.empty());
    EXPECT_EQ(frames.back().function, "OuterOfSample");
    if (frames.size() > deepest.size()) deepest = frames;
  }
  ASSERT_EQ(deepest.size(), 3u);
  EXPECT_EQ(deepest[0].function, "sample::Worker::Inner(int)");
#ifdef __clang__
  EXPECT_EQ(deepest[1].function, "sample::Middle(int)");
#else
  EXPECT_EQ(deepest[1].function,
            "sample::Middle");  // GCC emits no linkage name for functions that are only inlined
#endif
  EXPECT_EQ(deepest[1].line, LineOf("middle"));
  EXPECT_EQ(deepest[2].line, LineOf("outer"));
  for (const Frame& frame : deepest)
    EXPECT_EQ(std::filesystem::path(frame.file).filename(), "sample.cc");
}

TEST(ImageTest, MangledOnDemand) {
  Resolver plain({.demangle = false}), shown;
  const uint64_t address = AddressOf(shown, A2N_SAMPLE, "sample::Named(int)");
  ASSERT_NE(address, 0u);
  EXPECT_EQ(plain.ResolveInFile(A2N_SAMPLE, address).symbol, "_ZN6sample5NamedEi");
  EXPECT_EQ(plain.FramesInFile(A2N_SAMPLE, address).back().function, "_ZN6sample5NamedEi");
  EXPECT_EQ(shown.FramesInFile(A2N_SAMPLE, address).back().function, "sample::Named(int)");
}

TEST(ImageTest, WhatIsNoElfIsAComplaint) {
  Resolver resolver;
  EXPECT_EQ(resolver.ResolveInFile(A2N_SAMPLE_SOURCE, 1).outcome, Outcome::kNoSymbols);
  EXPECT_EQ(resolver.ResolveInFile("/dev/null", 1).outcome, Outcome::kNoSymbols);
  EXPECT_EQ(resolver.ResolveInFile("/", 1).outcome, Outcome::kNoSymbols);
  EXPECT_EQ(resolver.FramesInFile("/", 1).size(), 1u);
  EXPECT_EQ(resolver.Complaints().size(), 3u);
}

void AskAbout(const std::string& path) {
  Resolver resolver({.debug_folders = {}});
  resolver.Map(1, 0, {.start = 0x100000, .length = 0x10000, .path = path});
  for (uint64_t address = 0; address < 0x4000; address += 0x61) {
    resolver.ResolveInFile(path, address);
    resolver.FramesInFile(path, address);
    resolver.Frames(1, 0x100000 + address, 1);
    resolver.Code(1, 0x100000 + address, 300, 1);
  }
}

TEST(ImageTest, CutShortAnywhereDoesNotCrash) {
  const TemporaryDirectory directory("a2n");
  const std::string whole = Bytes(A2N_SAMPLE), path = directory.path() / "cut";
  ASSERT_GT(whole.size(), 10'000u);
  for (size_t size = 0; size < whole.size(); size += size < 2000 ? 13 : whole.size() / 150) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << whole.substr(0, size);
    AskAbout(path);
  }
}

TEST(ImageTest, ChangedBytesDoNotCrash) {
  const TemporaryDirectory directory("a2n");
  const std::string whole = Bytes(A2N_SAMPLE), path = directory.path() / "changed";
  uint64_t random = 12345;
  for (int round = 0; round < 150; ++round) {
    std::string bytes = whole;
    for (int change = 0; change < 40; ++change) {
      random = random * 6364136223846793005 + 1442695040888963407;
      // Half of the changes are in the headers at both ends, which contain the offsets and sizes.
      const size_t near_end = bytes.size() - 1 - (random >> 40) % 3000;
      const size_t place = change % 4 == 0   ? (random >> 40) % 1024
                           : change % 4 == 1 ? near_end
                                             : (random >> 33) % bytes.size();
      bytes[place] = static_cast<char>(random >> 20);
    }
    bytes.replace(0, 16, whole, 0, 16);
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
    AskAbout(path);
  }
}

TEST(DemangleTest, Names) {
  EXPECT_EQ(Demangle("main"), "main");
  EXPECT_EQ(Demangle("_Z3fooi"), "foo(int)");
  EXPECT_EQ(Demangle("_Znonsense"), "_Znonsense");
  EXPECT_EQ(Demangle("_Z3fooi.constprop.0"), "foo(int) [clone .constprop.0]");
  EXPECT_EQ(Demangle("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE"),
            "core::fmt::Formatter::pad");
  EXPECT_EQ(Demangle("_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$"
                     "3bar17h930b740aa94f1d3aE"),
            "<Test + 'static as foo::Bar<Test>>::bar");
}

std::string Found(const SymbolTable& table, uint64_t address) {
  const Symbol* symbol = table.Find(address);
  return symbol == nullptr ? "-" : table.NameOf(*symbol);
}

TEST(SymbolTableTest, PicksTheBestNameAndTheInnermost) {
  using enum SymbolTable::Binding;
  SymbolTable table;
  const auto add = [&](uint64_t address, uint64_t size, bool function, SymbolTable::Binding binding,
                       const char* name) {
    table.Add({address, size, 0, SymbolTable::Rank(function, binding), !function}, name);
  };
  add(100, 10, true, kLocal, "local");
  add(100, 10, true, kWeak, "weak");
  add(100, 10, true, kGlobal, "__global");
  add(100, 10, true, kGlobal, "global");
  add(100, 0, false, kGlobal, "label");
  add(200, 100, true, kLocal, "outer");
  add(220, 10, true, kLocal, "inner");
  add(240, 0, false, kGlobal, "label_inside");
  add(300, 0, true, kLocal, "to_the_next");
  add(310, 0, false, kLocal, "to_the_end");
  add(900, 0, true, kLocal, "nowhere");
  const std::pair<uint64_t, uint64_t> limits[] = {{50, 330}};
  table.Build(limits);
  EXPECT_EQ(Found(table, 99), "-");
  EXPECT_EQ(Found(table, 100), "global");
  EXPECT_EQ(Found(table, 109), "global");
  EXPECT_EQ(Found(table, 110), "-");
  EXPECT_EQ(Found(table, 200), "outer");
  EXPECT_EQ(Found(table, 220), "inner");
  EXPECT_EQ(Found(table, 230), "outer");
  EXPECT_EQ(Found(table, 245), "outer");
  EXPECT_EQ(Found(table, 299), "outer");
  EXPECT_EQ(Found(table, 309), "to_the_next");
  EXPECT_EQ(Found(table, 310), "to_the_end");
  EXPECT_EQ(Found(table, 329), "to_the_end");
  EXPECT_EQ(Found(table, 330), "-");
  EXPECT_EQ(Found(table, 900), "-");
}

}  // namespace
}  // namespace jprof::a2n
