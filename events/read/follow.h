// Follows a trace of events while a program writes it, by looking at its files again and again.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "common/result.h"
#include "events/read/clock.h"
#include "events/read/trace.h"

namespace jprof::events {

class Follower {
 public:
  // Fails as OpenTrace does.
  static Result<Follower> Open(const std::string& directory);

  // Visits what has come since the last call, or is there at the first one. The records of a call
  // are in the order of time; those of a thread are in order over all calls.
  void Read(const std::function<void(const Record&, UnixTime)>& visit);

  // Returns whether no more records come after those that the next Read visits, because the trace
  // was closed or its process does not exist.
  bool HasEnded() const;

  uint64_t discarded() const { return discarded_; }
  // Packets that the program has overwritten before all their records were read; at least so many.
  uint64_t overwritten() const { return overwritten_; }
  const Damages& damages() const { return trace_.damages; }

 private:
  struct Packet {
    uint64_t begin = 0;
    uint64_t read = 0;      // bytes; 0 before it was read
    bool complete = false;  // its thread had begun another one when it was read
  };

  Trace trace_;
  std::map<std::string, Packet> packets_;
  uint64_t discarded_ = 0, overwritten_ = 0;
};

}  // namespace jprof::events
