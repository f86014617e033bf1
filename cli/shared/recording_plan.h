// Plans a recording of a program with the agent: checks everything before anything is started.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/shared/commands.h"
#include "cli/shared/record_options.h"
#include "common/result.h"
#include "options/agent_options.h"
#include "record/attach/jvm_watch.h"
#include "record/place/jvm_profiles.h"
#include "record/place/place_watch.h"
#include "record/run/java_command.h"
#include "record/run/launcher.h"

namespace jprof::cli {

struct RecordingPlan {
  record::Launch launch;
  options::AgentOptions options;  // with those of JPROFOPTS; `out` is absolute
  std::vector<std::string> notes;
  std::string agent_library;  // its file name
  bool traced = false;        // instructions are counted by tracing the program

  // Returns whether the JVMs of the command get the agent by the environment.
  bool ByEnvironment() const { return launch.java_tool_options.has_value(); }
};

// Watches a command while it runs: the directory of its profile, and its processes if its JVMs get
// the agent by the environment.
class RunWatch {
 public:
  explicit RunWatch(const RecordingPlan& plan);
  record::ProcessObserver Observer();  // for record::Run

  // Prints a line for each JVM that was seen and has none of these profiles.
  void PrintUnprofiled(const std::vector<record::JvmProfile>& profiles) const;

  // Returns whether the profile's directory was removed or renamed while the command ran.
  bool ProfileIsGone() { return place_.Gone(); }

 private:
  const RecordingPlan& plan_;
  record::JvmWatch jvms_;
  record::PlaceWatch place_;
};

// Fails with kWrongUse if there is no command behind "--", or an argument that `sub` does not have.
Result<void> CheckCommand(const CLI::App& sub, const Command& command);

// Plans the recording, and makes sure that the profile's directory can be created. With
// `inside`, `typed` has the absolute path of a directory inside one that the caller makes later,
// and it is not checked.
Result<RecordingPlan> PlanRecording(const RecordOptions& typed, const Command& command,
                                    bool inside = false);

// The plan of a recording of a JVM that runs.
struct AttachPlan {
  std::filesystem::path agent_library;
  options::AgentOptions options;  // with those of JPROFOPTS; `out` is absolute
  std::filesystem::path place;    // of the profile at the end; may replace one (--force)
  std::vector<std::string> notes;
};

// Plans a recording like PlanRecording. `name` is the default name of the
// profile, without ".jprof".
Result<AttachPlan> PlanAttach(const RecordOptions& typed, const std::string& name);

// Returns the message about times without a calibration table, or an empty text if there is a
// table, or if there are no times.
std::string UncalibratedNote(options::Mode mode);

// Prints why there is no profile after the program has run, and returns the exit status:
// - 2 if the JVM did not start: it exited with 1 before the agent created anything;
// - 2 if the command is not java and succeeded without starting a JVM that was recorded;
// - else the status of the program, which ran unprofiled.
int StatusWithoutProfile(const RecordingPlan& plan, const record::Outcome& outcome);

// Prints that the profile's directory was removed or renamed, and returns the exit status: that of
// the program, or 1 if it succeeded. What is at this place now is not what was recorded.
int StatusOfGoneProfile(const RecordingPlan& plan, const record::Outcome& outcome);

}  // namespace jprof::cli
