// The events that one thread counts: up to 8 per-thread perf events, read by that thread. Tools may
// give another target, which is another thread, a CPU or a process tree; then every read is a
// system call.
//
// - Open, Read, ReadAll, Status and Close must be called by the thread that opened the group.
// - Nothing throws, and nothing allocates after the constructor.
// - Values are events counted since Open and never decrease.
// - A hardware event is read in user space through its mapped page. While the page does not permit
//   that (no user access, event currently not on a counter), the read is a system call.
// - Software events are always read by system call, all of them with one read. They are in a group
//   of their own, so that they are never multiplexed.
// - A hardware event that does not fit into the group of the others gets its own group, and the
//   kernel multiplexes them. Its count is then scaled by time enabled / time counting, and Status
//   reports so.
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
  uint64_t enabled = 0;  // ns during which the event was to count
  uint64_t running = 0;  // ns during which it was on a counter
};

// Reads a mapped page as <linux/perf_event.h> specifies: repeats if the lock changed, because the
// kernel moved the event. Returns false if it is currently not readable in user space. `Register`
// executes the instruction; tests substitute their own.
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
    // The counter is pmc_width bits wide: the kernel may have preset it with a negative value.
    const int unused_bits = 64 - page.pmc_width;
    const int64_t counter =
        static_cast<int64_t>(Register::Read(index - 1) << unused_bits) >> unused_bits;
    reading.count = static_cast<uint64_t>(page.offset) + static_cast<uint64_t>(counter);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  } while (page.lock != sequence);
  return true;
}

// One event. It is only read by system call if `page` is null.
struct EventSlot {
  const volatile perf_event_mmap_page* page = nullptr;
  const volatile int64_t* memory = nullptr;  // the count itself of a kCountedInMemory event
  int fd = -1;
  int leader = -1;           // the descriptor that reads its whole group
  uint64_t id = 0;           // EventId of `fd`; if it differs, the program has closed it
  uint64_t leader_id = 0;    // EventId of `leader`
  int position = 0;          // in the leader's group
  bool user_only = false;    // counts user mode only, as kernel mode is not permitted
  bool multiplexed = false;  // if true, the value is `scaled` from now on
  uint32_t failed_reads = 0;
  int64_t scaled = 0;
  CounterReading last;  // as last seen by a slow path
};

// Returns whether the event was multiplexed. Less than 1/1024 of the time off the counter is
// attributed to the kernel's rounding.
inline bool IsMultiplexed(const CounterReading& reading) {
  return reading.enabled - reading.running > reading.enabled >> 10;
}

// Returns the events counted between two readings. Returns nothing if the event was multiplexed
// meanwhile, because every value would be an estimate.
std::optional<uint64_t> ExactCount(const CounterReading& before, const CounterReading& now);

// Updates the slot from a reading and returns the value. A multiplexed event is scaled: the count
// since the last reading is multiplied by the total enabled/running, so that the value never
// decreases. This is the slow path.
[[gnu::cold]] int64_t Settle(EventSlot& slot, const CounterReading& reading);

// Reads by system call. A failed read returns the last value and increments failed_reads.
[[gnu::cold]] int64_t ReadByCall(EventSlot& slot);

template <typename Register = arch::CounterRegister>
inline int64_t Read(EventSlot& slot) {
  CounterReading reading;
  if (slot.page == nullptr || !ReadPage<Register>(*slot.page, reading)) [[unlikely]]
    return slot.memory != nullptr ? *slot.memory : ReadByCall(slot);
  if (slot.multiplexed || IsMultiplexed(reading)) [[unlikely]]
    return Settle(slot, reading);
  return static_cast<int64_t>(reading.count);
}

// The event that could not be opened, and the errno (Explain in ptm/machine.h describes it). The
// error is 0 if all are open.
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

  // Starts counting `events` (8 at most) on the calling thread (or `target`), either all of them
  // or none.
  OpenFailure Open(std::span<const EventSpec> events, const Target& target = {});
  void Close();

  int size() const { return size_; }
  EventSlot& slot(int i) { return slots_[i]; }

  // Sets out[i] to the value of event i. N is the number of events if known at compile time,
  // else 0.
  template <int N = 0>
  inline void ReadAll(int64_t* out) {
    if (by_call_ > 1) [[unlikely]]
      return ReadAllByCall(out);
    const int count = N == 0 ? size_ : N;
    for (int i = 0; i < count; ++i) out[i] = Read(slots_[i]);
  }

  // Reads event i by system call, unscaled. Returns nothing if it cannot be read.
  std::optional<CounterReading> Reading(int i) const;

  struct EventStatus {
    double running = 1;  // part of the time on a counter; if below 1, the value is scaled
    bool user_only = false;
    bool by_call = false;  // no user-space read
    uint32_t failed_reads = 0;
  };
  // Reads event i by system call.
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
