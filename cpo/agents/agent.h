// The face of an agent of `jprof optimize`: something that measures a program, models what would
// help it, and acts on later runs. An agent is a row of the table (cpo/agents/table.h); when it
// measures, when its directives are applied, and which of them stay is decided in cpo/optimize.
//
// An agent is made for one command and is called by one thread: Eligible first, then for each run
// either Measure and Model, or Apply and Observe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "cpo/database/records.h"
#include "record/run/launcher.h"

namespace jprof::cpo {

// One line each of at most 75 characters, for the help, `jprof optimize status` and the documents.
struct AgentText {
  const char* name;       // as --agent takes it
  const char* reads;      // what it measures
  const char* models;     // how it predicts a benefit
  const char* directs;    // what its directives change in a run
  const char* validates;  // the figures that are compared between runs
};

// The CPU time of a run, in seconds: a figure of all agents that guard it.
inline constexpr char kCpuTime[] = "CPU time", kSeconds[] = "s";

// The command as the user gave it.
struct ProgramCommand {
  std::filesystem::path program;   // the file to execute
  std::vector<std::string> words;  // [0] as typed
};

// A run that is about to begin. An agent changes it.
struct AgentRun {
  record::Launch launch;         // how the program is started: arguments and environment
  std::filesystem::path folder;  // private to this run and agent, for what it writes and reads
  // Called with the pid of the program, when it has started and every tenth of a second until it
  // ends, by the thread that called Measure or Apply. May be left empty. It may trace the program,
  // but must have detached when it returns: the caller waits for the program, and would take a stop
  // for its end. Signals to jprof are passed on after it has returned.
  record::ProcessObserver watch;
};

class Agent {
 public:
  virtual ~Agent() = default;

  virtual const AgentText& text() const = 0;
  // Returns whether its directives are only applied in runs that the user asked for, by --agent and
  // --runs: they change what the user chose, and are printed instead.
  virtual bool IsOnRequest() const { return false; }

  // Fails, with the reason, if the agent cannot do anything for this program on this machine.
  virtual Result<void> Eligible(const ProgramCommand& command) = 0;

  // Prepares a run that is measured.
  virtual Result<void> Measure(AgentRun& run) = 0;
  // Returns proposals, made from what that run left in its folder. None if nothing would help.
  virtual Result<std::vector<Proposal>> Model(const AgentRun& run,
                                              const record::Outcome& outcome) = 0;

  // Prepares a run that is observed, with these directives, of which there may be none: what is
  // observed must not differ otherwise.
  virtual Result<void> Apply(const std::vector<Directive>& directives, AgentRun& run) = 0;
  // Returns the figures of a run that was measured or observed, among them those that its
  // predictions name.
  virtual Result<std::vector<Figure>> Observe(const AgentRun& run,
                                              const record::Outcome& outcome) = 0;

  // Returns how much of a resource all programs of the machine may claim together.
  virtual uint64_t Capacity(std::string_view) const { return 0; }
  // Another program with a higher benefit got what this directive had claimed. Called while the
  // program runs, at most once for each directive.
  virtual void Yield(const Directive&) {}
};

}  // namespace jprof::cpo
