#include "record/run/program_input.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "common/blocked_signals.h"
#include "common/errno_text.h"
#include "common/procfs.h"
#include "common/write_all.h"
#include "record/run/pipe.h"

namespace jprof::record {
namespace {

// Makes an empty file without a name.
Result<Fd> UnlinkedFile() {
  std::error_code failed;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(failed);
  std::string name = (folder / "jprof-input-XXXXXX").string();
  Fd file(failed ? -1 : mkostemp(name.data(), O_CLOEXEC));
  if (!file) {
    return Fail(
        "cannot store the program's standard input in {}: "
        "{}; set TMPDIR to a directory that can be written",
        folder.string(), failed ? failed.message() : ErrnoText());
  }
  unlink(name.c_str());
  return AboveStandardStreams(std::move(file));
}

// Waits until `fd` has one of `events`. Returns false when `stop` has happened.
bool Await(int fd, short events, int stop) {
  for (;;) {
    pollfd fds[] = {{stop, POLLIN, 0}, {fd, events, 0}};
    if (poll(fds, 2, -1) < 0) {
      if (errno != EINTR) return false;
      continue;
    }
    if (fds[0].revents != 0) return false;
    if (fds[1].revents != 0) return true;
  }
}

// Gives bytes to the program through a pipe that does not block. Returns false when it takes no
// more, or when `stop` has happened.
bool Give(int pipe, const char* bytes, size_t size, int stop) {
  while (size != 0) {
    if (!Await(pipe, POLLOUT, stop)) return false;
    const ssize_t written = write(pipe, bytes, size);
    if (written < 0 && errno != EAGAIN && errno != EINTR) return false;
    if (written <= 0) continue;
    bytes += written;
    size -= static_cast<size_t>(written);
  }
  return true;
}

// Copies `from` to `program` and to `file` until the input or the program ends. Returns the errno
// of a failed write to `file`; the program still receives everything.
int Copy(int from, const Fd& program, int file, int stop) {
  int error = 0;
  char bytes[16 * 1024];
  while (Await(from, POLLIN, stop)) {
    const ssize_t got = read(from, bytes, sizeof(bytes));
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (got <= 0) break;
    if (error == 0) error = WriteAll(file, {bytes, static_cast<size_t>(got)});
    if (!Give(program.get(), bytes, static_cast<size_t>(got), stop)) break;
  }
  return error;
}

}  // namespace

ProgramInput::ProgramInput(int fd) : fd_(fd) {
  struct stat about = {};
  if (fstat(fd, &about) != 0) return;
  if (S_ISFIFO(about.st_mode) || S_ISSOCK(about.st_mode)) kind_ = Kind::kStream;
  if (S_ISCHR(about.st_mode) && isatty(fd)) kind_ = Kind::kTerminal;
  if (!S_ISREG(about.st_mode)) return;
  start_ = lseek(fd, 0, SEEK_CUR);
  if (start_ >= 0) kind_ = Kind::kFile;
}

ProgramInput::~ProgramInput() { End(); }

Result<int> ProgramInput::Begin() {
  if (kind_ == Kind::kStream) return stored_ ? OpenStored() : CopyStream();
  if (kind_ == Kind::kFile && lseek(fd_, start_, SEEK_SET) < 0)
    return Fail("cannot read the program's standard input again: {}", ErrnoText());
  return -1;
}

Result<int> ProgramInput::CopyStream() {
  auto file = UnlinkedFile();
  if (!file) return std::unexpected(file.error());
  auto pipe = MakePipe();
  if (!pipe) return std::unexpected(pipe.error());
  stop_.Reset(eventfd(0, EFD_CLOEXEC));
  if (!stop_) return Fail("cannot copy the program's standard input: {}", ErrnoText());
  fcntl(pipe->write.get(), F_SETFL, O_NONBLOCK);
  stored_ = *std::move(file);
  given_ = std::move(pipe->read);
  const BlockedSignals blocked;  // signals are for the thread that runs the program
  copying_ = std::thread([this, program = std::move(pipe->write)] {
    store_error_ = Copy(fd_, program, stored_.get(), stop_.get());
  });
  return given_.get();
}

// Opens the stored input again, read-only and from its beginning.
Result<int> ProgramInput::OpenStored() {
  if (store_error_ != 0) {
    return Fail("the program's standard input could not be stored: {}", ErrnoText(store_error_));
  }
  const std::string path = procfs::DescriptorPath(stored_.get());
  given_ = AboveStandardStreams(Fd(open(path.c_str(), O_RDONLY | O_CLOEXEC)));
  if (!given_) return Fail("cannot read the program's standard input again: {}", ErrnoText());
  return given_.get();
}

void ProgramInput::End() {
  given_.Reset();
  if (!copying_.joinable()) return;
  eventfd_write(stop_.get(), 1);
  copying_.join();
}

std::string_view ProgramInput::RepeatNote() const {
  if (kind_ != Kind::kTerminal) return "";
  return "standard input is a terminal: the program may ask for input again";
}

}  // namespace jprof::record
