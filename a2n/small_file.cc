#include "a2n/small_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "common/errno_text.h"
#include "common/fd.h"

namespace jprof::a2n {

Result<std::string> ReadSmallFile(const std::string& path, size_t most, bool* cut) {
  const Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd) return Fail("{}", ErrnoText());
  struct stat status = {};
  if (fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode))
    return Fail("it is not a regular file");
  std::string text;
  constexpr size_t kStep = size_t{1} << 20;
  size_t filled = 0;
  ssize_t got = 1;
  while (got > 0 && filled < most) {
    text.resize(std::min(most, filled + kStep));
    got = read(fd.get(), text.data() + filled, text.size() - filled);
    if (got < 0 && errno == EINTR)
      got = 1;
    else if (got > 0)
      filled += static_cast<size_t>(got);
    // Text files and dumps do not contain this many zeros: it is a sparse file, perhaps longer than
    // memory.
    if (got == kStep && text.find_first_not_of('\0', filled - kStep) == std::string::npos) {
      filled -= kStep;
      break;
    }
  }
  const int error = errno;
  char more = 0;
  if (cut != nullptr) *cut = got > 0 && read(fd.get(), &more, 1) == 1;
  if (got < 0) return Fail("{}", ErrnoText(error));
  text.resize(filled);
  return text;
}

}  // namespace jprof::a2n
