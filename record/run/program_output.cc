#include "record/run/program_output.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <future>
#include <thread>

#include "common/blocked_signals.h"
#include "common/errno_text.h"
#include "common/procfs.h"
#include "record/run/pipe.h"

namespace jprof::record {
namespace {

constexpr size_t kChunk = 64 * 1024;

// Returns where the next byte would be written, or a negative number if that is unknown.
off_t WritePosition(int fd) {
  struct stat about = {};
  const int flags = fcntl(fd, F_GETFL);
  if (flags < 0 || fstat(fd, &about) != 0) return -1;
  return (flags & O_APPEND) != 0 ? about.st_size : lseek(fd, 0, SEEK_CUR);
}

// Returns false if the stream takes no more.
bool WriteToStream(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written > 0) {
      bytes.remove_prefix(static_cast<size_t>(written));
    } else if (written < 0 && errno == EAGAIN) {  // another program has made it non-blocking
      pollfd space = {fd, POLLOUT, 0};
      poll(&space, 1, -1);
    } else if (written < 0 && errno != EINTR) {
      return false;
    }
  }
  return true;
}

}  // namespace

void OutputSum::Add(std::string_view bytes) {
  length_ += bytes.size();
  for (const char byte : bytes) hash_ = (hash_ ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
}

// Runs the thread that copies one run's output. It ends when no process can write to the pipe any
// more, or when the real stream is closed by its reader, or on destruction.
class ProgramOutput::Forwarding {
 public:
  Forwarding(Fd from, int to, Fd event) : event_(std::move(event)), sum_(promise_.get_future()) {
    const BlockedSignals blocked;  // SIGPIPE is handled by this thread; see program_input.cc
    thread_ = std::thread([this, to, pipe = std::move(from)]() mutable { Copy(pipe, to); });
  }
  ~Forwarding() {
    eventfd_write(event_.get(), kParts);
    thread_.join();
  }

  // Must be called after the program has ended. Returns when the pipe is empty.
  Result<OutputSum> Sum() {
    eventfd_write(event_.get(), 1);
    return sum_.get();
  }

 private:
  static constexpr eventfd_t kParts = 2;

  // Copies until the program has ended and the pipe is empty, and then until destruction.
  void Copy(Fd& pipe, int to) {
    OutputSum sum;
    bool more = CopyPart(pipe, to, sum);
    if (!pipe) {
      promise_.set_value(Fail("its reader has closed it"));
    } else {
      promise_.set_value(sum);
    }
    if (more) CopyPart(pipe, to, sum);
  }

  // Returns false at the end of the data, and true when the pipe is empty and the event has
  // happened. Closes the pipe if the real stream takes no more.
  bool CopyPart(Fd& pipe, int to, OutputSum& sum) const {
    std::string bytes(kChunk, '\0');
    for (;;) {
      pollfd fds[] = {{pipe.get(), POLLIN, 0}, {event_.get(), POLLIN, 0}};
      if (poll(fds, 2, -1) < 0) continue;
      if (fds[0].revents == 0) {
        eventfd_t count;
        eventfd_read(event_.get(), &count);
        return true;
      }
      const ssize_t got = read(pipe.get(), bytes.data(), bytes.size());
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      const std::string_view part(bytes.data(), static_cast<size_t>(got));
      sum.Add(part);
      if (WriteToStream(to, part)) continue;
      pipe.Reset();
      return false;
    }
  }

  Fd event_;  // a semaphore: the number of parts of Copy that are to end
  std::promise<Result<OutputSum>> promise_;
  std::future<Result<OutputSum>> sum_;
  std::thread thread_;
};

ProgramOutput::ProgramOutput(int fd, int error) : fd_(fd) {
  struct stat output = {}, errors = {};
  if (fstat(fd, &output) != 0) {
    note_ = "it is closed";
    return;
  }
  const bool same = fstat(error, &errors) == 0 && errors.st_dev == output.st_dev &&
                    errors.st_ino == output.st_ino;
  if (S_ISCHR(output.st_mode)) {
    note_ = isatty(fd) ? "a terminal" : "a device";
  } else if (same) {
    note_ = "standard error goes to the same place";
  } else {
    is_file_ = S_ISREG(output.st_mode);
    is_stream_ = S_ISFIFO(output.st_mode) || S_ISSOCK(output.st_mode);
    if (!is_file_ && !is_stream_) note_ = "neither a file nor a pipe";
  }
}

ProgramOutput::~ProgramOutput() = default;

Result<int> ProgramOutput::Begin() {
  if (is_file_) start_ = WritePosition(fd_);
  if (!is_stream_) return -1;
  auto pipe = MakePipe();
  if (!pipe) return std::unexpected(pipe.error());
  Fd event(eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE));
  if (!event) return Fail("cannot copy the program's standard output: {}", ErrnoText());
  forwarding_.push_back(std::make_unique<Forwarding>(std::move(pipe->read), fd_, std::move(event)));
  given_ = std::move(pipe->write);
  return given_.get();
}

// Opens the file again by its descriptor, because it may have been opened for writing only, or have
// been moved or deleted.
Result<OutputSum> ProgramOutput::SumOfFile() const {
  off_t at = start_;
  const off_t end = WritePosition(fd_);
  if (at < 0 || end < at) return Fail("the file became shorter");
  const Fd file(open(procfs::DescriptorPath(fd_).c_str(), O_RDONLY | O_CLOEXEC));
  OutputSum sum;
  std::string bytes(kChunk, '\0');
  while (at < end) {
    const size_t most = std::min<size_t>(kChunk, static_cast<size_t>(end - at));
    const ssize_t got = pread(file.get(), bytes.data(), most, at);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Fail("the file cannot be read");
    sum.Add({bytes.data(), static_cast<size_t>(got)});
    at += got;
  }
  return sum;
}

Result<OutputSum> ProgramOutput::SumOfStream() {
  given_.Reset();  // so that the data ends
  return forwarding_.back()->Sum();
}

ProgramOutput::Comparison ProgramOutput::End() {
  if (!is_file_ && !is_stream_) return {.note = note_};
  const Result<OutputSum> sum = is_file_ ? SumOfFile() : SumOfStream();
  const bool is_first = !first_.has_value();
  if (is_first) first_ = sum;
  if (!sum) return {.note = sum.error().message};
  if (!*first_) return {.note = first_->error().message};
  if (is_first) return {};
  return {.output =
              **first_ == *sum ? profile::Run::Output::kEqual : profile::Run::Output::kDiffers};
}

}  // namespace jprof::record
