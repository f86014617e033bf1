#include "record/agent/run_watch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "a2n/hooks.h"
#include "options/java_program.h"
#include "record/place/recording_summary.h"
#include "record/run/print_error.h"

namespace jprof::record {

namespace fs = std::filesystem;

RunWatch::RunWatch(const RecordingPlan& plan)
    : plan_(plan),
      jvms_(plan.agent_library),
      place_(plan.options.out),
      series_(plan.options.out, plan.snapshots) {}

ProcessObserver RunWatch::Observer() {
  return [this](uint32_t pid) {
    place_.Look();
    series_.Look();
    if (plan_.ByEnvironment()) jvms_.Look(pid);
  };
}

void RunWatch::EndSeries() {
  for (const std::string& line : series_.End()) PrintError(line);
}

void RunWatch::PrintUnprofiled(const std::vector<JvmProfile>& profiles) const {
  const bool one_is_enough = plan_.options.children == options::Children::kFirst;
  if (one_is_enough && !profiles.empty()) return;
  for (const SeenJvm& jvm : jvms_.seen()) {
    const bool profiled = std::ranges::count(profiles, jvm.pid, &JvmProfile::pid) != 0;
    if (!profiled && !options::OnlyAsksTheVm(jvm.command)) PrintError(UnprofiledText(jvm));
  }
}

int StatusWithoutProfile(const RecordingPlan& plan, const Outcome& outcome) {
  const bool direct = !plan.ByEnvironment();
  std::error_code ignored;
  const bool made = fs::exists(plan.options.out, ignored);
  rmdir(plan.options.out.c_str());  // unless there is anything in it
  if (direct && outcome.ExitCode() == 1 && !made) {
    PrintError("no profile: the JVM did not start with the agent (the reason is above)");
    return 2;
  }
  if (!direct && a2n::HooksOf(plan.launch.program.string()).is_static) {
    PrintError(
        fmt::format("no profile: {} is linked statically, so that its functions cannot be "
                    "recorded; link it with shared libraries",
                    plan.launch.arguments.front()));
    return outcome.ExitCode() == 0 ? 2 : outcome.ExitCode();
  }
  // A process of the command that begins to record makes OUT.
  if (direct || made) {
    PrintError("no profile: the program ran without being profiled (the reason is above)");
  } else {
    PrintError(fmt::format(
        "no profile: {0} started no JVM, and called no functions of C or C++ with hooks (compile "
        "with -finstrument-functions; --hooks=yes if only its libraries have them); a program as "
        "it is: jprof tprof -- {0} ...",
        plan.launch.arguments.front()));
  }
  return !direct && outcome.ExitCode() == 0 ? 2 : outcome.ExitCode();
}

int StatusOfGoneProfile(const RecordingPlan& plan, const Outcome& outcome) {
  const fs::path place = plan.options.out;
  std::error_code ignored;
  const bool later = fs::exists(fs::symlink_status(place, ignored));
  PrintError(fmt::format(
      "no profile: its directory {} was removed or renamed while the program ran{}; record into "
      "one that the program leaves alone (-o)",
      DisplayPath(place), later ? ", and what is there now was made later" : ""));
  return outcome.ExitCode() == 0 ? 1 : outcome.ExitCode();
}

}  // namespace jprof::record
