// Defines what the database of `jprof optimize` remembers, as agents and the life of a directive
// see it. Plain values; nothing here reads or writes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace jprof::cpo {

using RowId = int64_t;

// Identifies the program whose runs are compared. The name is only shown.
struct ProgramKey {
  std::string name;       // "sort"
  std::string identity;   // "build-id:..." of an executable, "jar:..." with the main class
  std::string arguments;  // the class of its arguments; runs of one class do comparable work
};

// Maps the names of CPU, kernel, ... to their values, as calibration does.
using MachineKey = std::map<std::string, std::string>;

// Identifies a process: a number alone may be reused.
struct ProcessKey {
  uint32_t pid = 0;
  uint64_t start = 0;  // in clock ticks after boot
  std::string boot;    // the boot of the machine

  bool operator==(const ProcessKey&) const = default;
};

// A number that was observed of a run. Less is better.
struct Figure {
  std::string name;  // "page faults"
  double value = 0;
  std::string unit;  // empty for counts
};

// By how much a directive is predicted to lower a figure of a run.
struct Prediction {
  std::string figure, unit;
  double value = 0, low = 0, high = 0;  // with the ends of its interval of 95 %
  // A guarded figure is not expected to improve: the directive is withdrawn if the figure becomes
  // worse than `low`, which is below 0, permits.
  bool is_guard = false;
};

// What directives of all programs on a machine compete for.
struct Claim {
  std::string resource;  // "huge pages"; empty if the directive claims nothing
  uint64_t amount = 0;
};

// What an agent proposes to do in later runs of a program. Kind and key name the group of memory,
// or whatever else it is about, and are the same in every run.
struct Proposal {
  std::string kind, key;                // "site", "main+0x11f0"
  std::string text;                     // what is done, for people: "128 huge pages"
  std::string setting;                  // the same for the agent that applies it
  std::string cost;                     // what it costs, for people; may be empty
  std::vector<Prediction> predictions;  // one that decides, and guards
  Claim claim;
};

enum class State { kProposed, kApplied, kValidated, kWithdrawn };

// What the runs so far showed of one prediction.
struct Validation {
  std::string figure;
  double value = 0, low = 0, high = 0;  // the observed benefit, with its interval of 95 %
  uint32_t runs = 0;                    // that were compared
};

struct Directive {
  RowId id = 0;
  std::string agent;
  Proposal proposal;
  State state = State::kProposed;
  std::string reason;  // why it is in this state
  std::vector<Validation> validations;

  bool IsUndecided() const { return state == State::kProposed || state == State::kApplied; }
};

enum class RunKind {
  kMeasured,  // an agent measured the program
  kTrial,     // undecided directives were applied or left out, to compare runs
  kPlain,     // nothing was tried; validated directives may have been applied
};

enum class RunState {
  kRunning,
  kEnded,
  kLost,  // the process of jprof disappeared before it stored the end
};

struct Run {
  RowId id = 0;
  uint32_t number = 0;  // of this program on this machine, from 1
  std::string agent;    // whose directives were tried, or that measured
  RunKind kind = RunKind::kPlain;
  RunState state = RunState::kRunning;
  bool is_comparable = true;  // false if it failed, was interrupted, or its claims were contested
  int exit_code = 0;
  std::map<RowId, bool> tried;  // by directive: whether it was applied
  std::vector<Figure> figures;
};

// Everything that is known of one program on one machine.
struct History {
  RowId program = 0, machine = 0;
  ProgramKey key;
  std::vector<Directive> directives;  // in the order of their ids
  std::vector<Run> runs;              // in the order of their ids and numbers
};

}  // namespace jprof::cpo
