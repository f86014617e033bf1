#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>

#include "a2n/a2n.h"
#include "tests/unit/temporary_directory.h"

namespace jprof::a2n {
extern "C" [[gnu::noinline, gnu::used, gnu::visibility("default")]] int KnownToTheTest(int value) {
  return value + 7;
}
[[gnu::noinline, gnu::used]] int KnownMethod(const std::string& text, int times) {
  return static_cast<int>(text.size()) * times;
}

namespace {

constexpr Pid kPid = 4'100'000'000;  // does not exist

Mapping File(uint64_t start, uint64_t length, const std::string& path) {
  return {
      .start = start, .length = length, .file_offset = 0, .path = path, .build_id = {}, .inode = 0};
}

JittedCode Code(uint64_t start, uint64_t length, Nanos loaded, Nanos unloaded,
                const std::string& name) {
  JittedCode code;
  code.start = start;
  code.length = length;
  code.loaded = loaded;
  code.unloaded = unloaded;
  code.name = name;
  return code;
}

std::string At(Resolver& resolver, uint64_t address, Nanos when, Pid pid = kPid) {
  const Place place = resolver.Resolve(pid, address, when);
  return std::string(place.module) + " " + std::string(place.symbol);
}

TEST(TimelineTest, AddressesAreReusedOverTime) {
  Resolver resolver;
  // Added in arbitrary order. 0x1000 is used three times, the second time by a method that begins
  // elsewhere.
  resolver.Jitted(kPid, Code(0x1000, 0x100, 300, kForever, "third"));
  resolver.Jitted(kPid, Code(0x1000, 0x100, 100, 200, "first"));
  resolver.Jitted(kPid, Code(0x0f80, 0x200, 200, 250, "second"));
  EXPECT_EQ(At(resolver, 0x1000, 99), "JITCODE NoSymbolFound");  // not loaded yet
  EXPECT_EQ(At(resolver, 0x1000, 100), "JITCODE first");         // loaded: included
  EXPECT_EQ(At(resolver, 0x10ff, 199), "JITCODE first");
  EXPECT_EQ(At(resolver, 0x1100, 150), "JITCODE NoSymbolFound");  // after it
  EXPECT_EQ(At(resolver, 0x0fff, 150), "JITCODE NoSymbolFound");  // before it
  EXPECT_EQ(At(resolver, 0x1000, 200), "JITCODE second");         // unloaded: excluded
  EXPECT_EQ(At(resolver, 0x117f, 249), "JITCODE second");
  EXPECT_EQ(At(resolver, 0x1000, 250), "JITCODE NoSymbolFound");  // between two loads
  EXPECT_EQ(At(resolver, 0x1000, 300), "JITCODE third");
  EXPECT_EQ(At(resolver, 0x1000, kForever), "JITCODE third");
  EXPECT_EQ(At(resolver, 0x5000, 150), "NoModule NoSymbols");
}

TEST(TimelineTest, PlaceOfJittedCodeIsComplete) {
  Resolver resolver;
  JittedCode code = Code(0x1000, 8, 5, 9, "pkg/Class.method()V");
  code.code = {1, 2, 3, 4, 5, 6, 7, 8};
  code.lines = {{0, 10}, {4, 11}};
  code.source = "Class.java";
  resolver.Jitted(kPid, code);
  const Place place = resolver.Resolve(kPid, 0x1005, 6);
  EXPECT_EQ(place.outcome, Outcome::kSymbol);
  EXPECT_EQ(place.symbol_start, 0x1000u);
  EXPECT_EQ(place.symbol_size, 8u);
  EXPECT_EQ(place.offset, 5u);
  ASSERT_NE(place.jitted, nullptr);
  EXPECT_EQ(place.jitted->type, 'J');
  const auto frames = resolver.Frames(kPid, 0x1005, 6);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].function, "pkg/Class.method()V");
  EXPECT_EQ(frames[0].file, "Class.java");
  EXPECT_EQ(frames[0].line, 11u);
  EXPECT_EQ(resolver.Code(kPid, 0x1002, 3, 6), (std::vector<uint8_t>{3, 4, 5}));
  EXPECT_EQ(resolver.Code(kPid, 0x1006, 100, 6), (std::vector<uint8_t>{7, 8}));
  EXPECT_TRUE(resolver.Code(kPid, 0x1006, 100, 9).empty());
}

