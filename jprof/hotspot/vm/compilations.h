// Finds the compilations that are running, from the VM's structures.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "common/result.h"
#include "jprof/hotspot/vm/native_thread.h"

namespace jprof::hotspot {

class Compilations {
 public:
  // Fails if this VM does not export the fields.
  static Result<Compilations> Open(const LibjvmImage& image, const VmStructs& structs);

  // A compilation that is running. There is one per compiler thread that compiles. Threads may
  // begin and end meanwhile.
  struct Running {
    uint64_t vm_thread;
    int32_t id;  // id of the compilation
    bool operator==(const Running&) const = default;
  };
  std::vector<Running> Now() const;

  // Waits until the compilations that are running now have ended. Returns false if they have not
  // in time.
  bool AwaitRunning(std::chrono::nanoseconds patience) const;

 private:
  Compilations(Fields& field, const NativeThreads& threads, MemoryReader::Fetch fetch);

  NativeThreads threads_;
  MemoryReader::Fetch fetch_;
  uint64_t list_;  // address of the pointer to the list of JavaThreads
  int64_t length_, array_, env_, task_, id_;
};

}  // namespace jprof::hotspot
