#include "record/attach/loaded_copy.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "common/fd.h"

namespace jprof::record {
namespace {

constexpr uint64_t kMostBytes = uint64_t{16} << 20;

// Returns fewer bytes if not all can be read.
std::string ReadAt(const std::string& path, uint64_t at, uint64_t bytes) {
  std::string text(std::min(bytes, kMostBytes), '\0');
  const Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const ssize_t got = pread(file.get(), text.data(), text.size(), static_cast<off_t>(at));
  text.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return text;
}

}  // namespace

// Compares the first mapping of the library, which is not changed in memory and contains the build
// id and the symbol table.
std::string LoadedCopy(const AttachTarget& target, const std::filesystem::path& library) {
  for (const procfs::Mapping& agent : target.loaded_agents) {
    const uint64_t bytes = agent.end - agent.start;
    const std::string loaded = ReadAt(procfs::Directory(target.pid) + "/mem", agent.start, bytes);
    if (!loaded.empty() && loaded == ReadAt(library, 0, bytes)) return agent.path;
  }
  return "";
}

}  // namespace jprof::record
