#include "reports/report_list.h"

namespace jprof::reports {
namespace {

constexpr Report kReports[] = {
    {"log-rt", "the call tree: every method in every calling sequence", kTreeFormats, PrintLogRt},
    {"methods", "the tree summed by method, hottest first", kTableFormats, PrintMethods},
    {"scs", "the call tree of a sampled profile: samples in every calling sequence", kTreeFormats,
     PrintScs},
    {"log-gen", "the trace: entries and exits in order", kCommonFormats, PrintLogGen},
};

}  // namespace

std::span<const Report> Reports() { return kReports; }

Result<void> PrintReport(const Report& report, Source& source, const Options& options,
                         Output& out) {
  if (auto offered = CheckOffered(report.name, report.formats, options.format); !offered)
    return offered;
  return report.print(source, options, out);
}

}  // namespace jprof::reports
