// Unwinds native stacks by cached tables: the exception frames (.eh_frame) of every mapped module,
// compiled once into a sorted array of "from this pc on, the caller's frame is there".
//
// - A step is one binary search and two loads. It takes no lock and uses no allocation, system call
//   or thread-local storage, so it may run anywhere in a signal handler.
// - Only one thread at a time may call Refresh, outside signal handlers. Any thread may call Next
//   and FunctionAt at any time, also during Refresh: tables are published as a whole.
// - A later Refresh frees the tables of unmapped modules, once no reader can be using
//   them (Reading).
// - Results of Next and FunctionAt are cached by address (PcTable). A change of the mapped modules
//   invalidates all of them.
#pragma once

#include <cstdint>
#include <string_view>

#include "common/result.h"
#include "jprof/unwind/registers.h"

namespace jprof::unwind {

// The part of a stack that may be read: [low, high).
struct StackBounds {
  uint64_t low = 0, high = 0;

  bool Holds(uint64_t address, uint64_t bytes) const {
    return address >= low && address <= high && high - address >= bytes;
  }
};

// Contains the words that a walk read: while they are unchanged, another walk takes the same path.
// There are at most `room` words; further ones set `overflow`.
struct ReadLog {
  struct Word {
    uint64_t address, value;
  };
  Word* words = nullptr;
  uint32_t count = 0, room = 0;
  bool overflow = false;

  void Add(uint64_t address, uint64_t value) {
    if (count < room) {
      words[count++] = {address, value};
    } else {
      overflow = true;
    }
  }
};

// A function of a module, as divided by its exception frames.
struct Function {
  uint64_t start = 0;         // run-time address of its first instruction
  uint64_t link_address = 0;  // the link address, as in a symbol table
  std::string_view module;    // path; valid as long as the caller's Reading
};

class Unwinder {
  struct State;

 public:
  enum class Step {
    kStepped,    // the registers are the caller's now
    kOutermost,  // this was the thread's first frame
    kUnknown,    // code without unwind information (jitted, or a module mapped since the last
                 // Refresh)
    kBad,        // the frame leads out of the stack, or not upwards
  };

  // Keeps all tables and paths that are reachable when it is made. Can be used in a signal handler,
  // and be nested. Keep the scope short: Refresh does not wait for it, but frees nothing.
  class Reading {
   public:
    explicit Reading(const Unwinder& unwinder) : Reading(*unwinder.state_) {}
    explicit Reading(State& state);
    ~Reading();
    Reading(const Reading&) = delete;

   private:
    State& state_;
    const uint32_t era_;
  };

  Unwinder();
  ~Unwinder();
  Unwinder(const Unwinder&) = delete;

  // Reads the tables of all mapped modules, and keeps those that are known. Fails if none could
  // be read.
  Result<void> Refresh();
  // Returns whether a step met code of an unknown module, in [0, 2^47), since the last Refresh.
  // This includes jitted code, which only the caller can recognise.
  bool Stale() const;

  // Moves from one frame to its caller.
  //
  // - `interrupted` is whether pc is the next instruction (in a signal), not a return address. The
  //   same applies if registers.interrupted is set, as a step out of a signal frame does.
  // - `registers` change only if the result is kStepped.
  // - `function`, if not null, receives the start of the function, or 0 if no entry covers it.
  // - `log`, if not null, receives the words that were read.
  Step Next(Registers& registers, const StackBounds& stack, bool interrupted,
            uint64_t* function = nullptr, ReadLog* log = nullptr) const;

  // Returns a number that changes whenever the set of mapped modules does.
  uint64_t Generation() const;

  // Finds the function around an address (for a return address, subtract 1). Returns false if no
  // module contains it, or if no entry covers it (then `module` alone may be set). A part that
  // the compiler split off (.cold) is a separate function. A signal trampoline begins one byte
  // early, as in its entry.
  bool FunctionAt(uint64_t pc, Function* function) const;

  // Returns the bytes of tables and snapshots, including those that wait to be freed. Call this on
  // the thread that calls Refresh.
  uint64_t TableBytes() const;

 private:
  State* state_;
};

}  // namespace jprof::unwind
