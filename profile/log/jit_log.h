// Writes and reads the file `jitlog` of a profile: the machine code that the JVM generated, its
// address and lifetime, and the names of the JVM's threads. It is written during the run, so that
// sampled addresses can be resolved afterwards.
//
// It is a log (profile/log/log_format.h) with one record in each packet, in the order in which they
// were added. The time of the packet is that of the record. docs/PROFILE_FORMAT.md describes the
// fields.
#pragma once

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
#include "profile/log/log_reader.h"

namespace jprof::profile {

inline constexpr LogFormat kJitFormat = {"JPROFJIT", 2, "a log of jitted code", "record again",
                                         /*live=*/true};
inline constexpr uint64_t kJitForever = ~uint64_t{0};

enum class JitKind : uint8_t { kLoad = 1, kUnload = 2, kStub = 3, kThread = 4 };

// Begins each record.
struct JitRecord {
  JitKind kind = JitKind::kLoad;
  uint8_t flags = 0;  // kJitAgain
};
// Marks a record that the VM repeated on request after its start. It adds nothing if the code is
// known already.
inline constexpr uint8_t kJitAgain = 1;

// Gives the source line of the code from `offset` to the next JitLine: that of the innermost
// inlined method, and that of the compiled method itself. A line is 0 if it is unknown.
struct JitLine {
  uint32_t offset = 0;
  uint32_t line = 0;
  uint32_t own_line = 0;
  bool operator==(const JitLine&) const = default;
};
static_assert(sizeof(JitLine) == 12);

// Begins the record of kLoad and kStub. Lines, code bytes, class, name, signature and source file
// follow it. A stub has only a name.
struct JitCodeRecord {
  JitRecord record;
  char type = 'J';    // J (C1), R (C2), N (native wrapper), I (interpreter), O (other stub)
  uint8_t level = 0;  // the VM's compile level; 0 if unknown
  uint32_t length = 0;
  uint64_t address = 0;
  uint32_t line_count = 0;
  uint32_t code_length = 0;
  uint16_t class_length = 0;
  uint16_t name_length = 0;
  uint16_t signature_length = 0;
  uint16_t source_length = 0;
};
static_assert(sizeof(JitCodeRecord) == 32);

struct JitUnloadRecord {
  JitRecord record;
  uint16_t unused[3] = {};
  uint64_t address = 0;
};
static_assert(sizeof(JitUnloadRecord) == 16);

// kJitNamed for a thread without a begin record means that the thread existed before the log. For
// any other thread it reports the thread's current name.
enum JitThreadEvent : uint16_t { kJitBegan = 1, kJitNamed = 2, kJitThreadEnded = 3 };
struct JitThreadRecord {  // the name follows it; the kernel's tid is that of the packet
  JitRecord record;
  uint16_t event = kJitBegan;
  uint16_t name_length = 0;
};
static_assert(sizeof(JitThreadRecord) == 6);

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
// - The first write that fails ends the log: later records are only counted. The last packet
//   reports their number if it can be written.
class JitLogWriter {
 public:
  explicit JitLogWriter(int64_t (*now)() = MonotonicNanos) : now_(now) {}
  JitLogWriter(const JitLogWriter&) = delete;

  // Makes the file in that directory. Fails if the file exists.
  Result<void> Open(int directory_fd);

  // Adds code, also a stub. Requires that what `code` refers to does not change meanwhile.
  void Load(const JitCode& code, bool again);
  void Unload(uint64_t address);
  void Thread(uint32_t tid, JitThreadEvent event, std::string_view name);
  void End();  // nothing is written afterwards

 private:
  // Appends a packet whose content consists of these parts, or counts it as lost. Takes the lock.
  void Add(uint32_t tid, std::span<const std::string_view> content);
  // Does the same with any packet. Requires the lock.
  void Append(LogPacket packet, std::span<const std::string_view> content);

  int64_t (*const now_)();
  std::mutex lock_;
  KeptFile file_;
  int64_t size_ = 0;  // of the complete packets
  bool stopped_ = true;
  uint32_t records_ = 0;
  uint64_t discarded_ = 0;
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

// Contains a parsed log. The views are valid as long as the log or a copy of it exists. `ended`
// states that the program ended normally.
struct JitLog : LogSummary {
  std::vector<JitCode> code;  // see JitIntervals
  std::vector<JitThread> threads;
  std::shared_ptr<const LogBytes> file;
};

// Parses the content of the file, which is untrusted. Damaged records are dropped and listed in
// `damages`. Fails if it is not a log or has another version.
Result<JitLog> ParseJitLog(std::string bytes);
// Reads the log in a profile directory, even while the program is running.
Result<JitLog> ReadJitLog(const std::string& directory);

}  // namespace jprof::profile