TEST(TimelineTest, MissedUnloadIsEndedByTheNextLoad) {
  Resolver resolver;
  resolver.Jitted(kPid, Code(0x1000, 0x100, 100, kForever, "old"));
  resolver.Jitted(kPid, Code(0x1080, 0x100, 200, kForever, "new"));
  EXPECT_EQ(At(resolver, 0x1090, 150), "JITCODE old");
  EXPECT_EQ(At(resolver, 0x1090, 250), "JITCODE new");
}

TEST(ProcessTest, ForkedChildHasWhatTheParentHadThen) {
  Resolver resolver;
  resolver.Map(kPid, 10, File(0x1000, 0x1000, "/no/a"));
  resolver.Jitted(kPid, Code(0x9000, 0x100, 15, kForever, "jit"));
  resolver.Fork(kPid, kPid + 1, 20);
  resolver.Map(kPid, 30, File(0x1000, 0x1000, "/no/later"));
  resolver.Map(kPid + 1, 40, File(0x1800, 0x1000, "/no/own"));
  EXPECT_EQ(At(resolver, 0x1000, 25, kPid + 1), "/no/a NoSymbols");
  EXPECT_EQ(At(resolver, 0x1000, 35, kPid + 1), "/no/a NoSymbols");
  EXPECT_EQ(At(resolver, 0x1000, 35, kPid), "/no/later NoSymbols");
  EXPECT_EQ(At(resolver, 0x1900, 45, kPid + 1), "/no/own NoSymbols");
  EXPECT_EQ(At(resolver, 0x1900, 39, kPid + 1), "/no/a NoSymbols");
  EXPECT_EQ(At(resolver, 0x1900, 45, kPid), "/no/later NoSymbols");
  EXPECT_EQ(At(resolver, 0x9000, 25, kPid + 1), "JITCODE jit");
  EXPECT_EQ(At(resolver, 0x1000, 19, kPid + 1), "NoModule NoSymbols");  // does not exist yet
}

TEST(ProcessTest, ExecEmptiesAndBeforeItStaysKnown) {
  Resolver resolver;
  resolver.Map(kPid, 10, File(0x1000, 0x1000, "/no/a"));
  resolver.Jitted(kPid, Code(0x9000, 0x100, 12, kForever, "jit"));
  resolver.Jitted(kPid, Code(0x9100, 0x100, kAlways, kForever, "always"));
  resolver.Exec(kPid, 20);
  resolver.Map(kPid, 21, File(0x1000, 0x800, "/no/b"));
  EXPECT_EQ(At(resolver, 0x1000, 19), "/no/a NoSymbols");
  EXPECT_EQ(At(resolver, 0x1000, 20), "NoModule NoSymbols");
  EXPECT_EQ(At(resolver, 0x1000, 21), "/no/b NoSymbols");
  EXPECT_EQ(At(resolver, 0x1900, 21), "NoModule NoSymbols");
  EXPECT_EQ(At(resolver, 0x9000, 19), "JITCODE jit");
  EXPECT_EQ(At(resolver, 0x9000, 20), "NoModule NoSymbols");
  EXPECT_EQ(At(resolver, 0x9100, 19), "JITCODE always");
  EXPECT_EQ(At(resolver, 0x9100, 25), "NoModule NoSymbols");
  // Code without times belongs to the life that is known when the code is added.
  resolver.Jitted(kPid, Code(0x9000, 0x100, kAlways, kForever, "of the new life"));
  EXPECT_EQ(At(resolver, 0x9000, 25), "JITCODE of the new life");
  EXPECT_EQ(At(resolver, 0x9000, 19), "JITCODE jit");
}

