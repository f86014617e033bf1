// Files that are longer than memory but have few blocks on disk: the cost of reading depends only
// on these blocks.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>

#include "profile/log/jit_log.h"
#include "profile/log/sample_log.h"
#include "profile/read/reader.h"
#include "profile/read/reader_trace.h"
#include "tests/unit/profile/synthetic_profile.h"

namespace jprof::profile {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kLong = uint64_t{1} << 38;  // 275 GB: 4 billion nodes

class Sparse : public testing::Test {
 protected:
  Sparse()
      : directory_(fs::path(testing::TempDir()) /
                   ("sparse-" + std::to_string(getpid()) + ".jprof")) {
    fs::remove_all(directory_);
    made_.with_trace = true;
    const MethodId method = made_.AddMethod("app/Main", "run", "()V");
    const size_t thread = made_.AddThread("main", 1);
    made_.Enter(thread, method, FrameKind::kInterpreted, 5);
    made_.Exit(thread, 7);
    made_.Write(directory_);
  }
  ~Sparse() override { fs::remove_all(directory_); }

  void Lengthen(const char* name, uint64_t size = kLong) {
    fs::resize_file(directory_ / name, size);
  }

  void Put(const char* name, uint64_t offset, const void* bytes, size_t size) {
    std::fstream file(directory_ / name, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(offset));
    file.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(size));
    ASSERT_TRUE(file.good());
  }

  // The header claims that everything exists, and more.
  void Claim(const std::function<void(ControlHeader&)>& change) {
    change(made_.header);
    Put(kControlFile, 0, &made_.header, sizeof(made_.header));
  }

  Reader Open() {
    auto reader = Reader::Open(directory_.string());
    EXPECT_TRUE(reader) << (reader ? "" : reader.error().message);
    return *std::move(reader);
  }

  SyntheticProfile made_;
  const fs::path directory_;
};

// Runs `read` in a process limited to 256 MiB more than it has now, and to 20 s of CPU time. It
// must print nothing and exit normally.
void InLittleMemory(const std::function<void()>& read) {
#ifdef JPROF_SANITIZED  // these reserve address space by the terabyte
  read();
#else
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::ifstream statm("/proc/self/statm");
    uint64_t pages = 0;
    statm >> pages;
    const rlim_t memory = pages * 4096 + (256 << 20);
    const rlimit limit = {memory, memory}, time = {20, 20};
    setrlimit(RLIMIT_AS, &limit);
    setrlimit(RLIMIT_CPU, &time);
    try {
      read();
    } catch (const std::bad_alloc&) {
      std::fprintf(stderr, "not enough memory\n");
      _exit(3);
    }
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
#endif
}

