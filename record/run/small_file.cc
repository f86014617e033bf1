#include "record/run/small_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fd.h"
#include "common/procfs.h"

namespace jprof::record {

// Checks the kind of the file first, because opening a device may have effects.
std::string ReadSmallFile(const std::filesystem::path& path) {
  const Fd found(open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  struct stat status = {};
  if (!found || fstat(found.get(), &status) != 0 || !S_ISREG(status.st_mode)) return "";
  const Fd file(open(procfs::DescriptorPath(found.get()).c_str(), O_RDONLY | O_CLOEXEC));
  std::string text(kMostOfSmallFile, '\0');
  size_t filled = 0;
  while (file && filled < text.size()) {
    const ssize_t got = read(file.get(), text.data() + filled, text.size() - filled);
    if (got <= 0) break;
    filled += static_cast<size_t>(got);
  }
  text.resize(filled);
  return text;
}

}  // namespace jprof::record
