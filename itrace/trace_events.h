// Defines what a trace reports while it is made, and how it is made.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "profile/log/branch_log.h"
#include "profile/log/memory_log.h"

namespace jprof::itrace {

enum class Engine : uint8_t {
  kAuto,   // the fastest one that counts exactly on this machine
  kBlock,  // translated code (x86-64)
  kStep,   // a stop after each instruction
};

// Whether TracerOptions::memory has an effect on this architecture.
#if defined(__x86_64__)
inline constexpr bool kRecordsMemory = true;
#else
inline constexpr bool kRecordsMemory = false;
#endif

struct TracerOptions {
  Engine engine = Engine::kAuto;
  bool records = true;       // if false, branches are only counted
  bool memory = false;       // records which memory is read and written (see kRecordsMemory)
  bool not_taken = false;    // records also conditional branches that are not taken
  bool all_threads = false;  // if false, only the thread that reaches the beginning
  bool pin = true;           // binds a single traced thread and the tracer to one processor

  bool writes() const { return records || memory; }
};

// Receives what the trace reports. It is called by the thread that runs the trace.
class TraceEvents {
 public:
  virtual ~TraceEvents() = default;
  virtual void OnBranch(const profile::Branch&) {}
  virtual void OnReferences(std::span<const profile::MemoryReference>) {}  // of one thread
  virtual void OnMapped(uint32_t /*pid*/) {}  // the executable mappings may have changed
  virtual void OnThread(uint32_t /*pid*/, uint32_t /*tid*/) {}  // a thread of the process began
  virtual void OnFork(uint32_t /*parent*/, uint32_t /*child*/) {}
  virtual void OnExec(uint32_t /*pid*/) {}
  virtual void OnExit(uint32_t /*pid*/, uint32_t /*tid*/) {}
  // Called several times a second. Returning true ends the trace.
  virtual bool OnTick(uint64_t /*instructions*/, bool /*began*/) { return false; }
};

struct ThreadTotals {
  uint32_t pid = 0, tid = 0;
  uint64_t instructions = 0, repeats = 0;
  uint64_t records = 0;     // branches, and other events that have one
  uint64_t references = 0;  // to memory
  uint64_t unseen = 0;      // executions of instructions whose references are not recorded
  uint64_t system_calls = 0, signals = 0;
  uint64_t stepped = 0;  // instructions executed one by one though the engine is kBlock
  uint64_t changed = 0;  // how often code differed from what was translated
  uint64_t traced_ns = 0;
  bool operator==(const ThreadTotals&) const = default;
};

}  // namespace jprof::itrace
