#include "common/control_group.h"

#include <algorithm>
#include <sstream>

namespace jprof {
namespace {

// Lists the names of a version's files. In version 1, the sums of a group do not include its
// subgroups, except those whose names begin with total_.
struct MemoryFiles {
  const char *limit, *used, *droppable;
};
constexpr MemoryFiles kMemoryFiles[] = {
    {"/memory.max", "/memory.current", "inactive_file"},
    {"/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_inactive_file"}};

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream{std::string(text)};
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

bool Lists(std::string_view names, std::string_view name) {
  return std::ranges::count(Split(names, ','), name) != 0;
}

// Contains the path of the process's group in a hierarchy, and whether the hierarchy is of version
// 1.
struct GroupPath {
  std::string path;
  bool first_version = false;
};

// Reads lines of /proc/PID/cgroup such as "4:cpu,cpuacct:/a/b"; version 2 has number 0 and no
// controllers. A controller belongs to one hierarchy.
std::optional<GroupPath> FindPath(std::string_view controller, const std::string& root) {
  std::optional<GroupPath> found;
  for (const std::string& line : Split(procfs::ReadSmallFile(root + "/self/cgroup"), '\n')) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == line.npos || second == line.npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (Lists(controllers, controller)) return GroupPath{line.substr(second + 1), true};
    if (line.starts_with("0::")) found = {line.substr(second + 1), false};
  }
  return found;
}

struct Mount {
  std::string group;  // the path of the group that is mounted
  std::string directory;
};

// Reads lines of /proc/PID/mountinfo such as "35 31 0:32 /group /sys/fs/cgroup/memory rw shared:7 -
// cgroup cgroup rw,memory". There are any number of words before the "-".
std::optional<Mount> FindMount(std::string_view controller, bool first_version,
                               const std::string& root) {
  const std::string_view wanted = first_version ? "cgroup" : "cgroup2";
  for (const std::string& line : Split(procfs::ReadSmallFile(root + "/self/mountinfo"), '\n')) {
    const std::vector<std::string> words = Split(line, ' ');
    const auto type = std::ranges::find(words, "-") - words.begin() + 1;
    if (type < 6 || type + 2 >= std::ssize(words) || words[static_cast<size_t>(type)] != wanted)
      continue;
    if (!first_version || Lists(words.back(), controller)) return Mount{words[3], words[4]};
  }
  return std::nullopt;
}

// Returns the path of a group relative to the mounted one. A group that is not below the mounted
// one, as in a container with the host's control groups, is represented by the mounted one.
std::string BelowMount(std::string path, const std::string& mounted) {
  if (path.find("/..") != path.npos) return "";
  if (mounted != "/") {
    if (path != mounted && !path.starts_with(mounted + "/")) return "";
    path = path.substr(mounted.size());
  }
  return path == "/" ? "" : path;
}

template <typename T>
void Lower(std::optional<T>& least, std::optional<T> value) {
  if (value) least = std::min(*value, least.value_or(*value));
}

// Returns nothing for "max", which is no limit.
std::optional<uint64_t> LimitOf(const std::string& group, const MemoryFiles& files) {
  return procfs::NumberAt<uint64_t>(procfs::ReadSmallFile(group + files.limit));
}

std::optional<uint64_t> LeftIn(const std::string& group, const MemoryFiles& files) {
  const auto limit = LimitOf(group, files);
  const auto used = procfs::NumberAt<uint64_t>(procfs::ReadSmallFile(group + files.used));
  if (!limit || !used) return limit;
  uint64_t droppable = 0;
  for (const std::string& line : Split(procfs::ReadSmallFile(group + "/memory.stat"), '\n')) {
    const size_t blank = line.find(' ');
    if (line.substr(0, blank) == files.droppable)
      droppable = procfs::NumberAt<uint64_t>(std::string_view(line).substr(blank + 1)).value_or(0);
  }
  const uint64_t needed = *used - std::min(*used, droppable);
  return *limit - std::min(*limit, needed);
}

// Returns the lowest value of all groups of the memory controller.
template <typename Function>
std::optional<uint64_t> LowestOf(const std::string& root, Function value) {
  std::optional<uint64_t> least;
  for (const std::string& group : ControlGroups("memory", root)) {
    for (const MemoryFiles& files : kMemoryFiles) Lower(least, value(group, files));
  }
  return least;
}

}  // namespace

std::vector<std::string> ControlGroups(std::string_view controller, const std::string& root) {
  const auto own = FindPath(controller, root);
  if (!own) return {};
  const auto mount = FindMount(controller, own->first_version, root);
  if (!mount) return {};
  std::vector<std::string> groups;
  std::string below = BelowMount(own->path, mount->group);
  for (; !below.empty(); below.resize(below.rfind('/'))) groups.push_back(mount->directory + below);
  groups.push_back(mount->directory);
  return groups;
}

std::optional<uint64_t> MemoryLimit(const std::string& root) {
  // Version 1 reports "no limit" as about twice this value.
  constexpr uint64_t kNone = uint64_t{1} << 62;
  const auto least = LowestOf(root, LimitOf);
  return least && *least < kNone ? least : std::nullopt;
}

std::optional<uint64_t> AvailableMemory(const std::string& root) {
  std::optional<uint64_t> least = LowestOf(root, LeftIn);
  Lower(least, procfs::MachineMemory(root));
  return least;
}

}  // namespace jprof
