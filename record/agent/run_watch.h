// Watches a command that is recorded while it runs, and explains at its end if there is no profile.
#pragma once

#include <vector>

#include "record/agent/recording_plan.h"
#include "record/attach/jvm_watch.h"
#include "record/place/jvm_profiles.h"
#include "record/place/place_watch.h"
#include "record/run/launcher.h"
#include "record/series/series_recorder.h"

namespace jprof::record {

// Watches the directory of the profile, takes snapshots of it for --series, and watches the
// command's processes if its JVMs get the agent by the environment.
class RunWatch {
 public:
  explicit RunWatch(const RecordingPlan& plan);
  ProcessObserver Observer();  // for Run

  // Takes the last snapshots for --series and prints a line about each series. Must be called when
  // the command has ended, before profiles are moved.
  void EndSeries();

  // Prints a line for each JVM that was seen and has none of these profiles.
  void PrintUnprofiled(const std::vector<JvmProfile>& profiles) const;

  // Returns whether the profile's directory was removed or renamed while the command ran.
  bool ProfileIsGone() { return place_.Gone(); }

 private:
  const RecordingPlan& plan_;
  JvmWatch jvms_;
  PlaceWatch place_;
  SeriesRecorder series_;
};

// Prints why there is no profile after the program has run, and returns the exit status:
// - 2 if the JVM did not start: it exited with 1 before the agent created anything;
// - 2 if the command is not java and succeeded without starting a JVM that was recorded;
// - else the status of the program, which ran unprofiled.
int StatusWithoutProfile(const RecordingPlan& plan, const Outcome& outcome);

// Prints that the profile's directory was removed or renamed, and returns the exit status: that of
// the program, or 1 if it succeeded. What is at this place now is not what was recorded.
int StatusOfGoneProfile(const RecordingPlan& plan, const Outcome& outcome);

}  // namespace jprof::record