TEST(ProcessTest, ExitEndsAndThePidMayComeAgain) {
  Resolver resolver;
  resolver.Map(kPid, 10, File(0x1000, 0x1000, "/no/a"));
  resolver.Exit(kPid, 20);
  EXPECT_EQ(At(resolver, 0x1000, 19), "/no/a NoSymbols");
  EXPECT_EQ(At(resolver, 0x1000, 20), "NoModule NoSymbols");
  resolver.Map(kPid, 30, File(0x5000, 0x1000, "/no/b"));
  EXPECT_EQ(At(resolver, 0x5000, 30), "/no/b NoSymbols");
  EXPECT_EQ(At(resolver, 0x1000, 30), "NoModule NoSymbols");
  resolver.Exit(kPid, 40);
  resolver.Fork(kPid + 1, kPid, 50);
  EXPECT_EQ(At(resolver, 0x5000, 50), "NoModule NoSymbols");
  EXPECT_EQ(At(resolver, 0x5000, 35), "/no/b NoSymbols");
}

TEST(ProcessTest, LongChainsOfForksAreStillRight) {
  Resolver resolver;
  resolver.Map(kPid, 1, File(0x1000, 0x1000, "/no/a"));
  resolver.Map(kPid, 2, File(0x1400, 0x100, "/no/hole"));
  for (Pid i = 0; i < 100; ++i) {
    resolver.Fork(kPid + i, kPid + i + 1, 10 + i);
    resolver.Map(kPid + i, 10 + i + 1, File(0x1000, 0x1000, "/no/too late"));
  }
  EXPECT_EQ(At(resolver, 0x1000, 1000, kPid + 100), "/no/a NoSymbols");
  EXPECT_EQ(At(resolver, 0x1480, 1000, kPid + 100), "/no/hole NoSymbols");
}

TEST(ProcessTest, OverlappingMapsReplace) {
  Resolver resolver;
  resolver.Map(kPid, 10, File(0x1000, 0x3000, "/no/a"));
  resolver.Map(kPid, 20, File(0x2000, 0x1000, "/no/b"));
  resolver.Map(kPid, 20, File(0x2800, 0x100, "/no/c"));  // at the same time: the later one
  EXPECT_EQ(At(resolver, 0x2000, 15), "/no/a NoSymbols");
  EXPECT_EQ(At(resolver, 0x1fff, 25), "/no/a NoSymbols");
  EXPECT_EQ(At(resolver, 0x2000, 25), "/no/b NoSymbols");
  EXPECT_EQ(At(resolver, 0x2880, 25), "/no/c NoSymbols");
  EXPECT_EQ(At(resolver, 0x3000, 25), "/no/a NoSymbols");
}

TEST(LadderTest, EachOutcome) {
  Resolver resolver;
  EXPECT_EQ(resolver.Resolve(kPid, 0x10, 1).outcome, Outcome::kNoModule);
  resolver.Map(kPid, 0, File(0x10000, 0x1000, "//anon"));
  EXPECT_EQ(At(resolver, 0x10010, 1), "//anon NoSymbols");
  EXPECT_TRUE(resolver.Complaints().empty());
  resolver.Map(kPid, 0, File(0x20000, 0x1000, "/no/such/file"));
  EXPECT_EQ(At(resolver, 0x20010, 1), "/no/such/file NoSymbols");
  EXPECT_EQ(At(resolver, 0x20020, 1), "/no/such/file NoSymbols");
  ASSERT_EQ(resolver.Complaints().size(), 1u);
  EXPECT_NE(resolver.Complaints()[0].text.find("No such file or directory"), std::string::npos)
      << resolver.Complaints()[0].text;
  EXPECT_TRUE(resolver.Complaints()[0].missing);
  EXPECT_EQ(resolver.statistics().modules_failed, 1u);
  resolver.Map(kPid, 0,
               File(0x30000, 0x1000, A2N_SAMPLE));  // the ELF header: nothing of that file's code
  EXPECT_EQ(resolver.Resolve(kPid, 0x30010, 1).outcome, Outcome::kNoSymbolFound);
  EXPECT_EQ(resolver.Resolve(kPid, 0x30010, 1).symbol, "NoSymbolFound");
  EXPECT_EQ(resolver.statistics().modules_opened, 1u);
}

