#include "profile/log/jit_log.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "common/errno_text.h"
#include "common/no_file_size_signal.h"
#include "profile/files/layout.h"

namespace jprof::profile {
namespace {

constexpr size_t kLongestText = 0xffff;
constexpr size_t kMostLines = 1 << 20;

uint64_t UnixNanos() {
  timespec time = {};
  clock_gettime(CLOCK_REALTIME, &time);
  return uint64_t(time.tv_sec) * 1'000'000'000 + uint64_t(time.tv_nsec);
}

iovec Part(const void* data, size_t bytes) { return {const_cast<void*>(data), bytes}; }
iovec TextPart(std::string_view text) {
  return Part(text.data(), std::min(text.size(), kLongestText));
}

}  // namespace

Result<void> JitLogWriter::Open(int directory_fd) {
  if (!file_.Open(directory_fd, kJitLogFile, O_WRONLY | O_CREAT | O_EXCL | O_APPEND))
    return Fail("cannot make the file {}: {}", kJitLogFile, ErrnoText());
  const NoFileSizeSignal in_silence;
  JitHeader header = {.pid = static_cast<uint32_t>(getpid())};
  std::memcpy(header.magic, kJitMagic, sizeof(header.magic));
  header.start_ns = static_cast<uint64_t>(now_());
  header.start_unix_ns = UnixNanos();
  if (write(file_.Get(), &header, sizeof(header)) != sizeof(header)) {
    return Fail("cannot write the file {}: {}", kJitLogFile, ErrnoText());
  }
  size_ = sizeof(header);
  stopped_ = false;
  return {};
}

bool JitLogWriter::Append(JitRecord& record, std::span<const iovec> parts) {
  static constexpr char kPadding[8] = {};
  iovec all[kMostParts + 1];
  size_t bytes = 0;
  int count = 0;
  for (const iovec& part : parts) {
    bytes += part.iov_len;
    if (part.iov_len > 0) all[count++] = part;
  }
  const size_t padding = -bytes % 8;
  if (padding > 0) all[count++] = Part(kPadding, padding);
  bytes += padding;
  if (stopped_ || bytes > 0xffffffff) {
    ++counts_.lost;
    return false;
  }
  record.bytes = static_cast<uint32_t>(bytes);
  record.time = static_cast<uint64_t>(now_());
  const NoFileSizeSignal in_silence;
  const int fd = file_.Get();
  ssize_t written;
  do {
    written = writev(fd, all, count);
  } while (written < 0 && errno == EINTR);
  if (written == static_cast<ssize_t>(bytes)) {
    size_ += written;
    return true;
  }
  stopped_ = true;
  ++counts_.lost;
  // A partial record would be read as damage. If this fails too, it is.
  if (written > 0) (void)!ftruncate(fd, size_);
  return false;
}

void JitLogWriter::Load(const JitCode& code, bool again) {
  JitCodeRecord record;
  record.record.kind = code.stub ? JitKind::kStub : JitKind::kLoad;
  record.record.flags = again ? kJitAgain : 0;
  record.address = code.address;
  record.length = code.length;
  record.type = code.type;
  record.level = code.level;
  iovec parts[] = {
      Part(&record, sizeof(record)),
      Part(code.lines.data(), std::min(code.lines.size(), kMostLines) * sizeof(JitLine)),
      Part(code.code.data(), code.code.size()),
      TextPart(code.class_name),
      TextPart(code.name),
      TextPart(code.signature),
      TextPart(code.source)};
  record.line_count = static_cast<uint32_t>(parts[1].iov_len / sizeof(JitLine));
  record.code_length = static_cast<uint32_t>(parts[2].iov_len);
  record.class_length = static_cast<uint16_t>(parts[3].iov_len);
  record.name_length = static_cast<uint16_t>(parts[4].iov_len);
  record.signature_length = static_cast<uint16_t>(parts[5].iov_len);
  record.source_length = static_cast<uint16_t>(parts[6].iov_len);
  std::lock_guard guard(lock_);
  if (Append(record.record, parts)) ++(code.stub ? counts_.stubs : counts_.loads);
}

void JitLogWriter::Unload(uint64_t address) {
  JitUnloadRecord record = {.record = {.kind = JitKind::kUnload}, .address = address};
  iovec parts[] = {Part(&record, sizeof(record))};
  std::lock_guard guard(lock_);
  if (Append(record.record, parts)) ++counts_.unloads;
}

void JitLogWriter::Thread(uint32_t tid, JitThreadEvent event, std::string_view name) {
  JitThreadRecord record = {.record = {.kind = JitKind::kThread}, .tid = tid, .event = event};
  iovec parts[] = {Part(&record, sizeof(record)), TextPart(name)};
  record.name_length = static_cast<uint16_t>(parts[1].iov_len);
  std::lock_guard guard(lock_);
  if (Append(record.record, parts)) ++counts_.threads;
}

void JitLogWriter::End() {
  std::lock_guard guard(lock_);
  if (!file_) return;
  stopped_ = false;  // also after a failure: this record is small and may fit
  JitEndRecord record = counts_;
  record.record.kind = JitKind::kEnd;
  iovec parts[] = {Part(&record, sizeof(record))};
  Append(record.record, parts);
  stopped_ = true;
  file_.Close();
}

}  // namespace jprof::profile
