// Native stacks by cached unwind tables: what the exception frames (.eh_frame) of every mapped
// module say, compiled once into a sorted array of "from this pc on, the caller's frame lies
// there". A step is one binary search and two loads: no lock, no allocation, no system call, no
// thread-local storage, so it may run in a signal handler anywhere.
//
// Refresh is for ordinary code, one thread at a time; Next and FunctionAt are for any thread, any
// time, also while Refresh runs: tables are published whole, and what modules that are gone leave
// behind is freed by a later Refresh, when nobody can be reading it any more (Reading).
//
// What Next and FunctionAt find is remembered by address for the modules that are mapped now
// (PcTable): a change of the modules makes all of it void.
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

// The words that a walk read: as long as they stand, it would go the same way again. `room` words
// at most: what does not fit sets `overflow`.
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

// A function of a module, as its exception frames divide the code.
struct Function {
  uint64_t start = 0;         // run-time address of its first instruction
  uint64_t link_address = 0;  // the same as linked: what a symbol table says
  std::string_view module;    // path; lives as long as the caller's Reading
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

  // While one exists, no table or path that is reachable then is freed. Callable in a signal
  // handler; they may be nested. Keep it short: Refresh does not wait for it, but frees nothing.
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

  // Reads the tables of all modules that are mapped now; those it knows already are kept. Error:
  // none could be read.
  Result<void> Refresh();
  // Whether a step met code of no known module, in [0, 2^47), since the last Refresh. What jitted
  // code is, the caller knows.
  bool Stale() const;

  // From one frame to its caller. `interrupted`: pc is the next instruction (a signal's), not a
  // return address; also where registers.interrupted says so, which a step out of a signal's frame
  // sets. Registers change only if kStepped. `function`, if not null: where the function starts;
  // 0: no module's entry covers it. `log`, if not null, gets the words that were read.
  Step Next(Registers& registers, const StackBounds& stack, bool interrupted,
            uint64_t* function = nullptr, ReadLog* log = nullptr) const;

  // Another number whenever other modules are mapped than before.
  uint64_t Generation() const;

  // The function around an address (of a return address: less 1); false: no module has it, or no
  // entry covers it (then module alone may be set). A part that the compiler split off (.cold) is a
  // function of its own; a signal's trampoline begins one byte early, as its entry says.
  bool FunctionAt(uint64_t pc, Function* function) const;

  // What tables and snapshots take, with those that wait to be freed. From Refresh's thread.
  uint64_t TableBytes() const;

 private:
  State* state_;
};

}  // namespace jprof::unwind
