// What the trainers' own output and their profiles say about each shape and each transition.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "calibrate/model/table.h"
#include "calibrate/train/estimate.h"
#include "common/result.h"
#include "profile/reader.h"

namespace jprof::calibrate {

// A shape: the copy of ShapeXX and its calling method, "ShapeIJ sLs1". A kernel: "Library regex".
using ShapeName = std::string;

// What one walk of each truly takes: ns, then what each counter of the metric set counts.
using Truth = std::map<ShapeName, std::vector<double>>;

// The "shape COPY METHOD NANOSECONDS COUNT..." lines of a trainer's output. Error: it did not get
// to its end.
Result<Truth> ParseShapes(std::string_view output);

// The shape without any call that a shape is compared with: "ShapeIJ sEmpty0".
ShapeName EmptyOf(const ShapeName& shape);

// The shape with one call less of the same: "ShapeIJ sLs2" of "ShapeIJ sLs3". Empty: there is none.
ShapeName ShorterOf(const ShapeName& shape);

// How often a walk calls methods of one type, and what these keep over their probes: what they use
// of their arguments.
struct Calls {
  double calls = 0, arguments = 0, results = 0;
};

// One walk of a shape or a kernel as the tree has it: from the caller's entry to its exit.
struct Walk {
  double calls = 0;
  Counts counts;                  // transitions per walk
  std::vector<double> metrics;    // raw, per walk
  std::map<char, Calls> by_type;  // upper case; the caller, too
};
std::map<ShapeName, Walk> WalksOf(const profile::CallTree& tree, const profile::Methods& methods);

// The train file, sorted by transition; only intervals between methods of the shapes.
struct Samples {
  std::vector<std::map<Key, std::vector<uint32_t>>>
      deltas;                         // by metric, raw; without the dirty ones
  std::vector<uint32_t> handlers[2];  // ticks within bracketed handlers, by EventKind
  uint64_t records = 0;
};
Samples SamplesOf(const profile::Reader& profile, const profile::Methods& methods);

// The key of an interval that ends with `event`: from runs, to is entered or returned to.
Key KeyOf(EventKind previous, uint32_t from, EventKind event, uint32_t to,
          const profile::Methods& methods);

}  // namespace jprof::calibrate
