#include "profile/read/limits.h"

#include <fmt/format.h>

#include <algorithm>

#include "profile/files/printable_text.h"

namespace jprof::profile {
namespace {

std::string Times(uint32_t count) {
  return count == 1 ? "once" : count == 2 ? "twice" : fmt::format("{} times", count);
}

// Returns which time was recorded, or an empty text if all of it was. With samples, only these are
// started and stopped, which is not noted in the header.
std::string TimeText(const Meta& meta, const ControlHeader& header) {
  const bool began_paused = meta.options.begins_paused && (header.paused != 0 || header.starts > 0);
  if (began_paused && header.starts == 0) return "never started";
  if (began_paused) return fmt::format("paused at first, started {}", Times(header.starts));
  return header.stops == 0 ? "" : fmt::format("stopped {}", Times(header.stops));
}

}  // namespace

std::string LimitsText(const Meta& meta, const ControlHeader& header) {
  std::string text;
  if (!meta.options.within.empty()) {
    text = "only within " + CleanText(meta.options.within);
    if (meta.options.after != 0)
      text += fmt::format(", without the first {} of {} calls",
                          std::min(meta.options.after, header.gate_calls), header.gate_calls);
  }
  const std::string time = TimeText(meta, header);
  return text + (text.empty() || time.empty() ? "" : "; ") + time;
}

}  // namespace jprof::profile
