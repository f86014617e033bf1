// Plans a recording with the agent: checks everything before anything is started.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/result.h"
#include "options/agent_options.h"
#include "record/agent/typed_options.h"
#include "record/run/java_command.h"
#include "record/series/snapshot_options.h"

namespace jprof::record {

// Plans the recording of a command. Its JVMs get all options from the command line or a
// variable of their own, so that JPROFOPTS, which is among them, is empty for the command.
struct RecordingPlan {
  Launch launch;
  options::AgentOptions options;  // with those of JPROFOPTS; `out` is absolute
  std::vector<std::string> notes;
  std::string agent_library;  // its file name
  bool traced = false;        // instructions are counted by tracing the program
  SnapshotOptions snapshots;  // what is made of snapshots while the program runs

  // Returns whether the JVMs of the command get the agent by the environment.
  bool ByEnvironment() const { return launch.java_tool_options.has_value(); }
};

// Plans the recording, and makes sure that the profile's directory can be created. With
// `inside`, `typed` has the absolute path of a directory inside one that the caller makes later,
// and it is not checked.
Result<RecordingPlan> PlanRecording(const TypedOptions& typed,
                                    const std::vector<std::string>& command, bool inside = false);

// Plans the recording of a JVM that runs.
struct AttachPlan {
  std::filesystem::path agent_library;
  options::AgentOptions options;  // with those of JPROFOPTS; `out` is absolute
  std::filesystem::path place;    // of the profile at the end; may replace one (--force)
  std::vector<std::string> notes;
  SnapshotOptions snapshots;  // as in RecordingPlan
};

// Plans a recording like PlanRecording. `name` is the default name of the
// profile, without ".jprof".
Result<AttachPlan> PlanAttach(const TypedOptions& typed, const std::string& name);

// Returns the message about times without a calibration table, or an empty text if there is a
// table, or if there are no times.
std::string UncalibratedNote(options::Mode mode);

}  // namespace jprof::record
