// What the three formats of log-rt share: a forest, and how its rows are named. Part of log_rt.cc and
// log_rt_text.cc; nobody else includes it.
#pragma once

#include "reports/forest.h"
#include "reports/output.h"
#include "reports/walk.h"

namespace jprof::reports {

class RtTree {
 public:
  RtTree(Source& source, Forest& forest, const Options& options)
      : source(source), forest(forest), options(options) {}

  const profile::Thread& ThreadOf(uint32_t root) const {
    return source.reader.threads()[forest.rows.rows[root].thread];
  }
  bool merged() const { return options.merged; }

  char Type(const ShownRow& shown) const {
    if (shown.row == kNoRow) return Letter(MethodType::kOther);
    const Row& row = forest.rows.rows[shown.row];
    return forest.names.LetterOf(row.method, row.type, options.static_letters);
  }

  // "J:", or "--" before a class of objects.
  std::string Mark(const ShownRow& shown) const {
    const char letter = Type(shown);
    return letter == '-' ? "--" : std::string{letter, ':'};
  }

  // Valid until the next call.
  std::string_view Name(const ShownRow& shown) {
    if (shown.row == kNoRow) return text_ = fmt::format("(hidden: {} rows)", shown.hidden);
    const Row& row = forest.rows.rows[shown.row];
    if (row.method != profile::kRootMethod) return forest.names.Of(row.method);
    return merged() ? "(all threads)" : std::string_view(ThreadOf(shown.row).name);
  }

  Source& source;
  Forest& forest;
  const Options& options;

 private:
  std::string text_;
};

// A raw value in the metric's unit.
inline double InUnit(const Column& column, double raw) { return raw * column.info.scale; }

void PrintLogRtText(RtTree& tree, Output& out);

// What the log-rt and scs texts begin with.
void PrintTreeHead(RtTree& tree, std::string_view report, Output& out);

// `thread;frame;frame value` lines of the first metric, as flame-graph tools read them. Error: there is no metric.
Result<void> PrintCollapsed(RtTree& tree, Output& out);

}  // namespace jprof::reports