TEST_F(Sparse, NodesThatAreNotThereCostNothing) {
  const uint32_t last = 0xffff'0000u;
  const Node root = {.ref = PackMethod(FrameKind::kThread, kRootMethod)};
  Lengthen(kNodesFile);
  Put(kNodesFile, uint64_t{last} * sizeof(Node), &root, sizeof(root));
  Claim([](ControlHeader& header) { header.node_count = 0xffff'fffeu; });
  InLittleMemory([&] {
    Reader reader = Open();
    const auto tree = reader.ReadTree();
    ASSERT_TRUE(tree);
    EXPECT_EQ(tree->size(), 3u);  // including the last one
  });
}

TEST_F(Sparse, MoreNodesThanMemoryIsAnErrorThatNamesTheFile) {
  std::vector<Node> nodes(
      200'000, Node{.ref = PackMethod(FrameKind::kInterpreted, MethodId{1}), .parent = 1});
  Put(kNodesFile, 3 * sizeof(Node), nodes.data(), nodes.size() * sizeof(Node));
  Claim([&](ControlHeader& header) { header.node_count = nodes.size() + 3; });
  Reader reader = Open();
  const auto tree = reader.ReadTree(/*memory=*/1 << 20);
  ASSERT_FALSE(tree);
  EXPECT_EQ(tree.error().kind, Error::Kind::kFailed);
  EXPECT_NE(tree.error().message.find((directory_ / kNodesFile).string()), std::string::npos)
      << tree.error().message;
  EXPECT_EQ(reader.ReadTree()->size(), nodes.size() + 2);
}

TEST_F(Sparse, LocksAndLiveObjectsThatAreNotThereCostNothing) {
  const LockEdge edge = {.kind = LockEdgeKind::kWait, .from = 2, .count = 1, .time_ns = 5};
  const LiveRecord live = {.node = 2, .objects = 1, .first = 1, .last = 1, .bytes = 8};
  made_.locks = {edge};
  made_.live = {live, {.node = 0, .first = 1, .last = 1, .bytes = 7}};
  made_.Write(directory_);
  Lengthen(kLocksFile);
  Lengthen(kLiveFile);
  Put(kLocksFile, (kLong / sizeof edge - 1) * sizeof edge, &edge, sizeof edge);
  Put(kLiveFile, (kLong / sizeof live - 1) * sizeof live, &live, sizeof live);
  Claim([](ControlHeader& header) {
    header.lock_edges = header.live_records = kLong;
    header.live_snapshots = 1;
  });
  InLittleMemory([&] {
    Reader reader = Open();
    const auto tree = reader.ReadTree();
    ASSERT_TRUE(tree);
    EXPECT_EQ(tree->lock_edges.size(), 2u);  // including the last one
    EXPECT_EQ(tree->live.size(), 2u);
    EXPECT_FALSE(reader.damages().empty());  // fewer than claimed
  });
}

TEST_F(Sparse, MoreLocksOrLiveObjectsThanMemoryAreAnErrorThatNamesTheFile) {
  made_.locks.assign(100'000, {.kind = LockEdgeKind::kWait, .from = 2, .count = 1});
  made_.Write(directory_);
  const auto locks = Open().ReadTree(/*memory=*/1 << 20);
  ASSERT_FALSE(locks);
  EXPECT_NE(locks.error().message.find((directory_ / kLocksFile).string()), std::string::npos);
  made_.locks.clear();
  made_.live.assign(100'000, {.node = 2, .objects = 1, .first = 1, .last = 1, .bytes = 8});
  made_.Write(directory_);
  const auto live = Open().ReadTree(/*memory=*/1 << 20);
  ASSERT_FALSE(live);
  EXPECT_NE(live.error().message.find((directory_ / kLiveFile).string()), std::string::npos);
}

TEST_F(Sparse, ThreadRecordsEndWhereTheFileIsEmpty) {
  Lengthen(kControlFile, uint64_t{1} << 40);
  Claim([](ControlHeader& header) { header.thread_count = 0xffff'ffffu; });
  InLittleMemory([&] {
    const Reader reader = Open();
    EXPECT_LE(reader.threads().size(), 4096u);  // a MiB of them
    EXPECT_EQ(reader.threads()[0].name, "main");
    EXPECT_FALSE(reader.damages().empty());
  });
}

TEST_F(Sparse, NamesEndWhereTheFileIsEmpty) {
  Lengthen(kMethodsFile);
  Claim([](ControlHeader& header) { header.methods_bytes = kLong; });
  InLittleMemory([&] {
    Reader reader = Open();
    EXPECT_EQ(reader.ReadMethods()[MethodId{1}].name, "run");
    EXPECT_FALSE(reader.damages().empty());
  });
}

TEST_F(Sparse, AHighMethodIdCostsNothing) {
  const MethodRecord record = {.bytes = sizeof(MethodRecord), .id = 0x0fff'fff0};
  Put(kMethodsFile, made_.methods.size(), &record, sizeof(record));
  Lengthen(kMethodsFile);
  Claim([](ControlHeader& header) { header.methods_bytes = kLong; });
  InLittleMemory([&] {
    Reader reader = Open();
    EXPECT_LE(reader.ReadMethods().size(), 65'536u);
  });
}

TEST_F(Sparse, ATracesHolesAreNotRead) {
  Lengthen(kTraceFile, uint64_t{1} << 42);
  Claim([](ControlHeader& header) { header.trace_blocks = ~uint64_t{0} >> 16; });
  InLittleMemory([&] {
    Reader reader = Open();
    uint64_t events = 0;
    const auto read = ReadTrace(reader, [&](const TraceEvent&) { return ++events; });
    ASSERT_TRUE(read);
    EXPECT_EQ(events, 2u);
  });
}

TEST_F(Sparse, ACompressedTraceEndsAtAHole) {
  const uint32_t skippable[] = {0x184D2A50, 0xffff'fff0};  // an empty frame of 4 GiB
  std::ofstream(directory_ / kCompressedTraceFile)
      .write(reinterpret_cast<const char*>(skippable), sizeof(skippable));
  Lengthen(kCompressedTraceFile);
  fs::remove(directory_ / kTraceFile);
  InLittleMemory([&] {
    Reader reader = Open();
    EXPECT_TRUE(ReadTrace(reader, [](const TraceEvent&) { return true; }));
    EXPECT_EQ(reader.damages().Lines().front().substr(0, 18), "trace.zst: a hole:");
  });
}

TEST_F(Sparse, DescriptionAndTableEndWhereTheyAreEmpty) {
  Lengthen(kMetaFile);
  std::ofstream(directory_ / kCalibrationFile) << "{";
  Lengthen(kCalibrationFile);
  InLittleMemory([&] {
    const Reader reader = Open();
    EXPECT_LE(reader.ReadCalibration().size(), size_t{1} << 20);
  });
}

TEST_F(Sparse, ALogOfSamplesEndsWhereItIsEmpty) {
  const std::string path = (directory_ / kSamplesFile).string();
  SampleWriter writer;
  ASSERT_TRUE(writer.Open(path, {.cpus = 1}));
  writer.Add({.pid = 7, .tid = 7, .event = ThreadNamed{"java"}});
  ASSERT_TRUE(writer.Close(9));
  fs::resize_file(path, fs::file_size(path) - sizeof(LogPacket));  // not ended
  Lengthen(kSamplesFile);
  InLittleMemory([&] {
    const auto log = SampleLog::Read(path);
    ASSERT_TRUE(log);
    EXPECT_EQ(log->entries().size(), 1u);
    EXPECT_EQ(log->damages().size(), 1u);
  });
  const auto log = SampleLog::Read(path, /*memory=*/64);
  ASSERT_FALSE(log);
  EXPECT_EQ(log.error().message.substr(0, path.size()), path);
}

TEST_F(Sparse, ALogOfJittedCodeEndsWhereItIsEmpty) {
  const LogHeader header = HeaderOf(kJitFormat, {});
  std::ofstream(directory_ / kJitLogFile, std::ios::binary)
      .write(reinterpret_cast<const char*>(&header), sizeof(header));
  Lengthen(kJitLogFile);
  InLittleMemory([&] {
    const auto log = ReadJitLog(directory_.string());
    ASSERT_TRUE(log) << log.error().message;
    EXPECT_EQ(log->damages, std::vector{fmt::format("jitlog: cut off or damaged after 0 records "
                                                    "(40 of {} bytes read)",
                                                    kLong)});
  });
}

// A stub that is recorded with its unused remainder.
TEST_F(Sparse, SomeZerosInsideAFileAreReadAsTheyAre) {
  const std::string text = "{" + std::string(900'000, '\0') + "}";
  std::ofstream(directory_ / kCalibrationFile, std::ios::binary) << text;
  EXPECT_EQ(Open().ReadCalibration(), text);
}

}  // namespace
}  // namespace jprof::profile
