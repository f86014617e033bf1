#include "record/series/profile_snapshots.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include <algorithm>
#include <cstring>

#include "common/control_group.h"
#include "common/monotonic.h"
#include "common/procfs.h"
#include "profile/files/file_list.h"
#include "profile/read/reader.h"

namespace jprof::record {
namespace {

namespace fs = std::filesystem;

// Comparing uses at most this share of the memory that is available at the beginning.
constexpr uint64_t kShareOfMemory = 4;
constexpr uint64_t kMostBytes = uint64_t{1} << 38;  // of addresses for one file

int64_t ThreadCpuNanos() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

profile::ControlHeader HeaderAt(const char* control) {
  profile::ControlHeader header;
  std::memcpy(static_cast<void*>(&header), control, sizeof(header));
  return header;
}

// Returns whether the program still writes the profile.
bool IsWritten(const fs::path& profile) {
  const auto reader = profile::Reader::Open(profile.string());
  return reader && reader->header().finished == 0 &&
         procfs::Runs(static_cast<uint32_t>(reader->meta().pid));
}

}  // namespace

ViewedFile::ViewedFile(const fs::path& path) : file_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}

ViewedFile::~ViewedFile() {
  if (data_ != nullptr) munmap(data_, mapped_);
}

uint64_t ViewedFile::Ensure(uint64_t bytes) {
  struct stat status = {};
  if (!file_ || fstat(file_.get(), &status) != 0) return 0;
  const auto size = static_cast<uint64_t>(status.st_size);
  // Addresses beyond the end of the file are not used before it has grown. If there are enough of
  // them, it is mapped once: to map it again costs the faults of all pages.
  for (const uint64_t length : {std::max(kMostBytes, size), size}) {
    if (bytes <= mapped_ || length <= mapped_) break;
    void* const data = mmap(nullptr, length, PROT_READ, MAP_SHARED, file_.get(), 0);
    if (data == MAP_FAILED) continue;
    if (data_ != nullptr) munmap(data_, mapped_);
    data_ = static_cast<char*>(data);
    mapped_ = length;
  }
  return std::min({bytes, mapped_, size});  // it may have been cut off
}

bool ViewedFile::IsAt(const fs::path& path) const {
  struct stat own = {}, there = {};
  return file_ && fstat(file_.get(), &own) == 0 && stat(path.c_str(), &there) == 0 &&
         own.st_dev == there.st_dev && own.st_ino == there.st_ino;
}

ProfileSnapshots::ProfileSnapshots(fs::path profile, fs::path shown, uint64_t interval_ns,
                                   SnapshotShare share)
    : profile_(std::move(profile)),
      shown_(std::move(shown)),
      interval_ns_(interval_ns),
      share_(share),
      control_(profile_ / profile::kControlFile),
      nodes_(profile_ / profile::kNodesFile),
      extra_(profile_ / profile::kExtraFile),
      encoder_(AvailableMemory().value_or(uint64_t{8} << 30) / kShareOfMemory) {}

// Returns false as long as the recording has not begun.
bool ProfileSnapshots::Begin(int64_t now) {
  if (control_.Ensure(profile::kControlHeaderBytes) < profile::kControlHeaderBytes) return false;
  const profile::ControlHeader header = HeaderAt(control_.data());
  if (header.start_unix_ns == 0) return false;
  const uint64_t unix_now = UnixNanos();
  start_ns_ = now - static_cast<int64_t>(unix_now - std::min(header.start_unix_ns, unix_now));
  before_ns_ = start_ns_;
  if (const auto opened = Open(unix_now, now); !opened) failure_ = opened.error().message;
  begun_ = true;
  const auto interval = static_cast<int64_t>(interval_ns_);
  due_ns_ = start_ns_ + ((now - start_ns_) / interval + 1) * interval;
  return true;
}

void ProfileSnapshots::Look(int64_t now) {
  if (!failure_.empty() || (!begun_ && !Begin(now)) || now < due_ns_) return;
  Missed(pending_);
  Plan(now, Take(false));
}

// Selects the next point in time, so that all snapshots with another one of this cost do not exceed
// their share of the recording, nor that one its share of the time since this one.
void ProfileSnapshots::Plan(int64_t now, int64_t cost) {
  const auto interval = static_cast<int64_t>(interval_ns_);
  const auto time_for = [](uint64_t cpu, double share) {
    return static_cast<int64_t>(static_cast<double>(cpu) / share);
  };
  const auto next = static_cast<uint64_t>(cost);
  const int64_t earliest = std::max({start_ns_ + time_for(cost_ns_ + next, share_.of_all),
                                     now + time_for(next, share_.at_once), MonotonicNanos()});
  const int64_t steps = (earliest - due_ns_ + interval - 1) / interval;
  const int64_t taken = std::max<int64_t>(steps, 1);
  due_ns_ += taken * interval;
  pending_ = static_cast<uint64_t>(taken - 1);
}

bool ProfileSnapshots::IsThere() const { return control_.IsAt(profile_ / profile::kControlFile); }

profile::ProfileMemory ProfileSnapshots::Memory() {
  using profile::kControlHeaderBytes;
  const auto* const live = reinterpret_cast<const profile::ControlHeader*>(control_.data());
  const uint64_t node_count = __atomic_load_n(&live->node_count, __ATOMIC_ACQUIRE);
  const uint64_t threads = __atomic_load_n(&live->thread_count, __ATOMIC_ACQUIRE);
  const uint32_t extras = std::clamp<uint32_t>(live->metric_count, 1, profile::kMaxMetrics) - 1;
  uint64_t count = nodes_.Ensure(node_count * sizeof(profile::Node)) / sizeof(profile::Node);
  if (extras != 0) {
    const uint64_t row = extras * sizeof(int64_t);
    count = std::min(count, extra_.Ensure(node_count * row) / row);
  }
  const uint64_t control_bytes =
      control_.Ensure(kControlHeaderBytes + threads * sizeof(profile::ThreadRecord));
  return {.control = control_.data(),
          .nodes = reinterpret_cast<const profile::Node*>(nodes_.data()),
          .extra = reinterpret_cast<const int64_t*>(extra_.data()),
          .control_bytes = control_bytes / sizeof(uint64_t) * sizeof(uint64_t),
          .node_count = count,
          .extras = extras,
          .later = [this] { return Memory(); }};
}

// Returns its CPU time.
int64_t ProfileSnapshots::Take(bool last) {
  if (control_.Ensure(profile::kControlHeaderBytes) < profile::kControlHeaderBytes) return 0;
  const int64_t now = MonotonicNanos(), cpu = ThreadCpuNanos();
  Keep({.encoded = encoder_.Take(Memory(), interval_ns_, cost_ns_, last),
        .begin_ns = before_ns_,
        .end_ns = now,
        .last = last});
  before_ns_ = now;
  const int64_t cost = ThreadCpuNanos() - cpu;
  cost_ns_ += static_cast<uint64_t>(cost);
  return cost;
}

std::string ProfileSnapshots::End() {
  const int64_t now = MonotonicNanos();
  if (!begun_ && !Begin(now)) return "";
  if (!failure_.empty()) return NotRecorded(failure_);
  const bool written = IsWritten(profile_);
  Missed(std::min(pending_, static_cast<uint64_t>(now - before_ns_) / interval_ns_));
  Take(!written);
  return Close(written);
}

}  // namespace jprof::record
