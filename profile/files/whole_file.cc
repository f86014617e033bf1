#include "profile/files/whole_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "common/errno_text.h"
#include "common/fd.h"
#include "common/no_file_size_signal.h"
#include "common/private_file.h"
#include "common/write_all.h"

namespace jprof::profile {
namespace {

// Returns an errno, or 0 if the file has been written.
int Write(const std::string& path, std::string_view text) {
  const NoFileSizeSignal in_silence;
  Fd file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kPrivateFile));
  if (!file) return errno;
  if (const int error = WriteAll(file.get(), text)) return error;
  return close(file.Release()) == 0 ? 0 : errno;
}

}  // namespace

Result<void> WriteWholeFile(const std::string& path, std::string_view text, std::string temporary) {
  if (temporary.empty()) temporary = path + ".tmp";
  int error = Write(temporary, text);
  if (error == 0 && std::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return {};
  unlink(temporary.c_str());
  return Fail("cannot write {}: {}", path, ErrnoText(error));
}

}  // namespace jprof::profile
