#include "record/tprof/foreign_jit.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <utility>

#include "common/errno_text.h"
#include "common/fd.h"
#include "common/private_file.h"
#include "common/procfs.h"
#include "profile/files/printable_text.h"

namespace jprof::record {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostLines = 20;  // limits the output: any user can create any number of files

std::string ReadAt(int folder, const char* name) {
  const Fd file(openat(folder, name, O_RDONLY | O_CLOEXEC));
  std::string text(4096, '\0');
  const ssize_t got = read(file.get(), text.data(), text.size());
  text.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return text;
}

Fd OpenProcess(uint32_t pid) {
  return Fd(open(procfs::Directory(pid).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
}

// Returns 0 if the process has ended.
uint64_t StartOf(int process) {
  return procfs::ParseStartTime(ReadAt(process, "stat")).value_or(0);
}

// Returns the effective user and group, or nothing if the process has ended. The owner of the
// folder would be root for a process that has made itself undumpable.
std::optional<UserIds> IdsOf(int process) {
  const procfs::Status status = procfs::ParseStatus(ReadAt(process, "status"));
  if (!status.user) return std::nullopt;
  return UserIds{*status.user, status.group};
}

// Returns the pid of the process in its own container.
uint32_t NumberInside(int process, uint32_t pid) {
  const uint32_t own = procfs::ParseStatus(ReadAt(process, "status")).own_pid;
  return own != 0 ? own : pid;
}

// Finds the file without opening it, so that a device or a FIFO is not affected.
Fd FindWithoutLinks(int root, const fs::path& path, uint64_t flags, uint64_t resolve) {
  open_how how = {};
  how.flags = O_PATH | O_CLOEXEC | flags;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | resolve;
  return Fd(static_cast<int>(
      syscall(SYS_openat2, root, ("." / path.relative_path()).c_str(), &how, sizeof(how))));
}

// Finds a file that may be on another file system than the root directory, but not than its own
// folder.
Fd FindFile(int root, const fs::path& path) {
  const Fd folder = FindWithoutLinks(root, path.parent_path(), O_DIRECTORY, 0);
  if (!folder) return Fd();
  return FindWithoutLinks(folder.get(), path.filename(), O_NOFOLLOW, RESOLVE_NO_XDEV);
}

// Returns the text of a note for an errno.
std::string ReasonNotFound(int error) {
  if (error == ELOOP) return "a symbolic link is on its path";
  if (error == EXDEV) return "it is mounted, or outside of the root directory of its process";
  return ErrnoText(error);
}

Result<void> Check(const struct stat& status, uid_t user, uint64_t bytes_left) {
  if (S_ISLNK(status.st_mode)) return Fail("it is a symbolic link");
  if (!S_ISREG(status.st_mode)) return Fail("it is not a regular file");
  if (status.st_nlink > 1) return Fail("it has {} names (hard links)", status.st_nlink);
  if (status.st_uid != user)
    return Fail("it belongs to user {}, its process to user {}", status.st_uid, user);
  if (static_cast<uint64_t>(status.st_size) > bytes_left)
    return Fail("it is {} bytes long; {} bytes are left of the {} that a recording may copy",
                status.st_size, bytes_left, ForeignJit::kMostBytes);
  return {};
}

struct OpenFile {
  Fd file;  // none if there is no such file
  uint64_t size = 0;
};

Result<OpenFile> OpenTrusted(int root, const fs::path& path, UserIds ids, uint64_t bytes_left) {
  const ScopedUser user(ids);
  if (!user.done()) return Fail("jprof may not open it with the rights of user {}", ids.user);
  const Fd found = FindFile(root, path);
  if (!found && errno == ENOENT) return OpenFile();
  if (!found) return Fail("{}", ReasonNotFound(errno));
  struct stat status;
  if (fstat(found.get(), &status) != 0) return Fail("{}", ErrnoText());
  if (auto good = Check(status, ids.user, bytes_left); !good) return std::unexpected(good.error());
  Fd file(open(procfs::DescriptorPath(found.get()).c_str(),
               O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file) return Fail("it cannot be read: {}", ErrnoText());
  return OpenFile{std::move(file), static_cast<uint64_t>(status.st_size)};
}

// Copies only the length that was checked, because the process may still be writing.
Result<void> CopyBytes(int from, int to, uint64_t left) {
  std::array<char, 1 << 16> block;
  while (left > 0) {
    const ssize_t got = read(from, block.data(), std::min<uint64_t>(left, block.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Fail("it cannot be read: {}", ErrnoText());
    if (got == 0) break;
    for (ssize_t put = 0; put < got;) {
      const ssize_t written = write(to, block.data() + put, static_cast<size_t>(got - put));
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return Fail("the copy cannot be written: {}", ErrnoText());
      put += written;
    }
    left -= static_cast<uint64_t>(got);
  }
  return {};
}

}  // namespace

Result<bool> CopyTrusted(int root, const fs::path& path, UserIds ids, int out,
                         const std::string& name, uint64_t& bytes_left) {
  const auto from = OpenTrusted(root, path, ids, bytes_left);
  if (!from) return std::unexpected(from.error());
  if (!from->file) return false;
  const Fd to(openat(out, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kPrivateFile));
  if (!to) return Fail("the copy {} cannot be made: {}", name, ErrnoText());
  bytes_left -= from->size;
  auto copied = CopyBytes(from->file.get(), to.get(), from->size);
  if (copied) return true;
  unlinkat(out, name.c_str(), 0);
  return std::unexpected(copied.error());
}

// Treats a process that has ended as this user's.
ForeignJit::Process& ForeignJit::ProcessOf(uint32_t pid) {
  const auto [entry, added] = processes_.try_emplace(pid, Process{.ids = UserIds::Own()});
  Process& process = entry->second;
  const Fd folder = OpenProcess(pid);
  if (const auto ids = folder ? IdsOf(folder.get()) : std::nullopt) {
    process.ids = *ids;
    process.started = StartOf(folder.get());
  }
  return process;
}

void ForeignJit::Sampled(uint32_t pid) {
  if (pid == 0) return;  // an idle CPU
  const auto known = processes_.find(pid);
  if (known != processes_.end() && known->second.sampled) return;
  ProcessOf(pid).sampled = true;
}

// Leaves the child's attributes to be read when it is sampled, because most children never are.
void ForeignJit::Forked(uint32_t parent, uint32_t child) {
  if (parent == child) return;  // a thread
  const auto known = processes_.find(parent);
  const UserIds ids = known != processes_.end() ? known->second.ids : ProcessOf(parent).ids;
  processes_[child] = {.ids = ids};
}

void ForeignJit::Executed(uint32_t pid) { ProcessOf(pid); }

void ForeignJit::Mapped(uint32_t pid, std::string_view path, uint64_t inode) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  if (!name.starts_with("jit-") || !name.ends_with(".dump")) return;
  ProcessOf(pid);
  dumps_.emplace(std::pair(inode, std::string(path)), pid);
}

std::vector<std::string> ForeignJit::CopyTo(const fs::path& out) const {
  const Fd folder(open(out.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  std::vector<std::string> lines;
  uint64_t bytes_left = kMostBytes;
  size_t refused = 0;
  const auto copy = [&](uint32_t pid, const Process& process, const fs::path& path,
                        const std::string& name) {
    const Fd alive = OpenProcess(pid);
    const bool same = process.started != 0 && StartOf(alive.get()) == process.started;
    const auto ids = same ? IdsOf(alive.get()) : std::nullopt;
    const Fd its_root(same ? openat(alive.get(), "root", O_PATH | O_DIRECTORY | O_CLOEXEC) : -1);
    const Fd our_root(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
    fs::path inside = path;
    if (inside.empty())
      inside = fmt::format("/tmp/perf-{}.map", its_root ? NumberInside(alive.get(), pid) : pid);
    const auto copied = CopyTrusted(its_root ? its_root.get() : our_root.get(), inside,
                                    ids.value_or(process.ids), folder.get(), name, bytes_left);
    if (copied || ++refused > kMostLines) return;
    lines.push_back(fmt::format("{} of process {} is not copied: {}",
                                profile::CleanText(inside.string()), pid, copied.error().message));
  };
  for (const auto& [pid, process] : processes_) {
    if (process.sampled) copy(pid, process, {}, fmt::format("perf-{}.map", pid));
  }
  std::map<uint32_t, int> dumps_of;
  for (const auto& [dump, pid] : dumps_) {
    const int number = ++dumps_of[pid];
    const std::string suffix = number == 1 ? "" : fmt::format("-{}", number);
    copy(pid, processes_.at(pid), dump.second, fmt::format("jit-{}{}.dump", pid, suffix));
  }
  if (refused > kMostLines)
    lines.push_back(
        fmt::format("{} more files of jitted code are not copied", refused - kMostLines));
  return lines;
}

}  // namespace jprof::record