TEST(LadderTest, AnotherBuildIdIsNotBelieved) {
  Resolver resolver;
  Mapping mapping = File(0x10000, 0x100000, A2N_SAMPLE);
  mapping.build_id = "00112233445566778899aabbccddeeff00112233";
  resolver.Map(kPid, 0, mapping);
  EXPECT_EQ(resolver.Resolve(kPid, 0x11200, 1).outcome, Outcome::kNoSymbols);
  ASSERT_EQ(resolver.Complaints().size(), 1u);
  EXPECT_NE(resolver.Complaints()[0].text.find(mapping.build_id), std::string::npos)
      << resolver.Complaints()[0].text;
  EXPECT_FALSE(resolver.Complaints()[0].missing);
}

TEST(LadderTest, ProcessesShareModules) {
  Resolver resolver;
  for (Pid i = 0; i < 50; ++i) {
    resolver.Map(kPid + i, 0, File(0x10000 * (i + 1), 0x100000, A2N_SAMPLE));
    resolver.Resolve(kPid + i, 0x10000 * (i + 1), 1);
  }
  EXPECT_EQ(resolver.statistics().modules_opened, 1u);
}

TEST(LadderTest, JittedCodeOfUnknownTimeDoesNotHideFiles) {
  Resolver resolver;
  resolver.Map(kPid, 10, File(0x1000, 0x1000, "/no/a"));
  resolver.Map(kPid, 10, File(0x3000, 0x1000, "/memfd:doublemapper (deleted)"));
  resolver.Jitted(kPid, Code(0x1000, 0x3000, kAlways, kForever, "stale"));
  EXPECT_EQ(At(resolver, 0x1000, 20), "/no/a NoSymbols");
  EXPECT_EQ(At(resolver, 0x3000, 20), "JITCODE stale");
}

TEST(OwnProcessTest, FindsItsOwnFunctions) {
  Resolver resolver;
  ASSERT_TRUE(resolver.MapsOf(static_cast<Pid>(getpid()), kAlways).has_value());
  const auto pid = static_cast<Pid>(getpid());
  const auto known = reinterpret_cast<uint64_t>(&KnownToTheTest);
  const Place place = resolver.Resolve(pid, known + 1, 5);
  EXPECT_EQ(place.symbol, "KnownToTheTest");
  EXPECT_EQ(place.symbol_start, known);
  EXPECT_EQ(place.offset, 1u);
  EXPECT_EQ(std::filesystem::path(place.module).filename(), "a2n_test");
  const Place method = resolver.Resolve(pid, reinterpret_cast<uint64_t>(&KnownMethod), 5);
  EXPECT_TRUE(method.symbol.starts_with("jprof::a2n::KnownMethod(std::")) << method.symbol;
  const std::vector<uint8_t> code = resolver.Code(pid, known, 4, 5);
  ASSERT_EQ(code.size(), 4u);
  EXPECT_EQ(std::memcmp(code.data(), reinterpret_cast<const void*>(known), 4), 0);
}

TEST(OwnProcessTest, AgreesWithTheDynamicLinker) {
  Resolver resolver;
  const auto pid = static_cast<Pid>(getpid());
  ASSERT_TRUE(resolver.MapsOf(pid, kAlways).has_value());
  for (const char* name : {"qsort", "getenv", "fopen", "pthread_create"}) {
    void* function = dlsym(RTLD_DEFAULT, name);
    ASSERT_NE(function, nullptr) << name;
    Dl_info info = {};
    ASSERT_NE(dladdr(function, &info), 0);
    const Place place = resolver.Resolve(pid, reinterpret_cast<uint64_t>(function), 5);
    EXPECT_EQ(place.outcome, Outcome::kSymbol);
    EXPECT_EQ(place.symbol_start, reinterpret_cast<uint64_t>(info.dli_saddr));
    // For several names of one function, another name may be displayed.
    EXPECT_NE(place.symbol.find(std::string_view(name).substr(0, 4)), std::string::npos)
        << name << ": " << place.symbol;
  }
}

TEST(OwnProcessTest, VdsoAndVsyscall) {
#if defined(__x86_64__)
  Resolver resolver;
  EXPECT_EQ(At(resolver, 0xffffffffff600400, 1), "[vsyscall] time");
  EXPECT_EQ(At(resolver, 0xffffffffff600c00, 1), "[vsyscall] NoSymbolFound");
  void* vdso = dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (vdso == nullptr) GTEST_SKIP() << "no vdso here";
  void* function = dlsym(vdso, "__vdso_clock_gettime");
  ASSERT_NE(function, nullptr);
  const auto pid = static_cast<Pid>(getpid());
  ASSERT_TRUE(resolver.MapsOf(pid, kAlways).has_value());
  const Place place = resolver.Resolve(pid, reinterpret_cast<uint64_t>(function), 1);
  EXPECT_EQ(place.module, "[vdso]");
  EXPECT_NE(place.symbol.find("clock_gettime"), std::string_view::npos) << place.symbol;
#endif
}

