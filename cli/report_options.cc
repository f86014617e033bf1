#include "cli/report_options.h"

namespace jprof::cli {

void AddTableOptions(CLI::App& command, TableChoice& choice) {
  auto* uncalibrated = command.add_flag("--uncalibrated", choice.uncalibrated,
                                        "Do not subtract the profiler's overhead");
  command.add_option("--table", choice.file, "Correct with this calibration table")
      ->excludes(uncalibrated);
  command.add_flag("--force", choice.force,
                   "Use --table even if it was made for another machine or JVM");
}

}  // namespace jprof::cli
