#include "jprof/engine/trace/trace_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "common/monotonic.h"
#include "common/no_file_size_signal.h"
#include "common/write_all.h"
#include "profile/files/numbered_name.h"

namespace jprof::engine {

bool TraceFiles::Open(profile::Writer* writer, TraceRotation rotation) {
  writer_ = writer;
  rotation_ = rotation;
  due_ns_ = MonotonicNanos() + static_cast<int64_t>(rotation_.period_ns);
  return Make();
}

bool TraceFiles::Make() {
  std::string name = rotation_.period_ns == 0 ? std::string(profile::kCompressedTraceFile)
                                              : profile::kTraceFiles.Of(number_ + 1);
  profile::KeptFile file;
  if (!file.Open(writer_->directory_fd(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL)) return false;
  file_ = std::move(file);
  written_ = 0;
  ++number_;
  files_.push_back({.name = std::move(name), .events = {}});
  return true;
}

// Begins the next file. Returns an errno if that fails; the next block tries it again.
int TraceFiles::Next(int64_t now) {
  if (written_ != 0) {
    while (rotation_.keep != 0 && files_.size() >= rotation_.keep && !files_.empty())
      RemoveOldest();
    if (!Make()) return errno;
  }
  const auto period = static_cast<int64_t>(rotation_.period_ns);
  due_ns_ += ((now - due_ns_) / period + 1) * period;
  return 0;
}

// Removes a file. Its events count as overwritten.
void TraceFiles::RemoveOldest() {
  const File oldest = std::move(files_.front());
  files_.pop_front();
  if (unlinkat(writer_->directory_fd(), oldest.name.c_str(), 0) != 0 && errno != ENOENT) return;
  for (const auto& [thread, events] : oldest.events)
    writer_->ThreadAt(thread)->trace_overwritten = events;
}

int TraceFiles::Append(const profile::TraceBlock& block, std::string_view frame) {
  if (rotation_.period_ns != 0) {
    if (const int64_t now = MonotonicNanos(); now >= due_ns_)
      if (const int error = Next(now); error != 0) return error;
  }
  const NoFileSizeSignal in_silence;
  const int file = file_.Get();
  if (file < 0) return errno;
  if (const int error = WriteAllAt(file, frame, written_); error != 0) {
    (void)!ftruncate(file, written_);
    return error;
  }
  written_ += static_cast<off_t>(frame.size());
  if (rotation_.keep != 0) files_.back().events[block.thread] = block.first_event + block.events;
  return 0;
}

}  // namespace jprof::engine
