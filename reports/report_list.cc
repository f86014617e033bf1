#include "reports/report_list.h"

namespace jprof::reports {
namespace {

constexpr Report kReports[] = {
    {"log-rt", "the call tree: every method in every calling sequence", PrintLogRt},
    {"methods", "the tree summed by method, hottest first", PrintMethods},
    {"scs", "the call tree of a sampled profile: samples in every calling sequence", PrintScs},
    {"log-gen", "the trace: entries and exits in order", PrintLogGen},
};

}  // namespace

std::span<const Report> Reports() { return kReports; }

}  // namespace jprof::reports
