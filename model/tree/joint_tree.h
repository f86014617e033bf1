// Aligns the calling contexts of one profile or of two by the path of method names from the thread
// down. There is one node per path, with the values of each profile. Threads are one; types do not
// matter. Invariants: context 0 represents the threads themselves; a context's parent is before it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/tree/forest.h"

namespace jprof::model {

// An amount of one profile in the metric's unit, or in a unit of time if its samples are known
// to represent time.
struct Amount {
  double value = 0;
  double samples = 0;  // behind the value, if it was sampled
  double error = 0;    // about one standard deviation, if it was measured
  Amount& operator+=(const Amount& other);
};

// Returns the value of the first metric of one row. Requires that the forest has a metric.
Amount AmountOf(const Forest& forest, size_t row);

struct Context : Node {
  uint32_t name = 0;  // in JointTree::names
  uint32_t level = 0;
  std::array<Amount, 2> self, all;  // by profile; `all` includes what it called
};

struct JointMethod {
  std::array<Amount, 2> self, all;  // `all` has only the outermost call of a recursion
  uint32_t contexts = 0;
  uint8_t in = 0;  // bit 0 if the first profile has it, bit 1 for the second
};

struct JointTree {
  std::vector<std::string> names;
  std::vector<Context> contexts = std::vector<Context>(1);
  std::vector<JointMethod> methods;   // by name
  std::array<Amount, 2> folded = {};  // the values of folded frames, which count for a caller
  // By profile, the context of each row of its forest; kNoNode of threads and folded frames.
  std::array<std::vector<NodeIndex>, 2> context_of_row;

  // Returns the path to the context, callers first, without context 0.
  std::vector<NodeIndex> PathTo(NodeIndex context) const;
};

class JointTreeBuilder {
 public:
  // If `folded` is given, only frames that both profiles can contain become contexts: frames of
  // these kinds (flags of profile::kMethodNotJava) and the Java frames that the VM generates are
  // folded into the nearest caller, and numbers that the VM generates are removed from names.
  // Without it, every frame is a context.
  explicit JointTreeBuilder(std::optional<uint16_t> folded) : folded_(folded) {}

  // Adds a forest, whose first metric becomes the values of profile `side`, 0 or 1.
  void Add(Forest& forest, size_t side);
  JointTree Take();

 private:
  uint32_t NameOf(Forest& forest, profile::MethodId method);
  NodeIndex Child(NodeIndex parent, uint32_t name);
  void SumUp();
  void SumMethods();

  std::optional<uint16_t> folded_;
  JointTree tree_;
  std::unordered_map<std::string, uint32_t> names_;
  ChildMap children_;              // by name
  std::vector<uint32_t> name_of_;  // of the methods of the forest being added
};

// States whether the profiles that are matched are of one build of the program. In several builds,
// a compiler numbers the lambdas of a class anew.
enum class Builds : uint8_t { kOne, kSeveral };

// Returns a method's name without the numbers that change with each run or, of several builds, with
// each build. The name is empty for frames to be folded: those of the kinds `folded`, and those
// that the VM generates.
std::string ComparableName(const profile::MethodName& parts, std::string_view name,
                           Builds builds = Builds::kOne, uint16_t folded = profile::kMethodNotJava);

}  // namespace jprof::model
