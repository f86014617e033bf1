// Provides what the reports of a call tree share: names for the rows of a forest, and printing the
// rows thread by thread in the requested format. log_rt.cc and scs.cc define the columns.
#pragma once

#include <string>
#include <string_view>

#include "model/tree/forest.h"
#include "model/tree/site_place.h"
#include "reports/print/columns.h"
#include "reports/print/options.h"
#include "reports/print/output.h"
#include "reports/print/table_writer.h"
#include "reports/tree/walk.h"

namespace jprof::reports {

class NamedTree {
 public:
  NamedTree(model::Source& from, model::Forest& loaded, const Options& chosen)
      : source(from), forest(loaded), options(chosen) {}

  const profile::Thread& ThreadOf(model::NodeIndex root) const {
    return source.reader.threads()[IndexOf(forest.rows.rows[root].thread)];
  }
  bool merged() const { return options.merged; }
  // Returns whether the root's rows are of several threads of a pool.
  bool IsPool(model::NodeIndex root) const {
    const model::ThreadGroup* group = forest.GroupOf(root);
    return group != nullptr && group->threads > 1;
  }
  // Returns the thread id of the root's rows, or 0 if they are of several threads.
  uint32_t TidOf(model::NodeIndex root) const {
    return merged() || IsPool(root) ? 0 : ThreadOf(root).record.tid;
  }

  char Type(const ShownRow& shown) const {
    if (shown.row == model::kNoNode) return Letter(FrameKind::kOther);
    const model::Row& row = forest.rows.rows[shown.row];
    return forest.names.LetterOf(row.method, row.type, options.static_letters);
  }

  // Returns the name of a row: the JVM's, if it is a method. It is valid until the next call.
  std::string_view Name(const ShownRow& shown) {
    if (shown.row == model::kNoNode) return text_ = fmt::format("(hidden: {} rows)", shown.hidden);
    const model::Row& row = forest.rows.rows[shown.row];
    if (row.method != profile::kRootMethod) return forest.names.Of(row.method);
    return RootName(shown.row);
  }
  // Returns the name of a thread, or of several with their number. It is valid until the next call.
  std::string_view RootName(model::NodeIndex root) {
    if (merged()) return "(all threads)";
    if (!IsPool(root)) return ThreadOf(root).name;
    const model::ThreadGroup* pool = forest.GroupOf(root);
    return text_ = fmt::format("{} ({} threads)", pool->name, pool->threads);
  }
  // Returns the name that text shows, in the form of the options. It is valid until the next call.
  std::string_view ShownName(const ShownRow& shown) {
    if (shown.row == model::kNoNode) return text_ = RestName(shown.hidden, shown.parent == 0);
    const profile::MethodId method = forest.rows.rows[shown.row].method;
    if (method == profile::kRootMethod) return Name(shown);
    const std::string_view name = forest.names.In(options.names, method);
    const uint32_t line = LineOf(shown);
    return line != 0 ? text_ = fmt::format("{} (line {})", name, line) : name;
  }
  // Returns the source line of the caller at which a row is called, or 0 if it is not known.
  uint32_t LineOf(const ShownRow& shown) const {
    if (shown.row == model::kNoNode) return 0;
    return model::PlaceOfSite(forest.names.Parts(forest.rows.rows[shown.row].site)).line;
  }

  model::Source& source;
  model::Forest& forest;
  const Options& options;

 private:
  std::string text_;
};

// A row as the columns' getters see it.
struct TreeRow {
  NamedTree& tree;
  const ShownRow& shown;
  uint32_t tid;         // of its thread; 0 if all threads are one tree
  char type;            // the letter
  std::string& buffer;  // for a text that is made for this row

  Value TypeText() const { return Value::Text({&type, 1}); }
  // Returns the shown name behind its letter ("J:", or "--" before a class of objects), indented,
  // and behind the number of folded callers ("+3 "). Threads have their id.
  Value MarkedName() const;
};

using TreeColumns = Columns<TreeRow>;

// Adds the columns that identify a row: `id`, `parent`, `level`, `tid`, `type`, `line` if rows are
// by call site, and in JSON `name`.
void AddIdentity(TreeColumns& columns, const Options& options);
// Adds one value of each metric, as a JSON array.
void AddList(TreeColumns& columns, const NamedTree& tree, const char* name,
             double (*raw)(const ShownRow& shown, size_t metric));
// Adds one value of metric `m`, named NAME:METRIC.
void AddCsv(TreeColumns& columns, const NamedTree& tree, const char* name, size_t m,
            double (*raw)(const ShownRow& shown, size_t metric));

// These return the raw values of a row that columns are made of.
namespace raw {
inline double Base(const ShownRow& row, size_t m) { return row.cells[m].base(); }
inline double Raw(const ShownRow& row, size_t m) { return static_cast<double>(row.cells[m].raw); }
inline double Adjust(const ShownRow& row, size_t m) { return row.cells[m].adjust; }
inline double Error(const ShownRow& row, size_t m) { return row.cells[m].error; }
inline double Cumulative(const ShownRow& row, size_t m) { return row.cumulative[m]; }
}  // namespace raw

// Prints `head`, then all threads, in any format but kCollapsed.
void PrintTree(NamedTree& tree, TreeColumns& columns, Section head, Output& out);

// Prints the head of log-rt and scs in text, and the hottest methods.
void PrintTreeHead(NamedTree& tree, std::string_view report, Output& out);

// Prints `thread;frame;frame value` lines of the first metric, or of the calls if there is no
// metric, as flame-graph tools read them.
Result<void> PrintCollapsed(NamedTree& tree, Output& out);

}  // namespace jprof::reports
