#include "cli/shared/counting_options.h"

#include "cli/shared/count_output.h"
#include "record/count/thread_counting.h"

namespace jprof::cli {

void AddCountingOptions(CLI::App& sub, CountingOptions& options, const char* format_help,
                        const char* out_help) {
  sub.add_option("-e,--events", options.events,
                 "Events to count: A,B (at most 8), see `jprof events`; repeatable")
      ->allow_extra_args(false)
      ->type_name("A,B");
  sub.add_flag("--hurry", options.real_time,
               "Read the counts at real-time priority: fewer losses on an overloaded machine");
  sub.add_option("--format", options.format, format_help)->type_name("text|json|csv");
  sub.add_option("-o,--output", options.out, out_help)->type_name("FILE");
}

Result<ptm::CheckedMetrics> CountedMetrics(const CountingOptions& options) {
  return record::ChooseMetrics(SplitAll(options.events));
}

}  // namespace jprof::cli
