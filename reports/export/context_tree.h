// Holds the contexts of a profile as exports write them: frames, exclusive values in whole units,
// threads and what describes the run. It is made once of a counted, sampled or combined profile or
// of an instruction trace, and then only read. Invariants: a node's parent is before it; roots are
// the threads; all texts are clean UTF-8 (CleanText) and not empty.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/combined/combined.h"
#include "reports/itrace/arc_recording.h"
#include "reports/tree/source.h"

namespace jprof::reports {

// A value that every context has: a sample type of pprof, an event of callgrind,
// a column of SQLite.
struct Measure {
  enum class Kind : uint8_t {
    kCalls,
    kSum,    // adds up over contexts
    kBound,  // an error or the end of an interval, which does not add up; rounded up
  };
  std::string name;  // "time" if calibrated, "time_raw" as measured
  std::string unit;  // nanoseconds, bytes, count, ...
  Kind kind = Kind::kSum;
  int64_t period = 0;  // sampled measures have one sample every `period` of `period_unit`
  std::string period_unit;
  bool elapsed = false;  // the period is one of elapsed time, not of CPU time
};

struct ExportFrame {
  enum class Kind : uint8_t { kThread, kJava, kNative, kKernel };
  std::string full;      // as reports print it, pkg/Class.method(sig)ret
  std::string readable;  // pkg.Class.method(int, long[]); of native functions without the module
  uint32_t module = 0;   // index into modules
  Kind kind = Kind::kJava;
};

// A file that native frames are from; modules[0] represents Java code.
struct ExportModule {
  std::string path;
  std::string build_id;  // lower-case hex; empty if unknown
};

struct ExportThread {
  std::string name;
  uint32_t tid = 0;  // 0 for a virtual thread, or if all threads are one tree
};

struct ContextNode {
  uint32_t parent = kNoRow;  // kNoRow for a thread
  uint32_t frame = 0;
  uint32_t thread = 0;
  uint32_t first_child = kNoRow;
  uint32_t next = kNoRow;
  char type = '?';  // the letter of reports
};

struct RunDescription {
  std::string jprof, mode, command, jvm, machine, start;
  uint64_t pid = 0;
  uint64_t start_unix_ns = 0, duration_ns = 0;
  std::vector<std::string> notes;  // how values were corrected; losses and damages
};

struct ContextTree {
  RunDescription run;
  std::vector<Measure> measures;
  size_t preferred = 0;  // the measure that a reader shows first
  std::vector<ContextNode> nodes;
  std::vector<int64_t> values;  // [node * measures + measure], of the node alone
  std::vector<uint32_t> roots;  // the busiest thread first
  std::vector<ExportFrame> frames;
  std::vector<ExportModule> modules;
  std::vector<ExportThread> threads;

  int64_t Value(size_t node, size_t measure) const {
    return values[node * measures.size() + measure];
  }
  // Returns the measures that add up.
  std::vector<size_t> Sums() const;
};

// The profile to export, one of `source`, `combined` and `arcs`.
struct ExportInput {
  std::string name;  // of the profile, without folders and extension
  Source* source = nullptr;
  Combined* combined = nullptr;  // instead of `source`
  ArcRecording* arcs = nullptr;  // instead of both
  Options options;               // `merged` and `metric` are used

  std::string_view directory() const {
    if (arcs != nullptr) return arcs->directory;
    return combined != nullptr ? combined->counted.reader.directory() : source->reader.directory();
  }
  // Returns whether it is a trace of jprof trace, with points in time.
  bool is_trace() const { return source != nullptr && source->reader.meta().is(Mode::kTrace); }
};

// Fails if LoadForest or LoadCombined does.
Result<ContextTree> LoadContexts(ExportInput& input);

// Returns what the period of a sampled measure counts: cpu, wall, or the measure's own events.
std::string PeriodType(const Measure& measure);

// Calls `write` with the tree in which recursion below `whole` frames is folded, if there is any;
// the tree's notes and a remark of `out` then report it.
Result<void> WriteFolded(const ContextTree& tree, uint32_t whole, Output& out,
                         const std::function<Result<void>(const ContextTree&)>& write);

// Calls `write` with the tree for formats that repeat the whole stack of every context: deep
// recursion is folded, which its notes and a remark of `out` report. Fails with kWrongUse if there
// are too many frames for a useful file, or with the error of `write`.
Result<void> WriteStacks(const ContextTree& tree, std::string_view format, Output& out,
                         const std::function<Result<void>(const ContextTree&)>& write);

// Returns the sum, or the limit of the type if it is beyond that.
int64_t AddSaturating(int64_t a, int64_t b);

// Returns the value for formats that cannot hold any below 0: over-calibrated
// contexts have 0 there.
inline int64_t AtLeast0(int64_t value) { return value < 0 ? 0 : value; }

// Returns the values of `measure`, at least 0 each, with all below them, by node.
std::vector<int64_t> InclusiveAtLeast0(const ContextTree& tree, size_t measure);

// Visits `root` and all below it, depth first, without recursion (trees are deep). `enter` returns
// whether to visit what is below; `leave` follows each node that was entered, in any case.
template <typename Enter, typename Leave>
void VisitContexts(const ContextTree& tree, uint32_t root, const Enter& enter, const Leave& leave) {
  uint32_t at = root;
  while (true) {
    const bool deeper = enter(at);
    if (deeper && tree.nodes[at].first_child != kNoRow) {
      at = tree.nodes[at].first_child;
      continue;
    }
    leave(at);
    while (at != root && tree.nodes[at].next == kNoRow) leave(at = tree.nodes[at].parent);
    if (at == root) return;
    at = tree.nodes[at].next;
  }
}

}  // namespace jprof::reports
