#include "a2n/module_files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "a2n/proc_maps.h"
#include "common/errno_text.h"
#include "common/procfs.h"

namespace jprof::a2n {
namespace {

constexpr std::string_view kDeleted = " (deleted)";
constexpr const char* kVdso = "[vdso]";

bool IsAnonymous(std::string_view path) {
  return path.empty() || path.starts_with("//anon") || (path.starts_with('[') && path != kVdso) ||
         path.starts_with("anon_inode:") || path.starts_with("/dev/zero") ||
         path.starts_with("/SYSV");
}

// Contains a path at which the file may be readable. The best path is first.
struct Candidate {
  std::string path;
  // If set, the file is accepted even with another inode, which overlay file systems and upgrades
  // cause.
  bool by_name;
};

std::vector<Candidate> CandidatesFor(const ModuleFile& file) {
  std::string path = file.path;
  const bool deleted = path.ends_with(kDeleted);
  if (deleted) path.resize(path.size() - kDeleted.size());
  const bool by_name = !deleted || !file.build_id.empty();  // a known build id is always compared
  std::vector<Candidate> candidates;
  if (!file.root.empty()) candidates.push_back({file.root + path, by_name});
  candidates.push_back({path, by_name && (file.root.empty() || !file.build_id.empty())});
  // The pid may belong to another process by now: only a file with the right inode is accepted.
  const std::string process = procfs::Directory(file.pid);
  if (file.root.empty()) candidates.push_back({process + "/root" + path, false});
  candidates.push_back(
      {fmt::format("{}/map_files/{:x}-{:x}", process, file.start, file.end), false});
  return candidates;
}

Fd OpenForReading(const std::string& path) {
  return Fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
}

}  // namespace

ModuleFile& ModuleFiles::Intern(Pid pid, const Mapping& mapping, const std::string& root) {
  const std::string key =
      fmt::format("{}\n{}\n{}\n{}", mapping.path, mapping.build_id, mapping.inode, root);
  const auto [place, made] = by_key_.try_emplace(key, nullptr);
  if (made) {
    ModuleFile& file = files_.emplace_back();
    file.path = mapping.path.empty() ? "//anon" : mapping.path;
    file.build_id = mapping.build_id;
    file.inode = mapping.inode;
    file.root = root;
    file.pid = pid;
    file.start = mapping.start;
    file.end = mapping.start + mapping.length;
    file.anonymous = file.tried = IsAnonymous(mapping.path);
    file.jit_memory = file.anonymous || mapping.path.starts_with("/memfd:");
    place->second = &file;
  }
  return *place->second;
}

ModuleFile& ModuleFiles::ByPath(const std::string& path) {
  ModuleFile*& file = by_path_[path];
  if (file == nullptr) file = &Intern(0, {.path = path}, "");
  return *file;
}

void ModuleFiles::TryOpen(ModuleFile& file) {
  file.tried = true;
  Result<Image*> image = file.path == kVdso ? FindVdso() : Find(file);
  if (!image) {
    ++statistics.modules_failed;
    complaints.push_back(
        {fmt::format("{}: {}; its addresses have no names", file.path, image.error().message),
         file.missing});
    return;
  }
  file.image = *image;
  file.has_symbols = file.image->HasSymbols();
  if (file.has_symbols) return;
  complaints.push_back({fmt::format(
      "{}: it has no symbols, and there is no debug file for it in {}{}; install its debug "
      "package, or build it without stripping it",
      file.path, fmt::join(options_.debug_folders, ", "),
      file.image->build_id().empty() ? "" : " (build id " + file.image->build_id() + ")")});
}

Result<Image*> ModuleFiles::Load(Fd fd, const std::string& path) {
  struct stat status = {};
  if (fstat(fd.get(), &status) != 0) return Fail("{}", ErrnoText());
  const Identity identity(status.st_dev, status.st_ino, status.st_size, status.st_mtim.tv_sec,
                          status.st_mtim.tv_nsec);
  if (const auto known = by_identity_.find(identity); known != by_identity_.end())
    return known->second;
  auto image = Image::Open(std::move(fd), path, options_);
  if (!image) return std::unexpected(image.error());
  ++statistics.modules_opened;
  images_.push_back(std::move(*image));
  return by_identity_[identity] = images_.back().get();
}

// Finds the file. Prefers one with the mapped inode, or else accepts one that has the name now. A
// known build id decides.
Result<Image*> ModuleFiles::Find(ModuleFile& file) {
  std::string reason, other_build;
  file.missing = true;
  for (const bool by_name : {false, true}) {
    for (const Candidate& candidate : CandidatesFor(file)) {
      if (by_name ? !candidate.by_name : file.inode == 0) continue;
      Fd fd = OpenForReading(candidate.path);
      struct stat status = {};
      if (!fd || fstat(fd.get(), &status) != 0) {
        file.missing &= errno == ENOENT || errno == ENOTDIR;
        if (reason.empty()) reason = ErrnoText();
        continue;
      }
      file.missing = false;
      if (!by_name && status.st_ino != file.inode) continue;
      Result<Image*> image = Load(std::move(fd), candidate.path);
      if (!image) {
        reason = image.error().message;
      } else if (file.build_id.empty() || (*image)->build_id() == file.build_id) {
        return image;
      } else {
        other_build = (*image)->build_id().empty() ? "none" : (*image)->build_id();
      }
    }
  }
  if (!other_build.empty()) {
    return Fail(
        "it was replaced: its build id is {}, the process had "
        "mapped {}. Profile again, or restore the old file",
        other_build, file.build_id);
  }
  if (file.path.ends_with(kDeleted))
    return Fail("it was deleted, and its process has ended or belongs to another user");
  return Fail("{}", reason.empty() ? "another file has this name now" : reason);
}

// Finds the vdso, which is the same in all processes: jprof's own is copied to memory that has a
// descriptor.
Result<Image*> ModuleFiles::FindVdso() {
  auto maps = ReadMaps(procfs::kSelf);
  if (!maps) return std::unexpected(maps.error());
  for (const Mapping& mapping : *maps) {
    if (mapping.path != kVdso) continue;
    Fd fd(memfd_create("vdso", MFD_CLOEXEC));
    if (!fd) return Fail("memfd_create: {}", ErrnoText());
    const auto* image = reinterpret_cast<const char*>(mapping.start);
    if (write(fd.get(), image, mapping.length) != static_cast<ssize_t>(mapping.length))
      return Fail("it could not be copied");
    return Load(std::move(fd), kVdso);
  }
  return Fail("this process has no vdso");
}

}  // namespace jprof::a2n
