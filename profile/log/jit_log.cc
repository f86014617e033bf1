#include "profile/log/jit_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "common/errno_text.h"
#include "profile/files/layout.h"

namespace jprof::profile {
namespace {

constexpr size_t kLongestText = 0xffff;
constexpr size_t kMostLines = 1 << 20;
constexpr size_t kMostCode = size_t{1} << 31;  // a packet has less than 4 GiB

std::string_view Limited(std::string_view text) { return text.substr(0, kLongestText); }
template <typename T>
std::string_view Limited(std::span<const T> array, size_t most) {
  const auto limited = array.first(std::min(array.size(), most));
  return {reinterpret_cast<const char*>(limited.data()), limited.size_bytes()};
}

}  // namespace

Result<void> JitLogWriter::Open(int directory_fd) {
  if (!file_.Open(directory_fd, kJitLogFile, O_WRONLY | O_CREAT | O_EXCL | O_APPEND))
    return Fail("cannot make the file {}: {}", kJitLogFile, ErrnoText());
  const LogHeader header = {.pid = static_cast<uint32_t>(getpid()),
                            .start_unix_ns = UnixNanos(),
                            .start_ns = static_cast<uint64_t>(now_())};
  if (!WriteHeader(file_.Get(), kJitFormat, header))
    return Fail("cannot write the file {}: {}", kJitLogFile, ErrnoText());
  size_ = sizeof(header);
  stopped_ = false;
  return {};
}

void JitLogWriter::Append(LogPacket packet, std::span<const std::string_view> content) {
  packet.begin_ns = packet.end_ns = static_cast<uint64_t>(now_());
  packet.discarded = discarded_;
  const int fd = file_.Get();
  if (WritePacket(fd, packet, content)) {
    size_ += static_cast<int64_t>(sizeof(packet) + packet.bytes);
    records_ += packet.records;
    return;
  }
  stopped_ = true;
  ++discarded_;
  // A partial packet would be read as damage. If this fails too, it is.
  (void)!ftruncate(fd, size_);
}

void JitLogWriter::Add(uint32_t tid, std::span<const std::string_view> content) {
  std::lock_guard guard(lock_);
  if (stopped_) {
    ++discarded_;
  } else {
    Append({.records = 1, .tid = tid}, content);
  }
}

void JitLogWriter::Load(const JitCode& code, bool again) {
  JitCodeRecord record;
  record.record.kind = code.stub ? JitKind::kStub : JitKind::kLoad;
  record.record.flags = again ? kJitAgain : 0;
  record.address = code.address;
  record.length = code.length;
  record.type = code.type;
  record.level = code.level;
  const std::string_view parts[] = {BytesOf(record),
                                    Limited(code.lines, kMostLines),
                                    Limited(code.code, kMostCode),
                                    Limited(code.class_name),
                                    Limited(code.name),
                                    Limited(code.signature),
                                    Limited(code.source)};
  record.line_count = static_cast<uint32_t>(parts[1].size() / sizeof(JitLine));
  record.code_length = static_cast<uint32_t>(parts[2].size());
  record.class_length = static_cast<uint16_t>(parts[3].size());
  record.name_length = static_cast<uint16_t>(parts[4].size());
  record.signature_length = static_cast<uint16_t>(parts[5].size());
  record.source_length = static_cast<uint16_t>(parts[6].size());
  Add(0, parts);
}

void JitLogWriter::Unload(uint64_t address) {
  const JitUnloadRecord record = {.record = {.kind = JitKind::kUnload}, .address = address};
  const std::string_view parts[] = {BytesOf(record)};
  Add(0, parts);
}

void JitLogWriter::Thread(uint32_t tid, JitThreadEvent event, std::string_view name) {
  name = Limited(name);
  const JitThreadRecord record = {.record = {.kind = JitKind::kThread},
                                  .event = event,
                                  .name_length = static_cast<uint16_t>(name.size())};
  const std::string_view parts[] = {BytesOf(record), name};
  Add(tid, parts);
}

void JitLogWriter::End() {
  std::lock_guard guard(lock_);
  if (!file_) return;
  Append({.records = records_}, {});  // also after a failure: this packet is small and may fit
  stopped_ = true;
  file_.Close();
}

}  // namespace jprof::profile
