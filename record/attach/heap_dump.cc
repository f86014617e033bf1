#include "record/attach/heap_dump.h"

#include <fcntl.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "common/control_protocol.h"
#include "common/errno_text.h"
#include "common/monotonic.h"
#include "common/procfs.h"
#include "record/attach/attach.h"
#include "record/run/interruption.h"

namespace jprof::record {

namespace fs = std::filesystem;

namespace {

auto ExistsAlready(const std::string& place) {
  return WrongUse("{} exists; choose another file with -o", place);
}

auto CannotWrite(const std::string& place, int error) {
  return Fail("cannot write {}: {}; choose another file with -o", place, ErrnoText(error));
}

// Copies a file to one that does not exist yet. Returns an error number, or 0; EINTR after a signal
// to this process. (std::filesystem reports a full disk as EIO.)
int CopyFile(const std::string& from, const std::string& to) {
  constexpr size_t kPart = size_t{64} << 20;
  const Fd source(open(from.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!source) return errno;
  const Fd target(open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!target) return errno;
  ssize_t copied = 1;
  while (copied > 0 && Interruption::Number() == 0)
    copied = sendfile(target.get(), source.get(), nullptr, kPart);
  if (copied == 0) return 0;
  const int error = copied < 0 ? errno : EINTR;
  unlink(to.c_str());
  return error;
}

}  // namespace

HeapDumpFile::HeapDumpFile(const AttachTarget& target)
    : target_(target),
      name_(fmt::format("jprof-heap-{}-{:x}.hprof", target.own_pid, MonotonicNanos())) {}

HeapDumpFile::~HeapDumpFile() {
  if (!name_.empty()) unlink(path().c_str());
}

std::string HeapDumpFile::path() const {
  return fmt::format("{}/{}", procfs::DescriptorPath(target_.temporary.get()), name_);
}

Result<void> HeapDumpFile::Write(bool all) const {
  constexpr double kSeconds = 24 * 3600;  // a large heap on a slow disk takes long
  const std::string request = AttachRequest(
      "dumpheap", fmt::format("{}/{}", target_.temporary_path, name_), all ? "-all" : "-live", "");
  const auto answer = Ask(target_, request, OnSignal::kGiveUp, kSeconds);
  if (!answer) return std::unexpected(answer.error());
  return ParseDumpAnswer(*answer, target_.pid);
}

Result<void> HeapDumpFile::Keep(const std::string& place) {
  std::error_code failed;
  if (fs::exists(place, failed)) return ExistsAlready(place);
  int error = rename(path().c_str(), place.c_str()) == 0 ? 0 : errno;
  if (error == EXDEV) {
    error = CopyFile(path(), place);
    if (error == 0) unlink(path().c_str());
  }
  if (error != 0) return CannotWrite(place, error);
  name_.clear();
  return {};
}

Result<Fd> HeapDumpFile::OpenUnnamed() {
  Fd file(open(path().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file) return Fail("cannot read the heap of process {}: {}", target_.pid, ErrnoText());
  unlink(path().c_str());
  name_.clear();
  return file;
}

Result<void> CheckPlace(const std::string& place) {
  const Fd file(open(place.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file && errno == EEXIST) return ExistsAlready(place);
  if (!file) return CannotWrite(place, errno);
  unlink(place.c_str());
  return {};
}

Result<void> ParseDumpAnswer(std::string_view answer, uint32_t pid) {
  const std::string_view whole = answer;
  const auto code = TakeNumber(answer);
  if (code == 0 && answer.contains("Heap dump file created")) return {};
  while (answer.ends_with('\n')) answer.remove_suffix(1);
  return Fail("process {} cannot write its heap: {}", pid,
              control::OneLine(answer.empty() ? whole : answer));
}

}  // namespace jprof::record
