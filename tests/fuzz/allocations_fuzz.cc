// libFuzzer: reads any bytes as a log of libjprof-pages.so. There must be no crash and no sanitizer
// report, and no two placements may overlap in both memory and time.
#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "cpo/allocations/log.h"

namespace {

using jprof::cpo::Placement;

void CheckDisjoint(std::vector<Placement> placements) {
  std::ranges::sort(placements, {}, &Placement::start);
  for (size_t i = 0; i < placements.size(); ++i) {
    const Placement& one = placements[i];
    for (size_t k = i + 1; k < placements.size(); ++k) {
      const Placement& other = placements[k];
      if (other.start - one.start >= one.size) break;
      if (one.from_ns < other.to_ns && other.from_ns < one.to_ns) __builtin_trap();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto log = jprof::cpo::ParseLog({reinterpret_cast<const char*>(data), size});
  if (!log) return 0;
  for (const Placement& placed : log->placements) {
    const bool is_sound = placed.size > 0 && placed.from_ns <= placed.to_ns &&
                          placed.group < log->groups.size() &&
                          placed.size - 1 <= UINT64_MAX - placed.start;
    if (!is_sound) __builtin_trap();
  }
  CheckDisjoint(log->placements);
  return 0;
}
