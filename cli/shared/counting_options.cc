#include "cli/shared/counting_options.h"

#include <fmt/ranges.h>

#include "record/count/thread_counting.h"

namespace jprof::cli {

void AddCountingOptions(CommandLine line, CountingOptions& options, const char* format_help,
                        const char* out_help) {
  line.Option("-e,--events", options.events, "A,B",
              "Events to count: A,B (at most 8), see `jprof events`; repeatable")
      .OneValueEach();
  line.Flag("--hurry", options.real_time,
            "Read the counts at real-time priority: fewer losses on an overloaded machine");
  line.Option("--format", options.format, "text|json|csv", format_help);
  line.Option("-o,--output", options.out, "FILE", out_help);
}

Result<ptm::CheckedMetrics> CountedMetrics(const CountingOptions& options) {
  return record::ChooseMetrics(ptm::SplitNames(fmt::format("{}", fmt::join(options.events, ","))));
}

}  // namespace jprof::cli
