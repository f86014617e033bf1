// What the three formats of log-rt share: a forest, and how its rows are named. Part of log_rt.cc
// and log_rt_text.cc; nobody else includes it.
#pragma once

#include <utility>

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

// ,"threads":[{"tid","name","nodes":[...]}...]: `print` prints the node of a row.
template <typename Print>
void JsonThreads(RtTree& tree, Output& out, const Print& print) {
  out.Text(",\"threads\":[");
  Walk walk(tree.forest, tree.options);
  const char* thread_comma = "";
  for (const uint32_t root : tree.forest.rows.roots) {
    const profile::Thread& thread = tree.ThreadOf(root);
    out.Print("{}\n{{\"tid\":{},\"name\":", std::exchange(thread_comma, ","),
              tree.merged() ? 0 : thread.record.tid);
    out.JsonString(tree.merged() ? "(all threads)" : thread.name);
    out.Text(",\"nodes\":[");
    const char* comma = "";
    walk.Thread(root, [&](const ShownRow& row) {
      out.Text(std::exchange(comma, ","));
      print(row);
      return out.ok();
    });
    out.Text("]}");
  }
  out.Text("]");
}

void PrintLogRtText(RtTree& tree, Output& out);

// What the log-rt and scs texts begin with.
void PrintTreeHead(RtTree& tree, std::string_view report, Output& out);

// `thread;frame;frame value` lines of the first metric, as flame-graph tools read them. Error:
// there is no metric.
Result<void> PrintCollapsed(RtTree& tree, Output& out);

}  // namespace jprof::reports
