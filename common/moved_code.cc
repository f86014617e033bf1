#include "common/moved_code.h"

#include <optional>

namespace jprof::procfs {
namespace {

bool IsAnonymous(const Mapping& mapping) {
  return mapping.path.empty() || mapping.path.starts_with("[anon") ||
         mapping.path.starts_with("/anon_hugepage");
}

// Returns the file offset that `address` would have if the mapping extended to it.
uint64_t OffsetAt(const Mapping& mapping, uint64_t address) {
  return mapping.offset + (address - mapping.start);
}

// Returns the offset of the code between two mappings of one file, or nothing if it is not known.
std::optional<uint64_t> OffsetBetween(const Mapping& before, const Mapping& moved,
                                      const Mapping& after) {
  if (before.end != moved.start || moved.end != after.start || before.path != after.path ||
      before.inode == 0 || before.inode != after.inode)
    return std::nullopt;
  const uint64_t by_before = OffsetAt(before, moved.start), by_after = OffsetAt(after, moved.start);
  if (by_before == by_after || before.executable) return by_before;
  if (after.executable) return by_after;
  return std::nullopt;
}

}  // namespace

void NameMovedCode(std::vector<Mapping>& maps) {
  for (size_t i = 1; i + 1 < maps.size(); ++i) {
    Mapping& moved = maps[i];
    if (!moved.executable || !IsAnonymous(moved)) continue;
    const Mapping& before = maps[i - 1];
    const auto offset = OffsetBetween(before, moved, maps[i + 1]);
    if (!offset) continue;
    moved.path = before.path;
    moved.inode = before.inode;
    moved.offset = *offset;
  }
}

}  // namespace jprof::procfs
