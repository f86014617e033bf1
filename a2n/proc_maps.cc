#include "a2n/proc_maps.h"

#include "common/moved_code.h"
#include "common/procfs.h"

namespace jprof::a2n {
namespace {

std::vector<Mapping> Executable(std::vector<procfs::Mapping> all) {
  procfs::NameMovedCode(all);
  std::vector<Mapping> mappings;
  for (procfs::Mapping& mapping : all) {
    if (!mapping.executable) continue;
    mappings.push_back({.start = mapping.start,
                        .length = mapping.end - mapping.start,
                        .file_offset = mapping.offset,
                        .path = mapping.path.empty() ? "//anon" : std::move(mapping.path),
                        .inode = mapping.inode});
  }
  return mappings;
}

}  // namespace

std::vector<Mapping> ParseMaps(std::string_view text) {
  return Executable(procfs::ParseMaps(text));
}

Result<std::vector<Mapping>> ReadMaps(Pid pid) {
  auto maps = procfs::ReadMaps(pid);
  if (!maps) return std::unexpected(maps.error());
  return Executable(*std::move(maps));
}

}  // namespace jprof::a2n
