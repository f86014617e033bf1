// Holds the contexts of a profile as exports write them: frames, exclusive values in whole units,
// threads and what describes the run. It is made once of a counted, sampled or combined profile or
// of an instruction trace, and then only read. Invariants: a node's parent is before it; roots are
// the threads; all texts are clean UTF-8 (CleanText) and not empty.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/tree/node.h"
#include "model/tree/source.h"

namespace jprof::model {

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
  std::string file = {};  // of its source, app/Main.java; empty if not known
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

struct ContextNode : Node {  // a thread is a root
  FrameIndex frame{};
  profile::ThreadIndex thread{};
  char type = '?';    // the letter of reports
  uint32_t line = 0;  // of its caller, at which it is called; 0 if not known
};

// What of a node's own values belongs to one source line.
struct LineValues {
  NodeIndex node = 0;
  uint32_t line = 0;
  std::vector<int64_t> values;  // of each measure
};

struct RunDescription {
  std::string jprof, mode, command, jvm, machine, start;
  uint64_t pid = 0;
  uint64_t start_unix_ns = 0, duration_ns = 0;
  std::vector<std::string> notes;  // how values were corrected; losses and damages
  // What the program has published of itself (process_attributes.h).
  std::vector<std::pair<std::string, std::string>> attributes;
};

struct ContextTree {
  RunDescription run;
  std::vector<Measure> measures;
  size_t preferred = 0;  // the measure that a reader shows first
  std::vector<ContextNode> nodes;
  std::vector<int64_t> values;    // [node * measures + measure], of the node alone
  std::vector<LineValues> lines;  // if it was loaded with ForestOptions::call_sites, by node
  std::vector<NodeIndex> roots;   // the busiest thread first
  std::vector<ExportFrame> frames;
  std::vector<ExportModule> modules;
  std::vector<ExportThread> threads;

  const ExportFrame& FrameOf(const ContextNode& node) const { return frames[IndexOf(node.frame)]; }
  const ExportThread& ThreadOf(const ContextNode& node) const {
    return threads[IndexOf(node.thread)];
  }
  int64_t Value(size_t node, size_t measure) const {
    return values[node * measures.size() + measure];
  }
  // Returns the measures that add up.
  std::vector<size_t> Sums() const;
};

// Returns the contexts of a counted or sampled profile. Fails if LoadForest does.
Result<ContextTree> LoadContexts(Source& source, const ForestOptions& options);

// Returns what the period of a sampled measure counts: cpu, wall, or the measure's own events.
std::string PeriodType(const Measure& measure);

// Returns the level of each node, 0 for threads.
std::vector<uint32_t> Levels(const ContextTree& tree);

// Folds recursion below `whole` frames. Returns nullopt if no stack is that deep; otherwise the
// tree's last note describes what was folded, if anything was.
std::optional<ContextTree> FoldDeep(const ContextTree& tree, uint32_t whole);

// Returns the sum, or the limit of the type if it is beyond that.
int64_t AddSaturating(int64_t a, int64_t b);

// Returns the value for formats that cannot hold any below 0: over-calibrated
// contexts have 0 there.
inline int64_t AtLeast0(int64_t value) { return value < 0 ? 0 : value; }

// Returns the values of `measure`, at least 0 each, with all below them, by node.
std::vector<int64_t> InclusiveAtLeast0(const ContextTree& tree, size_t measure);

}  // namespace jprof::model
