#include "cli/shared/output_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <optional>

#include "common/errno_text.h"
#include "profile/files/printable_text.h"
#include "record/place/profile_place.h"

namespace jprof::cli {
namespace {

namespace fs = std::filesystem;

// Removes the file on destruction, if it exists.
class RemovedAtEnd {
 public:
  explicit RemovedAtEnd(std::string path) : path_(std::move(path)) {}
  ~RemovedAtEnd() { unlink(path_.c_str()); }
  RemovedAtEnd(const RemovedAtEnd&) = delete;
  RemovedAtEnd& operator=(const RemovedAtEnd&) = delete;

 private:
  std::string path_;
};

// Limits the permissions of new files to these. Their owner can always read and write them.
class AtMost {
 public:
  explicit AtMost(fs::perms permissions)
      : mask_(umask(~static_cast<mode_t>(permissions) & mode_t{0177})) {}
  ~AtMost() { umask(mask_); }
  AtMost(const AtMost&) = delete;
  AtMost& operator=(const AtMost&) = delete;

 private:
  mode_t mask_;
};

// Returns whether the path is a device, a pipe, or what the process has already open.
bool IsWrittenDirectly(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) return false;
  return !fs::is_regular_file(status) || path.starts_with("/dev/std") ||
         path.starts_with("/dev/fd/");
}

std::unexpected<Error> NotWritable(const std::string& path, const std::string& reason) {
  return WrongUse("cannot write {}: {}; choose another file with -o", profile::CleanText(path),
                  reason);
}

// Returns what `path` is in the end: the target of all links, which need not exist.
Result<fs::path> TargetOf(const std::string& path) {
  std::error_code error;
  fs::path target = fs::weakly_canonical(path, error);
  for (int links = 0; !error && fs::is_symlink(fs::symlink_status(target)); ++links) {
    if (links == 40) return NotWritable(path, "too many links");
    target = fs::weakly_canonical(target.parent_path() / fs::read_symlink(target, error), error);
  }
  if (error) return NotWritable(path, error.message());
  return target;
}

// Fails if no new file can be made beside `target`.
Result<void> CheckFolder(const std::string& path, const fs::path& target) {
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  if (access(folder.c_str(), W_OK | X_OK) == 0) return {};
  return NotWritable(path, ErrnoText());
}

// Returns `failed` with `path` instead of `part` in its message.
Result<void> Naming(const std::string& path, const std::string& part, Error failed) {
  const std::string named = profile::CleanText(part);
  const size_t at = failed.message.find(named);
  if (at != std::string::npos) failed.message.replace(at, named.size(), profile::CleanText(path));
  return std::unexpected(std::move(failed));
}

// Renames `part` to `target`, whose permissions it gets.
std::error_code Rename(const std::string& part, const fs::path& target,
                       const fs::file_status& old) {
  std::error_code error;
  if (fs::exists(old)) fs::permissions(part, old.permissions(), error);
  if (!error) fs::rename(part, target, error);
  return error;
}

Result<void> WriteAndRename(const std::string& path, const fs::path& target,
                            const std::function<Result<void>(const std::string&)>& write) {
  if (auto can = CheckFolder(path, target); !can) return can;
  const std::string part = fmt::format("{}.{}.part", target.string(), getpid());
  unlink(part.c_str());
  const RemovedAtEnd removed(part);
  std::error_code error;
  const fs::file_status old = fs::status(target, error);
  {
    std::optional<AtMost> narrow;
    if (fs::exists(old)) narrow.emplace(old.permissions());
    if (auto written = write(part); !written) return Naming(path, part, written.error());
  }
  error = Rename(part, target, old);
  if (!error) return {};
  return Fail("cannot write {}: {}; choose another file with -o", profile::CleanText(path),
              error.message());
}

// Removes the folder of events on destruction, if it exists.
class FolderRemovedAtEnd {
 public:
  explicit FolderRemovedAtEnd(std::string path) : path_(std::move(path)) {}
  ~FolderRemovedAtEnd() { record::RemoveEvents(path_); }
  FolderRemovedAtEnd(const FolderRemovedAtEnd&) = delete;
  FolderRemovedAtEnd& operator=(const FolderRemovedAtEnd&) = delete;

 private:
  std::string path_;
};

// Fails if there is anything but a folder of events.
Result<void> CheckReplaceable(const std::string& path, const fs::path& target) {
  std::error_code ignored;
  const fs::file_status status = fs::status(target, ignored);
  if (!fs::exists(status)) return {};
  if (fs::is_directory(status)) return record::CheckEvents(target);
  return NotWritable(path, "it is a file, and this format is a folder");
}

}  // namespace

Result<void> WriteEventFolder(const std::string& path,
                              const std::function<Result<void>(const std::string& path)>& write) {
  const Result<fs::path> target = TargetOf(path);
  if (!target) return std::unexpected(target.error());
  if (auto can = CheckReplaceable(path, *target); !can) return can;
  if (auto can = CheckFolder(path, *target); !can) return can;
  const std::string part = fmt::format("{}.{}.part", target->string(), getpid());
  const std::string old = fmt::format("{}.{}.old", target->string(), getpid());
  const FolderRemovedAtEnd part_removed(part), old_removed(old);
  if (auto written = write(part); !written) return Naming(path, part, written.error());
  std::error_code error;
  if (fs::exists(*target, error)) fs::rename(*target, old, error);
  if (!error) fs::rename(part, *target, error);
  return error ? NotWritable(path, error.message()) : Result<void>();
}

uintmax_t SizeOf(const std::string& path, std::error_code& error) {
  if (!fs::is_directory(path, error)) return fs::file_size(path, error);
  uintmax_t size = 0;
  for (const auto& entry : fs::recursive_directory_iterator(path, error)) {
    if (entry.is_regular_file(error)) size += entry.file_size(error);
  }
  return size;
}

Result<void> WriteOutputFile(const std::string& path,
                             const std::function<Result<void>(const std::string& path)>& write) {
  std::error_code error;
  if (fs::is_directory(path, error))
    return WrongUse("{} is a directory; name a file in it with -o", profile::CleanText(path));
  if (IsWrittenDirectly(path)) return write(path);
  const Result<fs::path> target = TargetOf(path);
  if (!target) return std::unexpected(target.error());
  return WriteAndRename(path, *target, write);
}

Result<void> PrintToNewFile(const std::string& path,
                            const std::function<Result<void>(std::FILE* file)>& print) {
  const char* mode = IsWrittenDirectly(path) ? "we" : "wxe";
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), mode), std::fclose);
  if (!file) return NotWritable(path, ErrnoText());
  Result<void> printed = print(file.get());
  if (std::fclose(file.release()) != 0 && printed)
    printed = Fail("cannot write {}: {}; free some space", profile::CleanText(path), ErrnoText());
  return printed;
}

}  // namespace jprof::cli
