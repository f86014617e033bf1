#include "record/attach/heap_dump.h"

#include <unistd.h>

#include <filesystem>

#include "common/control_protocol.h"
#include "common/monotonic.h"
#include "common/procfs.h"
#include "record/attach/attach.h"

namespace jprof::record {

namespace fs = std::filesystem;

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
  if (fs::exists(place, failed)) return WrongUse("{} exists; choose another file with -o", place);
  fs::rename(path(), place, failed);
  if (failed == std::errc::cross_device_link) {
    failed.clear();
    fs::copy_file(path(), place, failed);
    if (!failed) unlink(path().c_str());
  }
  if (failed)
    return Fail("cannot write {}: {}; choose another file with -o", place, failed.message());
  name_.clear();
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
