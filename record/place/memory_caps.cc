#include "record/place/memory_caps.h"

#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/vfs.h>

#include "common/control_group.h"

namespace jprof::record {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMega = 1 << 20;
constexpr uint64_t kShare = 3;  // a third of the available memory

bool IsInMemory(fs::path place) {
  struct statfs about = {};
  while (statfs(place.empty() ? "." : place.c_str(), &about) != 0) {
    if (place == place.parent_path()) return false;
    place = place.parent_path();
  }
  return about.f_type == TMPFS_MAGIC || about.f_type == static_cast<long>(RAMFS_MAGIC);
}

std::string Size(uint64_t bytes) {
  if (bytes < 10 * 1024 * kMega) return fmt::format("{}M", bytes / kMega);
  return fmt::format("{}G", bytes / (1024 * kMega));
}

}  // namespace

Memory ReadMemory(const fs::path& place) {
  std::error_code failed;
  return {AvailableMemory().value_or(0),
          IsInMemory(fs::absolute(place, failed).lexically_normal())};
}

Result<void> LimitMemory(options::AgentOptions& options, const Memory& memory, bool forced,
                         std::vector<std::string>& notes) {
  if (forced || memory.available == 0) return {};
  const bool trace = options.mode == options::Mode::kTrace;
  if (trace && memory.holds_files && options.trace_mode == options::TraceMode::kContinuous) {
    return WrongUse(
        "--mode continuous has no limit in bytes and --out is in memory (tmpfs); choose a "
        "directory on a disk with -o, or add --force");
  }
  const uint64_t cap = trace ? options.trace_memory : options.tree_memory;
  const uint64_t most = memory.available / kShare;
  if (cap <= most) return {};
  const char* const option = trace ? "--trace-memory" : "--tree-memory";
  const std::string reason = fmt::format("{} is more than a third of the {} of available memory",
                                         Size(cap), Size(memory.available));
  const uint64_t whole = most / kMega * kMega;
  if (!trace && cap == options::AgentOptions().tree_memory && whole != 0) {
    options.tree_memory = whole;
    notes.push_back(fmt::format("{} {} instead of {}: {}", option, Size(whole), Size(cap), reason));
    return {};
  }
  return WrongUse("{} {}: {}; use {} or less, or add --force", option, Size(cap), reason,
                  Size(most));
}

}  // namespace jprof::record
