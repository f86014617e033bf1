// The reading side of a profile directory (layout.h), for tools outside the profiled process.
// No byte is trusted: sizes, indices and counts are checked against what the files hold. What is
// damaged is left out and named in damages(); only a directory that is no profile, or one of
// another version, is an Error. Works while the profile is being written, and after kill -9. Not
// thread safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "profile/layout.h"
#include "profile/meta.h"
#include "profile/reader_damage.h"
#include "profile/reader_file.h"
#include "profile/reading_memory.h"

namespace jprof::profile {

inline constexpr uint32_t kNoRecord = 0xffffffffu;
inline constexpr size_t kMaxMetrics = 8;

struct Thread {
  ThreadRecord record;
  std::string name;
};

// Counts of one record: entries after an entry, after an exit; exits after an entry, after an exit.
struct Counts {
  uint32_t entries[2] = {};
  uint32_t exits[2] = {};
};

// Every valid node record in the order of the file, columns side by side; element i of each is
// record i. A record is a context, or (former != 0) what the context `parent` counted while its
// method was of another type. parent[i] < i, is a context, and is kNoRecord for a thread's root.
struct CallTree {
  std::vector<uint32_t> word;  // method and type, as in Node
  std::vector<uint32_t> parent;
  std::vector<uint8_t> former;
  std::vector<uint32_t> thread;  // index into Reader::threads()
  std::vector<Counts> counts;
  std::vector<uint32_t> dispatches;
  std::vector<std::vector<int64_t>> metrics;  // [metric][record], raw

  size_t size() const { return word.size(); }
};

struct MethodName {
  std::string_view class_name;  // pkg/Class
  std::string_view name;
  std::string_view signature;  // (args)ret
  uint16_t flags = 0;          // MethodFlags
};

// Methods by id. Ids that the file does not have answer an empty name.
class Methods {
 public:
  MethodName operator[](MethodId id) const;
  size_t size() const { return entries_.size(); }  // one more than the highest id

 private:
  friend class Reader;
  struct Entry {
    uint64_t offset = 0;
    uint32_t lengths[3] = {};
    uint16_t flags = 0;
  };
  std::string text_;
  std::vector<Entry> entries_;
};

class Reader {
 public:
  // Wrong directory: exit code 2 where another argument would help.
  static Result<Reader> Open(const std::string& directory);

  const std::string& directory() const { return directory_; }
  const Meta& meta() const { return meta_; }
  const ControlHeader& header() const { return header_; }
  const std::vector<Thread>& threads() const { return threads_; }
  const Damages& damages() const { return damages_; }
  Damages& damages() { return damages_; }

  // Trees whose root no thread record claims go to one thread named "(unknown)", added to
  // threads(). Error: the tree takes more than `memory` bytes.
  Result<CallTree> ReadTree(uint64_t memory = ReadingMemory());

  // How many methods the tree may name: without the one for all that could not be described, and
  // without those that the method filter excluded.
  uint32_t RecordedMethods() const {
    const uint32_t others = 1 + header_.filtered_methods;
    return header_.method_count > others ? header_.method_count - others : 0;
  }
  // Call it after ReadTree or ReadTrace: a live profile gains methods meanwhile.
  Methods ReadMethods();

  // calibration.json, empty if there is none.
  std::string ReadCalibration() const;

  ReaderFile OpenFile(const char* name) const;

 private:
  Reader() = default;
  void ReadThreads(const ReaderFile& control);

  std::string directory_;
  Meta meta_;
  ControlHeader header_;
  std::vector<Thread> threads_;
  Damages damages_;
};

}  // namespace jprof::profile
