// The file `jitlog` of a profile: the machine code that the JVM generated, its address and
// lifetime, and the names of the JVM's threads. It is written during the run, so that sampled
// addresses can be resolved afterwards.
//
// The file consists of a JitHeader and of records, each 8-byte aligned, in the order in which they
// were added. A truncated file can be read up to the truncation. docs/PROFILE_FORMAT.md describes
// the fields.
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/monotonic.h"
#include "common/result.h"
#include "profile/files/kept_file.h"

namespace jprof::profile {

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
  uint64_t start_unix_ns = 0;  // the same moment in calendar time
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
// Marks a record that the VM repeated on request after its start. It adds nothing if the code is
// known already.
inline constexpr uint16_t kJitAgain = 1;

// The source line for the code from `offset` to the next JitLine: that of the innermost inlined
// method, and that of the compiled method itself. A line is 0 if it is unknown.
struct JitLine {
  uint32_t offset = 0;
  uint32_t line = 0;
  uint32_t own_line = 0;
  bool operator==(const JitLine&) const = default;
};
static_assert(sizeof(JitLine) == 12);

// The record of kLoad and kStub. It is followed by lines, code bytes, class, name, signature,
// source file and padding. A stub has only a name.
struct JitCodeRecord {
  JitRecord record;
  uint64_t address = 0;
  uint32_t length = 0;
  char type = 'J';    // J (C1), R (C2), N (native wrapper), I (interpreter), O (other stub)
  uint8_t level = 0;  // the VM's compile level; 0 if unknown
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

// kJitNamed for a thread without a begin record means that the thread existed before the log. For
// any other thread it reports the thread's current name.
enum JitThreadEvent : uint16_t { kJitBegan = 1, kJitNamed = 2, kJitThreadEnded = 3 };
struct JitThreadRecord {  // followed by the name
  JitRecord record;
  uint32_t tid = 0;  // the kernel's
  uint16_t event = kJitBegan;
  uint16_t name_length = 0;
};
static_assert(sizeof(JitThreadRecord) == 24);

// States that the program ended normally, how many records the file has, and how many could not
// be written.
struct JitEndRecord {
  JitRecord record;
  uint64_t loads = 0, unloads = 0, stubs = 0, threads = 0, lost = 0;
};
static_assert(sizeof(JitEndRecord) == 56);

// One piece of code, as written and as read. It occupies [address, address + length) during
// [loaded, unloaded).
struct JitCode {
  uint64_t address = 0;
  uint32_t length = 0;
  bool stub = false;  // has a name but is not a method
  char type = 'J';
  uint8_t level = 0;
  std::string_view class_name;  // pkg/Class
  std::string_view name;
  std::string_view signature;
  std::string_view source;  // file name, empty if unknown
  std::span<const JitLine> lines;
  std::span<const uint8_t> code;
  uint64_t loaded = 0;  // 0 if always; set by the reader, like `unloaded`
  uint64_t unloaded = kJitForever;
};

// Appends whole records, one system call each, so that `kill -9` loses no record added before.
//
// - Any number of threads may call it. It waits for a lock, so it must not be called from a probe.
// - It allocates nothing and throws nothing.
// - The first write that fails ends the log: later records are only counted. The end record reports
//   their number if it can be written.
class JitLogWriter {
 public:
  explicit JitLogWriter(int64_t (*now)() = MonotonicNanos) : now_(now) {}
  JitLogWriter(const JitLogWriter&) = delete;

  // Makes the file in that directory. Fails if the file exists.
  Result<void> Open(int directory_fd);

  void Load(const JitCode& code, bool again);  // also stubs
  void Unload(uint64_t address);
  void Thread(uint32_t tid, JitThreadEvent event, std::string_view name);
  void End();  // nothing is written afterwards

 private:
  static constexpr int kMostParts = 8;
  // Requires the lock and the record itself in parts[0]. Returns false if the record is lost.
  bool Append(JitRecord& record, std::span<const iovec> parts);

  int64_t (*const now_)();
  std::mutex lock_;
  KeptFile file_;
  int64_t size_ = 0;  // of the complete records
  bool stopped_ = true;
  JitEndRecord counts_;
};

// One record of the log, in file order. kUnload uses only the address.
struct JitEvent {
  uint64_t time = 0;
  bool unload = false;
  bool again = false;
  JitCode code;
};

// Makes intervals from events. The intervals of the result do not overlap in addresses and time
// together.
//
// - The VM reports code only after it has run for a while. So code begins where the previous code
//   at any of its addresses ended, or at 0 if there was none.
// - Code that overlaps live code ends it: the unloading of the old code was not reported, or not
//   yet.
// - Duplicate code, and code marked `again` where code is known already, is dropped.
// - Code with an empty lifetime (a stopped clock, a damaged time) is dropped.
// - The unloading of unknown code is dropped.
// - A time that is earlier than a previous one counts as the latest time so far.
std::vector<JitCode> JitIntervals(std::span<const JitEvent> events);

// A thread of the JVM, with its last known name.
struct JitThread {
  uint32_t tid = 0;
  uint64_t begin = 0;  // 0 if always
  uint64_t end = kJitForever;
  std::string_view name;
};

// A parsed log. The views are valid as long as the log or a copy of it exists.
struct JitLog {
  JitHeader header;
  std::vector<JitCode> code;  // see JitIntervals
  std::vector<JitThread> threads;
  bool ended = false;   // normally
  uint64_t end_ns = 0;  // the latest time in the log
  uint64_t lost = 0;    // records that could not be written, as far as known
  std::vector<std::string> damages;

  std::shared_ptr<const std::string> bytes;  // the file
};

// Parses the content of the file, which is untrusted. Damaged records are dropped and listed in
// `damages`. Fails if it is not a log or has another version.
Result<JitLog> ParseJitLog(std::string bytes);
// Reads the log in a profile directory, even while the program is running.
Result<JitLog> ReadJitLog(const std::string& directory);

}  // namespace jprof::profile
