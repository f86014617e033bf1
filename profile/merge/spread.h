// The file `spread`: how the values of a context differ between the profiles that were merged.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/fd.h"
#include "common/result.h"
#include "profile/files/layout.h"

namespace jprof::profile {

class Reader;

// The range of one quantity over all inputs. An input without the context counts as 0. The median
// of an even number of values is the lower of the two in the middle.
struct Range {
  int64_t min = 0;
  int64_t median = 0;
  int64_t max = 0;
  bool operator==(const Range&) const = default;
};

// The file consists of this header and, for each context in the order of the nodes, a SpreadRecord
// and Range[columns]. The columns are calls, then each metric, raw.
struct SpreadHeader {
  char magic[8] = {'J', 'P', 'R', 'O', 'F', 'S', 'P', 'R'};
  uint32_t version = 1;
  uint32_t inputs = 0;
  uint32_t columns = 0;
  uint32_t reserved = 0;
  uint64_t contexts = 0;
};
static_assert(sizeof(SpreadHeader) == 32);

struct SpreadRecord {
  uint32_t inputs = 0;  // number of inputs that have the context
  uint32_t reserved = 0;
};
static_assert(sizeof(SpreadRecord) == 8);

// The whole file, in memory. Element i belongs to record i of the reader's tree: contexts come
// first, superseded records have none.
struct Spread {
  uint32_t inputs = 0;
  uint32_t columns = 0;
  std::vector<uint32_t> present;  // [context]: number of inputs that have it
  std::vector<Range> ranges;      // [context * columns + column]
};

// Reads the file. The result is empty (inputs == 0) if the profile has none or it does not belong
// to the profile, which is reported as damage. Reads no more than `records`, the size of the
// reader's tree. A file that is cut off is reported as damage and read as far as it goes.
Spread ReadSpread(Reader& reader, uint64_t records);

// Writes the file `path`. Requires a range of each column for each context.
Result<void> WriteSpread(const std::string& path, const Spread& spread);

// Values of one context in one input: calls, then each metric.
struct SpreadRun {
  std::vector<uint32_t> contexts;  // in ascending order
  std::vector<int64_t> values;     // [place in contexts * columns + column]
};

// Collects the values of all inputs in a temporary file, and reduces them to ranges by blocks of
// contexts, in memory that does not depend on their number.
class SpreadCollector {
 public:
  // Makes the temporary file in `directory`. It has no name.
  Result<void> Open(const std::string& directory, uint32_t columns);

  // Adds the values of the next input.
  Result<void> Add(const SpreadRun& run);

  // Writes the file `path`, for contexts 0 to `contexts` - 1.
  Result<void> Write(const std::string& path, uint64_t contexts);

 private:
  class Cursor;
  struct Extent {
    uint64_t offset = 0;
    uint64_t bytes = 0;
  };
  size_t EntryBytes() const { return (1 + columns_) * sizeof(int64_t); }

  Fd file_;
  std::string name_;
  uint32_t columns_ = 0;
  uint64_t end_ = 0;
  std::vector<Extent> runs_;
};

}  // namespace jprof::profile
