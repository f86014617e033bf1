#include "jprof/engine/thread_record.h"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "jprof/engine/session.h"
#include "jprof/engine/sparse/intervals.h"
#include "ptm/virtual_clock.h"

namespace jprof::engine {
namespace {

constexpr char kMainThread[] = "main";

// Marks a thread whose counters could not be read: the program may have closed their descriptors.
void NoteFailedReads(Thread& thread) {
  for (int i = 0; i < thread.counting.group.size(); ++i) {
    if (thread.counting.group.slot(i).failed_reads == 0) continue;
    __atomic_fetch_or(&thread.record->flags, uint32_t{profile::kThreadNoCounters},
                      __ATOMIC_RELAXED);
  }
}

// Notes the part of the time that each counter ran, because a multiplexed counter is scaled.
void NoteMultiplexing(Thread& thread) {
  const int first = thread.session->options().clock ? 1 : 0;
  profile::ControlHeader& header = *thread.session->writer().header();
  for (int i = 0; i < thread.counting.group.size(); ++i) {
    const auto permille = static_cast<uint32_t>(thread.counting.group.Status(i).running * 1000);
    uint32_t& least = header.least_running_permille[i + first];
    if (permille < least) least = permille;
  }
}

}  // namespace

bool IsFirstOfProcess(const Thread& thread) {
  return thread.record->tid == static_cast<uint32_t>(getpid());
}

uint32_t OpenMetrics(Thread& thread) {
  const Session& session = *thread.session;
  const SessionOptions& options = session.options();
  uint32_t flags = 0;
  if (options.clock && !thread.clock.Open(session.clock().ticks_per_second / 1e9))
    flags |= profile::kThreadNoClock;
  if (!options.counters.empty() && thread.counting.group.Open(options.counters).Failed())
    flags |= profile::kThreadNoCounters;
  return flags;
}

void BeginRecord(Thread& thread) {
  thread.record->tid = static_cast<uint32_t>(syscall(SYS_gettid));
  prctl(PR_GET_NAME, thread.record->name);  // until the VM reports its full name
  thread.record->cpu_ns_start = ptm::VirtualClock::CpuNanos();
}

void BeginRecordOf(Thread& thread, uint32_t tid) {
  thread.record->tid = tid;
  thread.record->cpu_ns_start =
      static_cast<uint64_t>(ptm::VirtualClock::CpuNanosOf(tid).value_or(0));
}

void StartMetrics(Thread& thread) {
  thread.counting.group.ReadAll(thread.counting.late);
  thread.counting.group.ReadAll(thread.counting.early);
  thread.last = thread.clock.Restart();
  SetIntervals(thread);
  thread.page_lock = thread.clock.lock();
  thread.page_seen = thread.clock.seen();
}

void NameThread(Thread& thread, std::string_view name) {
  if (thread.record == nullptr) return;
  thread.named = true;
  char* const out = thread.record->name;
  const size_t length = std::min(name.size(), sizeof thread.record->name - 1);
  std::memcpy(out, name.data(), length);
  std::memset(out + length, 0, sizeof thread.record->name - length);
  const auto& filter = thread.session->options().thread_filter;
  if (!filter || filter(name)) return;
  __atomic_fetch_or(&thread.record->flags, uint32_t{profile::kThreadFiltered}, __ATOMIC_RELAXED);
  __atomic_fetch_or(&thread.attention, uint32_t{kNotRecorded}, __ATOMIC_ACQ_REL);
}

void NameAtFirstEvent(Thread& thread) {
  Session& session = *thread.session;
  const SessionOptions& options = session.options();
  if (options.kernel_names) {
    char name[sizeof thread.record->name];
    std::memcpy(name, thread.record->name, sizeof name);
    NameThread(thread, IsFirstOfProcess(thread) ? kMainThread : name);
  } else if (options.name_of) {
    const std::string_view name = options.name_of(thread.record->tid);
    if (!name.empty()) NameThread(thread, name);
  } else if (session.writer().IndexOf(thread.record) == 0) {
    // The thread that creates the VM is called main; it records before the VM can be queried.
    NameThread(thread, kMainThread);
  }
}

void EndRecord(Thread& thread) {
  AddIntervals(thread);
  if (thread.session->options().kernel_names && !IsFirstOfProcess(thread))
    prctl(PR_GET_NAME, thread.record->name);
  thread.record->end_ticks = ptm::ReadTsc();
  thread.record->cpu_ns_end = ptm::VirtualClock::CpuNanos();
  thread.record->state = profile::kThreadEnded;
  NoteFailedReads(thread);  // first: NoteMultiplexing reads all events by system call
  NoteMultiplexing(thread);
}

void EndRecordAt(Thread& thread, uint64_t ticks) {
  if (thread.record->state != profile::kThreadLive) return;
  thread.record->end_ticks = ticks;
  NoteFailedReads(thread);
  const auto cpu_ns = ptm::VirtualClock::CpuNanosOf(thread.record->tid);
  // The thread is gone but was never reported as ended: its CPU time is unknown; reports show 0 s.
  thread.record->cpu_ns_end = cpu_ns ? static_cast<uint64_t>(*cpu_ns) : thread.record->cpu_ns_start;
}

}  // namespace jprof::engine
