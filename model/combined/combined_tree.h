// Matches the calling contexts of one counted and several sampled profiles of the same program by
// the names of the methods on their paths. Threads are one tree. Recursion is folded in all of them
// in the same way: a method that is already on the path returns to its context.
//
// A context of a Java method can be counted. Native functions, kernel functions and code of the VM
// are only sampled: they are contexts below the Java method that called them, and Java methods that
// such code calls are below that Java method, as in a counted tree. Java methods of a stack whose
// outer frames are missing are below the note of that, where no counted context is.
//
// Invariants: context 0 represents the threads themselves; a context's parent is before it.
#pragma once

#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/flat_map.h"
#include "common/frame_kind.h"
#include "model/tree/forest.h"
#include "model/tree/joint_tree.h"

namespace jprof::model {

struct CombinedContext : Node {  // siblings are in the order of first sight
  uint32_t name = 0;             // in CombinedTree::names
  uint32_t level = 0;
  bool is_java = true;   // a method that the counted run could see
  bool counted = false;  // the counted profile has it
  bool sampled = false;  // a sampled profile has it, or a context below it
  char type = '?';       // that of most samples or, without samples, of most calls
  uint64_t calls = 0;
  uint64_t inner_calls = 0;  // of these, calls below the method itself, as far as counted apart
  bool recursive = false;    // a profile has the method below itself
  double counted_ns = 0;     // own time in the counted profile, calibrated if it has a table
  double counted_error = 0;  // one standard deviation of it
};

// The values of frames that are not contexts of their own, and where they were added.
struct FoldedFrames {
  uint64_t calls = 0;  // of methods that the VM generates, which are not shown
  double samples = 0;  // added to the nearest caller
};

// Returns the sum over all runs.
inline double Sum(std::span<const double> samples) {
  return std::accumulate(samples.begin(), samples.end(), 0.0);
}

struct CombinedTree {
  std::vector<std::string> names;
  std::vector<CombinedContext> contexts = std::vector<CombinedContext>(1);
  size_t runs = 0;                  // sampled profiles
  std::vector<double> samples;      // own, [context * runs + run]
  std::vector<double> all_samples;  // with all contexts below
  std::vector<double> counted_all;  // counted_ns with all contexts below, by context
  std::vector<double> period_ns;    // the time that one sample represents, by run
  FoldedFrames folded;
  bool has_times = false;       // the counted profile has times
  bool counted_folded = false;  // the counted run itself folded recursion

  // Returns the calls that are not below the method itself, or nothing where the counted run does
  // not distinguish them.
  std::optional<uint64_t> OutermostCalls(size_t context) const {
    const CombinedContext& at = contexts[context];
    if (at.recursive && counted_folded) return std::nullopt;
    return at.calls - at.inner_calls;
  }
  double Samples(size_t context, size_t run) const { return samples[context * runs + run]; }
  double AllSamples(size_t context, size_t run) const { return all_samples[context * runs + run]; }
  std::span<const double> OwnSamples(size_t context) const {
    return std::span(samples).subspan(context * runs, runs);
  }
  std::span<const double> AllSamples(size_t context) const {
    return std::span(all_samples).subspan(context * runs, runs);
  }
};

class CombinedTreeBuilder {
 public:
  explicit CombinedTreeBuilder(size_t runs, Builds builds = Builds::kOne) : builds_(builds) {
    tree_.runs = runs;
  }

  // Returns the context of each row; kNoNode for rows that are added to their caller's.
  // `time_metric` is the metric of the forest with the time, or kNoMetric.
  std::vector<NodeIndex> AddCounted(Forest& forest, size_t time_metric);
  // Returns the context of each row, or 0 for rows without samples of `metric`, which are of
  // other events, such as allocations. `metric` is one of the forest, and one sample of it
  // represents `period_ns`.
  std::vector<NodeIndex> AddSampled(Forest& forest, size_t run, size_t metric, double period_ns);
  // Returns the context of each row as AddCounted does, but adds no values.
  std::vector<NodeIndex> Match(Forest& forest);
  CombinedTree Take();

  static constexpr size_t kNoMetric = ~size_t{0};

 private:
  struct Place {
    NodeIndex context = 0;  // of the row itself
    NodeIndex java = 0;     // the nearest context of a Java method, the parent of Java callees
    bool folded = false;    // the row is no context, and its values belong to `context`
  };
  struct Name {
    uint32_t id = 0;
    bool known = false, is_java = false, generated = false;
    bool cuts = false;  // it stands for outer frames that are missing
    // Of a method without a signature, as imported stacks may have, the names with one.
    const std::vector<uint32_t>* overloads = nullptr;
  };

  // Calls visit(row index, place) for each row for which has(row index) holds. It must hold for the
  // row's callers, too.
  template <typename Has, typename Visit>
  std::vector<NodeIndex> AddRows(Forest& forest, const Has& has, const Visit& visit);
  Place PlaceOf(Forest& forest, NodeIndex row, const std::vector<Place>& places);
  const Name& NameOf(Forest& forest, profile::MethodId method);
  NodeIndex Child(NodeIndex parent, const Name& name);
  void AddName(const std::string& text, Name& name);
  Name Overload(NodeIndex parent, const Name& name);
  NodeIndex Append(NodeIndex parent, const Name& name);
  void FindRecursion(const Forest& forest, bool counted, const std::vector<NodeIndex>& contexts);
  void Vote(NodeIndex context, char type, double samples, uint64_t calls);
  void SumUp();

  Builds builds_;
  CombinedTree tree_;
  std::unordered_map<std::string, uint32_t> names_;
  std::unordered_map<std::string, std::vector<uint32_t>> overloads_;  // by name without signature
  ChildMap children_;                                                 // by name
  // Which contexts there were before the forest that is being added, by parent and name. It is made
  // when it is first needed.
  std::optional<FlatMap> called_;
  std::vector<Name> name_of_;  // by method, of the forest being added
  struct Votes {
    double samples = -1;
    uint64_t calls = 0;
  };
  std::vector<Votes> votes_;  // by context, for its type
};

}  // namespace jprof::model