// The file of a program that was deleted during its run is read through /proc.
TEST(OwnProcessTest, DeletedFilesOfLiveProcesses) {
  const TemporaryDirectory directory("a2n");
  const std::string copy = directory.path() / "deleted";
  std::filesystem::copy_file("/bin/sleep", copy);
  const pid_t child = fork();
  if (child == 0) {
    execl(copy.c_str(), copy.c_str(), "60", nullptr);
    _exit(127);
  }
  std::string maps;
  for (int i = 0; i < 200 && maps.find(copy) == std::string::npos; ++i) {
    usleep(10'000);
    std::ifstream file("/proc/" + std::to_string(child) + "/maps");
    maps.assign(std::istreambuf_iterator<char>(file), {});
  }
  usleep(50'000);
  std::filesystem::remove(copy);
  Resolver resolver;
  ASSERT_TRUE(resolver.MapsOf(static_cast<Pid>(child), kAlways).has_value());
  std::ifstream file("/proc/" + std::to_string(child) + "/maps");
  uint64_t start = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.find("r-xp") != std::string::npos && line.find(copy) != std::string::npos)
      start = std::stoull(line, nullptr, 16);
  }
  ASSERT_NE(start, 0u);
  const Place place = resolver.Resolve(static_cast<Pid>(child), start + 0x40, 1);
  const bool may_read = [&] {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(
             "/proc/" + std::to_string(child) + "/map_files", error))
      return std::ifstream(entry.path()).good();
    return false;
  }();
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(place.module, copy + " (deleted)");
  if (resolver.statistics().modules_opened == 1) return;
  EXPECT_NE(resolver.Complaints().at(0).text.find("deleted"), std::string::npos)
      << resolver.Complaints().at(0).text;
  EXPECT_FALSE(may_read);
  GTEST_SKIP() << "map_files needs more rights than these";
}

// The seconds for a million lookups around qsort; `found`: how many found a symbol.
double SecondsOfAMillion(Resolver& resolver, Pid pid, uint64_t& found) {
  const auto base = reinterpret_cast<uint64_t>(dlsym(RTLD_DEFAULT, "qsort"));
  resolver.Resolve(pid, base, 5);
  std::mt19937_64 random(1);
  std::vector<uint64_t> addresses(100'000);
  for (uint64_t& address : addresses) address = base - 100'000 + random() % 200'000;
  const auto start = std::chrono::steady_clock::now();
  for (int pass = 0; pass < 10; ++pass) {
    for (const uint64_t address : addresses)
      found += resolver.Resolve(pid, address, 5).outcome == Outcome::kSymbol;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  return took.count();
}

TEST(SpeedTest, OtherProcessesDoNotMatter) {
#ifdef JPROF_SANITIZED
  GTEST_SKIP() << "a ratio of speeds, which a sanitizer changes";
#endif
  const auto pid = static_cast<Pid>(getpid());
  Resolver alone, crowded;
  ASSERT_TRUE(alone.MapsOf(pid, kAlways).has_value());
  ASSERT_TRUE(crowded.MapsOf(pid, kAlways).has_value());
  for (Pid other = 1; other < 5000; ++other) crowded.Fork(pid, kPid + other, 1);
  uint64_t found = 0, found_alone = 0;
  const double among_many = SecondsOfAMillion(crowded, pid, found);
  const double by_itself = SecondsOfAMillion(alone, pid, found_alone);
  std::printf("%.2f million a second, among 5,000 processes %.2f\n", 1 / by_itself, 1 / among_many);
  EXPECT_EQ(found, found_alone);
  EXPECT_GT(found, 100'000u);  // without debug information only exported functions have names
  EXPECT_LT(among_many, 5 * by_itself);
}

}  // namespace
}  // namespace jprof::a2n
