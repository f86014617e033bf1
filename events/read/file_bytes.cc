#include "events/read/file_bytes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "common/fd.h"

namespace jprof::events {

std::string ReadBytes(const std::string& path, uint64_t most, uint64_t from) {
  const Fd file(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  struct stat status;
  if (!file || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  const auto size = static_cast<uint64_t>(status.st_size);
  std::string bytes(from >= size ? 0 : std::min(size - from, most), '\0');
  size_t read = 0;
  for (ssize_t got = 1; got > 0 && read < bytes.size(); read += static_cast<size_t>(got)) {
    got = pread(file.get(), bytes.data() + read, bytes.size() - read,
                static_cast<off_t>(from + read));
    if (got < 0) break;
  }
  bytes.resize(read);
  return bytes;
}

}  // namespace jprof::events
