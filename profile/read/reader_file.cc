#include "profile/read/reader_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "common/errno_text.h"

namespace jprof::profile {
namespace {

int OpenToRead(int dir_fd, const char* name) {
  int fd = -1;
  do {
    // O_NONBLOCK: a FIFO of that name must not hang the report.
    fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  } while (fd < 0 && errno == EINTR);
  return fd;
}

}  // namespace

ReaderFile::ReaderFile(int dir_fd, const char* name, Damages* damages)
    : fd_(OpenToRead(dir_fd, name)), name_(name), damages_(damages) {
  struct stat status = {};
  if (!fd_ || fstat(fd_.get(), &status) != 0) {
    error_ = errno;
    if (error_ != ENOENT) Failed(error_);
    fd_.Reset();
  } else if (S_ISREG(status.st_mode)) {
    size_ = static_cast<uint64_t>(status.st_size);
    allocated_ = static_cast<uint64_t>(status.st_blocks) * 512;
  } else {
    fd_.Reset();
  }
}

void ReaderFile::Failed(int error) const {
  if (damages_ != nullptr) damages_->Add(name_ + ": cannot be read: " + ErrnoText(error));
}

size_t ReaderFile::ReadAt(uint64_t offset, void* out, size_t bytes) const {
  size_t done = 0;
  while (fd_ && done < bytes) {
    const ssize_t got = pread(fd_.get(), static_cast<char*>(out) + done, bytes - done,
                              static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) Failed(errno);
    if (got <= 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

std::string ReaderFile::ReadAll(uint64_t limit) const {
  constexpr size_t kPiece = size_t{1} << 20;
  const uint64_t wanted = std::min(size_, limit);
  std::string text;
  text.reserve(std::min(wanted, allocated_));
  while (text.size() < wanted) {
    const size_t begin = text.size();
    text.resize(std::min<uint64_t>(wanted, begin + kPiece));
    const size_t got = ReadAt(begin, text.data() + begin, text.size() - begin);
    const bool hole = got == kPiece && text.find_first_not_of('\0', begin) == std::string::npos;
    text.resize(begin + (hole ? 0 : got));
    if (hole || got < kPiece) break;
  }
  return text;
}

uint64_t ReaderFile::NextData(uint64_t offset) const {
  if (allocated_ >= size_ || offset >= size_) return offset;
  const off_t data = lseek(fd_.get(), static_cast<off_t>(offset), SEEK_DATA);
  if (data >= 0) return static_cast<uint64_t>(data);
  return errno == ENXIO ? size_ : offset;
}

}  // namespace jprof::profile
