#include "heap/dump/dump_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "common/errno_text.h"
#include "common/fd.h"
#include "heap/dump/expand.h"

namespace jprof::heap {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kGzipMagic = "\x1f\x8b";

// Opens a file without a name in the directory of the dump, or in that for temporary files.
Result<Fd> OpenScratch(const std::string& path) {
  std::error_code failed;
  fs::path beside = fs::path(path).parent_path();
  if (beside.empty()) beside = ".";
  for (const fs::path& folder : {beside, fs::temp_directory_path(failed)}) {
    Fd file(open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
    if (file) return file;
  }
  return Fail("no place to expand {}: {}; set TMPDIR to a directory with space, or use gunzip",
              path, ErrnoText());
}

}  // namespace

DumpFile::DumpFile(DumpFile&& other) noexcept { *this = std::move(other); }

DumpFile& DumpFile::operator=(DumpFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(file_size_, other.file_size_);
  std::swap(damage_, other.damage_);
  return *this;
}

DumpFile::~DumpFile() {
  if (data_ != nullptr) munmap(const_cast<char*>(data_), size_);
}

Result<void> DumpFile::Map(int fd, const std::string& path) {
  struct stat status = {};
  if (fstat(fd, &status) != 0) return Fail("cannot read {}: {}", path, ErrnoText());
  if (!S_ISREG(status.st_mode)) return WrongUse("{} is not a regular file; name a heap dump", path);
  size_ = static_cast<size_t>(status.st_size);
  if (size_ == 0) return Fail("{} is empty; it may still be being written", path);
  void* const data = mmap(nullptr, size_, PROT_READ, MAP_SHARED, fd, 0);
  if (data == MAP_FAILED) return Fail("cannot map {}: {}", path, ErrnoText());
  data_ = static_cast<const char*>(data);
  return {};
}

Result<DumpFile> DumpFile::Open(const std::string& path,
                                const std::function<void(double)>& progress) {
  const Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return WrongUse("cannot open {}: {}", path, ErrnoText());
  DumpFile file;
  if (auto mapped = file.Map(fd.get(), path); !mapped) return std::unexpected(mapped.error());
  file.file_size_ = file.size_;
  if (!file.bytes().starts_with(kGzipMagic)) return file;
  const auto scratch = OpenScratch(path);
  if (!scratch) return std::unexpected(scratch.error());
  auto damage = Expand(file.bytes(), scratch->get(), progress);
  if (!damage) return std::unexpected(damage.error());
  DumpFile expanded;
  if (auto mapped = expanded.Map(scratch->get(), path); !mapped) {
    if (damage->empty()) return std::unexpected(mapped.error());
    return Fail("{} cannot be expanded: {}", path, *damage);
  }
  expanded.file_size_ = file.size_;
  expanded.damage_ = *std::move(damage);
  return expanded;
}

void DumpFile::Release() const { madvise(const_cast<char*>(data_), size_, MADV_DONTNEED); }

}  // namespace jprof::heap
