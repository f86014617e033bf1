// Extracts the measurements of each shape and each transition from the trainers' output and their
// profiles.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "calibrate/model/table.h"
#include "calibrate/train/estimate.h"
#include "common/result.h"
#include "profile/read/reader.h"

namespace jprof::calibrate {

// The name of a shape is the copy of ShapeXX and its calling method, "ShapeIJ sLs1"; the name of a
// kernel is like "Library regex".
using ShapeName = std::string;

// The true cost of one walk of each shape: its ns, then the count of each counter of the
// metric set.
using Truth = std::map<ShapeName, std::vector<double>>;

// Parses the "shape COPY METHOD NANOSECONDS COUNT..." lines of a trainer's output. Fails if the
// trainer did not run to its end.
Result<Truth> ParseShapes(std::string_view output);

// The name of a C function of the trainer, from a "function 0xLINKADDRESS CLASS METHOD" line of its
// output. Its class and method are those of the Java trainers.
struct FunctionName {
  std::string class_name, name;
};
using FunctionNames = std::map<std::string, FunctionName>;  // by link address, as in a profile
FunctionNames ParseFunctions(std::string_view output);

// Gives C functions of a profile their names.
void NameFunctions(const FunctionNames& names, profile::Methods& methods);

// Returns the shape without calls that `shape` is compared with, such as "ShapeIJ sEmpty0".
ShapeName EmptyOf(const ShapeName& shape);

// Returns the shape with one call less, "ShapeIJ sLs2" for "ShapeIJ sLs3", or an empty name if
// there is none.
ShapeName ShorterOf(const ShapeName& shape);

// The number of calls of methods of one type in a walk, and the numbers of arguments and results
// that these save across their probes.
struct Calls {
  double calls = 0, arguments = 0, results = 0;
};

// One walk, that is one execution, of a shape or a kernel according to the tree, from the caller's
// entry to its exit.
struct Walk {
  double calls = 0;
  Counts counts;                  // transitions per walk
  std::vector<double> metrics;    // raw, per walk
  std::map<char, Calls> by_type;  // upper case; includes the caller
};
std::map<ShapeName, Walk> WalksOf(const profile::CallTree& tree, const profile::Methods& methods);

// The intervals of the train file by transition, but only those between methods of the shapes.
struct Samples {
  std::vector<std::map<Key, std::vector<uint32_t>>> deltas;  // by metric, raw; clean ones only
  std::vector<uint32_t> handlers[2];  // ticks within timed handlers, by EventKind
  uint64_t records = 0;
};
Samples SamplesOf(const profile::Reader& profile, const profile::Methods& methods);

// Returns the key of an interval that ends with `event`: `from` runs, `to` is entered or
// returned to.
Key KeyOf(EventKind previous, uint32_t from, EventKind event, uint32_t to,
          const profile::Methods& methods);

}  // namespace jprof::calibrate
