// Declares the command line of `jprof report`.
#pragma once

#include <optional>
#include <string>

#include "cli/shared/command_line.h"
#include "cli/shared/report_options.h"
#include "reports/print/options.h"

namespace jprof::cli {

struct ReportArguments {
  std::optional<CommandLine> line;  // knows which options are given
  std::string report;               // if empty, scs of a sampled profile, else log-rt
  std::string directory;
  std::string third;  // of a report of one method: the profile, and `directory` is the method
  std::string source_path;
  std::string format = "text";
  std::string threads = "separate";
  std::string sort;
  TextChoice text;
  std::string out;  // of html
  TableChoice table;
  std::string refit;  // empty, kRefitToOwn, kNoRefit, or directories, separated by commas
  reports::Options options;
};

// Declares the options, which set `arguments`. It must outlive the command line.
void DeclareReportOptions(CommandLine line, ReportArguments& arguments);

// Sets the options that are one of several choices. Errors name the nearest choice.
Result<void> SetChoices(ReportArguments& arguments);

}  // namespace jprof::cli
