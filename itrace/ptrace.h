// The requests of ptrace, one function each, for threads that this thread traces. A function that
// returns bool returns false if the thread is not stopped or does not exist any more.
#pragma once

#include <signal.h>
#include <sys/types.h>
#include <sys/user.h>

#include <cstdint>
#include <optional>

#include "common/result.h"

namespace jprof::itrace {

struct Registers {
  user_regs_struct raw = {};

#if defined(__x86_64__)
  uint64_t pc() const { return raw.rip; }
  void set_pc(uint64_t pc) { raw.rip = pc; }
  uint64_t sp() const { return raw.rsp; }
  uint64_t system_call() const { return raw.rax; }  // before it is made
  uint64_t argument(int i) const {
    const uint64_t all[] = {raw.rdi, raw.rsi, raw.rdx, raw.r10, raw.r8, raw.r9};
    return all[i];
  }
  uint64_t repeat() const { return raw.rcx; }  // the counter of rep instructions
#else
  uint64_t pc() const { return raw.pc; }
  void set_pc(uint64_t pc) { raw.pc = pc; }
  uint64_t sp() const { return raw.sp; }
  uint64_t system_call() const { return raw.regs[8]; }
  uint64_t argument(int i) const { return raw.regs[i]; }
  uint64_t repeat() const { return 0; }
#endif
  // Returns whether a system call was interrupted and its instruction will be executed again,
  // unless a handler is called first.
  bool RestartsSystemCall() const;
  // Sets the registers so that the instruction will be executed again.
  void RestartSystemCall();
};

// Starts to trace a thread without stopping it, with `follow` also the threads and processes that
// it makes. Fails with a message that states what is missing.
Result<void> SeizeThread(pid_t tid, bool follow);
bool SetTraceOptions(pid_t tid, bool follow);
bool Interrupt(pid_t tid);
bool Detach(pid_t tid, int signal = 0);

bool GetRegisters(pid_t tid, Registers& registers);
bool SetRegisters(pid_t tid, const Registers& registers);

bool Continue(pid_t tid, int signal = 0);
bool SingleStep(pid_t tid, int signal = 0);
bool ContinueToSystemCall(pid_t tid, int signal = 0);
bool Listen(pid_t tid);  // leaves a thread that its process has stopped as it is

std::optional<siginfo_t> SignalInfo(pid_t tid);
bool SetSignalInfo(pid_t tid, const siginfo_t& info);
uint64_t EventMessage(pid_t tid);
// Returns the blocked signals; bit 0 is signal 1.
std::optional<uint64_t> SignalMask(pid_t tid);
bool SetSignalMask(pid_t tid, uint64_t mask);

// The status that waitpid reported.
struct Stop {
  int status = 0;
  bool ended() const;
  int signal() const;  // the signal that stopped the thread
  int event() const { return status >> 16; }
};

// Waits for a stop of one traced thread. Returns false if the thread does not exist any more.
bool AwaitStop(pid_t tid, Stop& stop);

}  // namespace jprof::itrace
