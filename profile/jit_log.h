// The file `jitlog` of a profile: which machine code a JVM made, where it stood from when to when,
// and the names of the JVM's threads; written as it happens, so that addresses seen by a sampler
// can be named afterwards.
//
// A JitHeader, then records, each 8-byte aligned, in the order in which the writer was told. A file
// that was cut anywhere reads up to there. docs/PROFILE_FORMAT.md says in words what stands here.
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/fd.h"
#include "common/result.h"

namespace jprof::profile {

inline constexpr char kJitLogFile[] = "jitlog";
inline constexpr char kJitMagic[8] = {'J', 'P', 'R', 'O', 'F', 'J', 'I', 'T'};
inline constexpr uint32_t kJitVersion = 1;
inline constexpr uint64_t kJitForever = ~uint64_t{0};

struct JitHeader {
  char magic[8] = {};
  uint32_t version = kJitVersion;
  uint32_t header_bytes = 64;
  uint32_t pid = 0;
  uint32_t clock = 1;  // CLOCK_MONOTONIC; all times are its nanoseconds
  uint64_t start_ns = 0;
  uint64_t start_unix_ns = 0;  // the same moment by the calendar
  uint64_t unused[3] = {};
};
static_assert(sizeof(JitHeader) == 64);

enum class JitKind : uint16_t { kLoad = 1, kUnload = 2, kStub = 3, kThread = 4, kEnd = 5 };

struct JitRecord {
  uint32_t bytes = 0;  // of the whole record, a multiple of 8
  JitKind kind = JitKind::kLoad;
  uint16_t flags = 0;  // kJitAgain
  uint64_t time = 0;
};
static_assert(sizeof(JitRecord) == 16);
// Told again by request when the VM was up: says nothing new where something is known already.
inline constexpr uint16_t kJitAgain = 1;

// From `offset` in the code to the next line's: the source line of the innermost inlined method
// there, and the one of the compiled method itself. 0: not known.
struct JitLine {
  uint32_t offset = 0;
  uint32_t line = 0;
  uint32_t own_line = 0;
  bool operator==(const JitLine&) const = default;
};
static_assert(sizeof(JitLine) == 12);

// kLoad and kStub; followed by lines, code bytes, class, name, signature, source file, padding. A
// stub has a name only.
struct JitCodeRecord {
  JitRecord record;
  uint64_t address = 0;
  uint32_t length = 0;
  char type = 'J';    // J (C1), R (C2), N (native wrapper), I (interpreter), O (other stub)
  uint8_t level = 0;  // the VM's compile level; 0: not known
  uint16_t class_length = 0;
  uint16_t name_length = 0;
  uint16_t signature_length = 0;
  uint16_t source_length = 0;
  uint16_t unused = 0;
  uint32_t line_count = 0;
  uint32_t code_length = 0;
};
static_assert(sizeof(JitCodeRecord) == 48);

struct JitUnloadRecord {
  JitRecord record;
  uint64_t address = 0;
};
static_assert(sizeof(JitUnloadRecord) == 24);

// kJitNamed of a thread that has not begun in this log: it was there before. Of one that has: its
// name of now.
enum JitThreadEvent : uint16_t { kJitBegan = 1, kJitNamed = 2, kJitThreadEnded = 3 };
struct JitThreadRecord {  // followed by the name
  JitRecord record;
  uint32_t tid = 0;  // the kernel's
  uint16_t event = kJitBegan;
  uint16_t name_length = 0;
};
static_assert(sizeof(JitThreadRecord) == 24);

// The program ended in order: how much is in the file, and what could not be written to it.
struct JitEndRecord {
  JitRecord record;
  uint64_t loads = 0, unloads = 0, stubs = 0, threads = 0, lost = 0;
};
static_assert(sizeof(JitEndRecord) == 56);

// Code as it is written, and as it is read: at [address, address + length), in the time [loaded,
// unloaded).
struct JitCode {
  uint64_t address = 0;
  uint32_t length = 0;
  bool stub = false;  // named, but no method
  char type = 'J';
  uint8_t level = 0;
  std::string_view class_name;  // pkg/Class
  std::string_view name;
  std::string_view signature;
  std::string_view source;  // file name, empty: not known
  std::span<const JitLine> lines;
  std::span<const uint8_t> code;
  uint64_t loaded = 0;  // 0: always; set by the reader, like the next
  uint64_t unloaded = kJitForever;
};

uint64_t MonotonicNanos();

// Appends whole records, one system call each, so that `kill -9` loses nothing told before.
// Callable from any number of threads; waits for the lock, so not from a probe. Allocates nothing,
// throws nothing. The first write that fails ends the log: what comes after is only counted, and
// the end record says how much if there is room for it.
class JitLogWriter {
 public:
  explicit JitLogWriter(uint64_t (*now)() = MonotonicNanos) : now_(now) {}
  JitLogWriter(const JitLogWriter&) = delete;

  // Makes the file in that directory; it must not exist.
  Result<void> Open(int directory_fd);

  void Load(const JitCode& code, bool again);  // stubs, too
  void Unload(uint64_t address);
  void Thread(uint32_t tid, JitThreadEvent event, std::string_view name);
  void End();  // nothing is written after it

 private:
  static constexpr int kMostParts = 8;
  // Under the lock; parts[0] is the record itself. False: it is lost.
  bool Append(JitRecord& record, std::span<const iovec> parts);

  uint64_t (*const now_)();
  std::mutex lock_;
  Fd fd_;
  int64_t size_ = 0;  // of the whole records
  bool stopped_ = true;
  JitEndRecord counts_;
};

// What the log says, in its order. For `unload` only the address counts.
struct JitEvent {
  uint64_t time = 0;
  bool unload = false;
  bool again = false;
  JitCode code;
};

// Makes intervals of events; the result's intervals do not overlap, in addresses and time together.
// - Code reaches back to the end of what stood at any of its addresses before, or to 0 if nothing
// did: the VM tells of it
//   only after it has run for a while.
// - Code that comes to where other code stands ends that (its unloading was not told, or not told
// yet).
// - The same code told twice, and code told `again` where something is known to stand, are left
// out.
// - Code that stood for no time (a clock that stood still, or a damaged time) is left out.
// - An unloading of what is not there is left out. Times that go backwards count as the latest time
// before.
std::vector<JitCode> JitIntervals(std::span<const JitEvent> events);

// A thread of the JVM, under the last name it was seen to have.
struct JitThread {
  uint32_t tid = 0;
  uint64_t begin = 0;  // 0: always
  uint64_t end = kJitForever;
  std::string_view name;
};

// A log, read. Views live as long as it or a copy of it.
struct JitLog {
  JitHeader header;
  std::vector<JitCode> code;  // see JitIntervals
  std::vector<JitThread> threads;
  bool ended = false;   // in order
  uint64_t end_ns = 0;  // the latest time in the log
  uint64_t lost = 0;    // records that could not be written, as far as is known
  std::vector<std::string> damages;

  std::shared_ptr<const std::string> bytes;  // the file
};

// `bytes`: the file's. No byte is trusted; what is damaged is left out and named in `damages`.
// Error: no log, or another version's.
Result<JitLog> ParseJitLog(std::string bytes);
// The log in a profile directory. Also of a program that still runs.
Result<JitLog> ReadJitLog(const std::string& directory);

}  // namespace jprof::profile
