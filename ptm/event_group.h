// The events one thread counts: up to 8 per-thread perf events, read by that thread. (Tools may
// name another target: another thread, a CPU, a family; then every read is by call.)
//
// Open, Read, ReadAll, Status and Close belong to the thread that opened the group: a counter is
// read where it counts. Nothing throws; nothing allocates after the constructor. Values are events
// counted since Open and never fall.
//
// A hardware event is read in user space through its mapped page; where the page does not allow
// that (no user access, event not on a counter just now) that one read is a system call. Software
// events are always read by call, all of them by one. Software and hardware events are in groups of
// their own, so that a software event is never multiplexed; a hardware event that does not fit into
// the group with the others gets its own, and the kernel takes turns (multiplexing). Then the count
// is scaled by time enabled / time counting, and Status says so.
#pragma once

#include <linux/perf_event.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>

#include "ptm/event_spec.h"
#include "ptm/open_event.h"
#if defined(__x86_64__)
#include "ptm/arch_x86_64.h"
#elif defined(__aarch64__)
#include "ptm/arch_aarch64.h"
#else
#error "jprof runs on x86-64 and AArch64"
#endif

namespace jprof::ptm {

inline constexpr int kMaxEvents = 8;

struct CounterReading {
  uint64_t count = 0;
  uint64_t enabled = 0;  // ns the event was to count
  uint64_t running = 0;  // ns it was on a counter
};

// Reads a mapped page as <linux/perf_event.h> tells to: its lock changes when the kernel moves the
// event, then again. False: not readable in user space just now. `Register` is the instruction;
// tests bring their own.
template <typename Register = arch::CounterRegister>
inline bool ReadPage(const volatile perf_event_mmap_page& page, CounterReading& reading) {
  uint32_t sequence;
  do {
    sequence = page.lock;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    const uint32_t index = page.index;
    if (!page.cap_user_rdpmc || index == 0) return false;
    reading.enabled = page.time_enabled;
    reading.running = page.time_running;
    // The counter is pmc_width bits wide: what the kernel preset it with may be negative.
    const int unused_bits = 64 - page.pmc_width;
    const int64_t counter =
        static_cast<int64_t>(Register::Read(index - 1) << unused_bits) >> unused_bits;
    reading.count = static_cast<uint64_t>(page.offset) + static_cast<uint64_t>(counter);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  } while (page.lock != sequence);
  return true;
}

// One event. `page` null: by call only.
struct EventSlot {
  const volatile perf_event_mmap_page* page = nullptr;
  int fd = -1;
  int leader = -1;           // the descriptor that reads its whole group
  int position = 0;          // in that group
  bool user_only = false;    // the kernel's part is not counted: not permitted
  bool multiplexed = false;  // from now on the value is `scaled`
  uint32_t failed_reads = 0;
  int64_t scaled = 0;
  CounterReading last;  // as last seen by a slow path
};

// Less than 1/1024 of the time off the counter is the kernel's rounding.
inline bool IsMultiplexed(const CounterReading& reading) {
  return reading.enabled - reading.running > reading.enabled >> 10;
}

// What was counted between two readings of an event; nothing if it was on a counter for a part of
// that time only, because others took turns with it: then every figure is an estimate.
std::optional<uint64_t> ExactCount(const CounterReading& before, const CounterReading& now);

// Takes a reading into the slot's state and returns the value, scaled if the event is multiplexed:
// what was counted since the last reading times enabled/running so far, so that the value never
// falls. Slow path.
[[gnu::cold]] int64_t Settle(EventSlot& slot, const CounterReading& reading);

// By system call. A read that fails returns the last value and is counted in failed_reads.
[[gnu::cold]] int64_t ReadByCall(EventSlot& slot);

template <typename Register = arch::CounterRegister>
inline int64_t Read(EventSlot& slot) {
  CounterReading reading;
  if (slot.page == nullptr || !ReadPage<Register>(*slot.page, reading)) [[unlikely]]
    return ReadByCall(slot);
  if (slot.multiplexed || IsMultiplexed(reading)) [[unlikely]]
    return Settle(slot, reading);
  return static_cast<int64_t>(reading.count);
}

// Which event could not be opened, and the errno (Explain in ptm/machine.h words it). error 0 = all
// open.
struct OpenFailure {
  int event = -1;
  int error = 0;
  bool Failed() const { return error != 0; }
};

class EventGroup {
 public:
  EventGroup() = default;
  ~EventGroup() { Close(); }
  EventGroup(const EventGroup&) = delete;
  EventGroup& operator=(const EventGroup&) = delete;

  // Starts counting `events` (8 at most) on the calling thread (or `target`); all of them or none.
  OpenFailure Open(std::span<const EventSpec> events, const Target& target = {});
  void Close();

  int size() const { return size_; }
  EventSlot& slot(int i) { return slots_[i]; }

  // out[i] = value of event i. N = the number of events where it is known when compiling, else 0.
  template <int N = 0>
  inline void ReadAll(int64_t* out) {
    if (by_call_ > 1) [[unlikely]]
      return ReadAllByCall(out);
    const int count = N == 0 ? size_ : N;
    for (int i = 0; i < count; ++i) out[i] = Read(slots_[i]);
  }

  // Event i by call, as the kernel has it and never scaled; nothing if it cannot be read.
  std::optional<CounterReading> Reading(int i) const;

  struct EventStatus {
    double running =
        1;  // part of the time the event was on a counter; below 1 = the value is scaled
    bool user_only = false;
    bool by_call = false;  // no user-space read
    uint32_t failed_reads = 0;
  };
  // Reads event i by call to know.
  EventStatus Status(int i);

 private:
  int OpenOne(const EventSpec& event, EventSlot& slot, int& leader);
  int PositionInGroup(int leader) const;
  void Map(const EventSpec& event, EventSlot& slot);
  [[gnu::cold]] void ReadAllByCall(int64_t* out);

  Target target_;
  int size_ = 0;
  int by_call_ = 0;  // events without a page
  EventSlot slots_[kMaxEvents];
};

}  // namespace jprof::ptm
