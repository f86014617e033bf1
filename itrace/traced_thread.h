// One thread while its instructions are traced. Between two calls the thread runs; in each call it
// is stopped, and it runs again when the call returns unless it is parked or has ended.
//
// A traced thread is either in its translated code, or executes one instruction at its own address.
// This is a system call or an instruction that cannot be translated, with the step engine any
// instruction. Signals are delivered only while it is at an original address.
#pragma once

#include <sched.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "itrace/code_cache.h"
#include "itrace/memory_operands.h"
#include "itrace/ptrace.h"
#include "itrace/step_instruction.h"
#include "itrace/trace_events.h"

namespace jprof::itrace {

// The data that the traced threads of a process have in common.
struct TraceContext {
  Tracee tracee;
  TracerOptions options;  // its engine is not kAuto
  TraceEvents& events;
  std::optional<int32_t> thread_counter = {};
  CodeSpan quiet = {};  // code that is not counted there
  std::vector<uint64_t> end_places = {};
  uint64_t limit = 0;  // instructions of a thread; 0 if there is none
  std::vector<std::string> notes = {};
};

// The frame of a function whose return ends the trace.
struct Frame {
  uint64_t return_address = 0;
  uint64_t sp = 0;  // at the function's entry
};

class TracedThread {
 public:
  enum class Mode : uint8_t { kParked, kInCache, kStepping, kEnded };

  TracedThread(TraceContext& context, pid_t tid);

  // Begins the trace. Requires that the thread is stopped at an original address, outside of a
  // system call. It runs afterwards.
  void Begin(std::optional<Frame> frame);
  // Handles a stop that is not the thread's end.
  void Handle(const Stop& stop);
  // Handles a stop that Interrupt() requested, and parks the thread.
  void Park();
  // Called when the thread has executed a program; it is at the end of that system call.
  void Executed();
  // Called when the thread is about to end, which it goes on to do.
  void Exiting();
  // Called when the thread has ended.
  void Ended();
  // Ends the trace of a parked thread, with `unmap` for good.
  void End(bool unmap);

  pid_t tid() const { return tid_; }
  Mode mode() const { return mode_; }
  bool parked() const { return mode_ == Mode::kParked; }
  bool active() const { return active_; }
  uint64_t pc() const { return registers_.pc(); }
  ThreadTotals totals() const;

 private:
  struct StepState {
    uint64_t pc = 0, repeat = 0;
    StepInstruction instruction;
    long number = -1;  // of a system call
    uint64_t arguments[6] = {};
    bool by_system_call = false;  // PTRACE_SYSCALL instead of a single step
    bool entered = false;
    bool signalled = false;  // a signal is delivered with the step
    bool restarts = false;   // repeats the system call before pc, unless a handler is called
    MemoryOperands operands = {};
    std::array<uint64_t, MemoryOperands::kMost> addresses = {};  // of `operands`
  };
  // A string instruction with a rep prefix that has begun to access memory.
  struct OpenRange {
    uint64_t code = 0, begin = 0;
    uint32_t bytes = 0;  // of one access
    profile::MemoryAccess access = profile::MemoryAccess::kLoad;
    uint8_t base = 0;  // the register that runs through the range
  };

  // These run and park the thread (traced_thread.cc).
  void Go();
  bool AtEnd();
  bool EnterCache();
  uint64_t Translated(uint64_t original, bool indirect);
  void ResumeInCache();
  void ParkHere();
  void SetRingWindow();
  bool UsesCache() const { return cache_ != nullptr; }

  // These handle stops in translated code (traced_thread_cache.cc).
  void OnCacheStop(const Stop& stop);
  void OnTrap(const Translation& translation, const CodeTrap& trap);
  void OnUnlinked(const Translation& translation, const CodeTrap& trap);
  void OnMiss();
  bool OnRingFull();
  void OnCacheSignal(siginfo_t info);
  void LeaveAt(const CodePoint& point);
  bool LeaveCache();
  bool StepInCache();

  // These execute single instructions (traced_thread_step.cc).
  void BeginStep();
  void StartStep(int signal = 0);
  void OnStepStop(const Stop& stop);
  void FinishStep();
  void FinishHandlerEntry();
  void BeforeSystemCall();
  void AfterSystemCall();
  void RemoveTrapFlag();

  // These count what was executed (traced_thread_count.cc).
  void Drain();
  void AddPartial(const CodePoint& point);
  void CountOne();
  void AddToThreadCounter(uint64_t instructions, uint64_t address);
  void Record(profile::BranchKind kind, uint64_t from, uint64_t to, uint64_t time = 0);

  // These record what the thread read and wrote (traced_thread_memory.cc).
  void AddReference(uint64_t code, uint64_t address, uint64_t bytes, profile::MemoryAccess access,
                    uint64_t time);
  void AddRange(const OpenRange& range, uint64_t end, uint64_t time);
  void AddReference(const CodeExit& exit, uint64_t value, uint64_t time);
  void SettleReferences(const CodePoint& point);
  void ReportReferences(bool all);
  void BeginStepReferences(std::span<const uint8_t> code);
  void EndStepReferences(bool executed);

  void HideMask();
  void ShowMask();
  void Pin();
  void Unpin();

  TraceContext& context_;
  const pid_t tid_;
  Mode mode_ = Mode::kParked;
  bool active_ = false;  // between Begin and End
  Registers registers_;  // of the last stop; with changes that the thread does not have yet
  std::unique_ptr<CodeCache> cache_;
  std::optional<Frame> frame_;
  StepState step_;
  std::optional<siginfo_t> deliver_;  // with the next step
  uint64_t hidden_mask_ = 0;          // blocked by the program, not by the kernel
  bool stop_again_ = false;           // a SIGSTOP came at a bad moment
  bool pinned_ = false;
  cpu_set_t processors_ = {}, own_processors_ = {};

  uint64_t ring_first_ = 0;  // where the ring begins in the thread's memory
  uint64_t drained_ns_ = 0;
  uint64_t pending_ = 0, pending_repeats_ = 0;  // since the last record
  uint64_t began_ns_ = 0;
  ThreadTotals totals_;
  std::unique_ptr<MemoryDecoder> memory_;
  std::vector<profile::MemoryReference> references_;  // that are not reported yet
  std::vector<OpenRange> ranges_;
  bool begins_ = true;  // the next reference begins a burst
};

}  // namespace jprof::itrace
