// The compressed files of a continuous trace: one, or one for each stretch of time, of which the
// last ones are kept.
//
// Used by one thread at a time. Nothing here throws after Open but for lack of memory.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include "profile/files/writer.h"

namespace jprof::engine {

// States when a new file begins. 0: there is one file, or all files are kept.
struct TraceRotation {
  uint64_t period_ns = 0;
  uint64_t keep = 0;
};

class TraceFiles {
 public:
  // Makes the first file. Returns false if that fails.
  bool Open(profile::Writer* writer, TraceRotation rotation);
  // Appends the whole frame of a block or nothing, because a reader cannot skip a partial frame.
  // Returns an errno, or 0 if it has been written.
  int Append(const profile::TraceBlock& block, std::string_view frame);

 private:
  struct File {
    std::string name;
    // For each thread that has blocks in the file: how many events it had had at their end.
    std::unordered_map<uint32_t, uint64_t> events;
  };
  bool Make();
  int Next(int64_t now);
  void RemoveOldest();

  profile::Writer* writer_ = nullptr;
  TraceRotation rotation_;
  profile::KeptFile file_;
  off_t written_ = 0;  // bytes of whole frames
  int64_t due_ns_ = 0;
  uint64_t number_ = 0;     // of files that were made
  std::deque<File> files_;  // those that exist, the oldest first
};

}  // namespace jprof::engine
