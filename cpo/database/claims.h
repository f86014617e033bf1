// Decides which directives get what all programs of a machine compete for. Pure.
#pragma once

#include <cstdint>
#include <vector>

namespace jprof::cpo {

struct ClaimRow {
  int64_t run = 0, directive = 0;
  uint64_t amount = 0;
  double benefit = 0;    // predicted, of the whole amount
  bool is_held = false;  // by a run that is alive; otherwise a run that begins wants it
};

struct Grants {
  std::vector<ClaimRow> granted;  // of those that were wanted
  std::vector<ClaimRow> refused;  // of those that were wanted
  std::vector<ClaimRow> yielded;  // of those that were held
  // A granted claim may be of memory that the program of a yielded one still uses.
  bool is_contested() const { return !yielded.empty(); }
};

// Grants the claims with the highest benefit for each unit first, as long as they fit into
// `capacity`, each of them whole or not at all. Of equal ones, those that are held are first, then
// those of the earlier run and directive. A held claim only yields to a better one that needs it.
Grants Resolve(uint64_t capacity, std::vector<ClaimRow> claims);

}  // namespace jprof::cpo
