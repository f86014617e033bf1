#include "ptm/event_group.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "common/kept_fd.h"
#include "ptm/thread_instructions.h"

namespace jprof::ptm {
namespace {

// Contains the result of read() on a group's leader.
struct GroupReading {
  uint64_t events = 0;
  uint64_t enabled = 0;
  uint64_t running = 0;
  uint64_t counts[kMaxEvents] = {};
};

// Leaves errno as it is, because the program may be about to read it.
bool ReadGroup(const EventSlot& slot, GroupReading& reading) {
  const int error = errno;
  ssize_t bytes = -1;
  if (EventId(slot.leader) == slot.leader_id) {
    do {
      bytes = read(slot.leader, &reading, sizeof(reading));
    } while (bytes < 0 && errno == EINTR);
  }
  errno = error;
  // A result of 0 bytes means that the kernel could not keep the group on the CPU (an event in
  // error state).
  return bytes >= static_cast<ssize_t>(3 * sizeof(uint64_t));
}

CounterReading EventReading(const GroupReading& group, const EventSlot& slot) {
  return {group.counts[slot.position], group.enabled, group.running};
}

int64_t Unread(EventSlot& slot) {
  ++slot.failed_reads;
  return slot.multiplexed ? slot.scaled : static_cast<int64_t>(slot.last.count);
}

// Returns the attributes of an event that is enabled, even if it is a leader: the Arm driver
// ignores disabled events when it checks whether a group fits its counters, so it would accept a
// group with one event too many, which then never counts. Where counting must wait for an exec,
// there are no groups.
perf_event_attr GroupAttributes(const EventSpec& event, const Target& target) {
  perf_event_attr attr = AttributesOf(event);
  attr.read_format =
      PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  attr.inherit = target.inherit;
  attr.disabled = attr.enable_on_exec = target.on_exec;
  if (!IsSoftware(event) && target.IsCaller()) attr.config1 |= arch::kUserAccess;
  return attr;
}

size_t PageBytes() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

}  // namespace

std::optional<uint64_t> ExactCount(const CounterReading& before, const CounterReading& now) {
  const CounterReading passed = {now.count - before.count, now.enabled - before.enabled,
                                 now.running - before.running};
  if (IsMultiplexed(passed)) return std::nullopt;
  return passed.count;
}

int64_t Settle(EventSlot& slot, const CounterReading& reading) {
  if (!slot.multiplexed && IsMultiplexed(reading)) {
    slot.multiplexed = true;
    slot.last = {};  // everything counted so far is scaled once
  }
  const uint64_t counted = reading.count - slot.last.count;
  slot.last = reading;
  if (!slot.multiplexed) return static_cast<int64_t>(reading.count);
  if (reading.running != 0) {
    slot.scaled += static_cast<int64_t>(static_cast<unsigned __int128>(counted) * reading.enabled /
                                        reading.running);
  }
  return slot.scaled;
}

int64_t ReadByCall(EventSlot& slot) {
  GroupReading group;
  if (!ReadGroup(slot, group)) return Unread(slot);
  return Settle(slot, EventReading(group, slot));
}

OpenFailure EventGroup::Open(std::span<const EventSpec> events, const Target& target) {
  Close();
  target_ = target;
  if (events.size() > kMaxEvents) return {kMaxEvents, E2BIG};
  int software_leader = -1;
  int hardware_leader = -1;
  for (const EventSpec& event : events) {
    EventSlot& slot = slots_[size_];
    if (event.type == kCountedInMemory && target_.IsCaller()) {
      slot = {.memory = &thread_instructions};
      ++size_;
      continue;
    }
    const int error = OpenOne(event, slot, IsSoftware(event) ? software_leader : hardware_leader);
    if (error != 0) {
      const OpenFailure failure = {size_, error};
      Close();
      return failure;
    }
    Map(event, slot);
    by_call_ += slot.page == nullptr;
    ++size_;
  }
  return {};
}

// Opens the event in the group of `leader` if it fits, else as the leader of a new group. Returns
// an errno.
int EventGroup::OpenOne(const EventSpec& event, EventSlot& slot, int& leader) {
  slot = {};
  if (target_.on_exec) leader = -1;
  perf_event_attr attr = GroupAttributes(event, target_);
  slot.fd = OpenAllowed(event, attr, target_, leader);
  if (slot.fd < 0 && leader >= 0 && errno == EINVAL) {
    leader = -1;
    attr = GroupAttributes(event, target_);
    slot.fd = OpenAllowed(event, attr, target_, leader);
  }
  if (slot.fd < 0 && arch::kUserAccess != 0 && !IsSoftware(event)) {
    attr.config1 = event.config1;  // this PMU or kernel does not support user access
    slot.fd = OpenAllowed(event, attr, target_, leader);
  }
  if (slot.fd < 0) return errno;
  slot.fd = MoveUp(slot.fd);
  slot.id = EventId(slot.fd);
  if (leader < 0) leader = slot.fd;
  slot.leader = leader;
  slot.leader_id = EventId(leader);
  slot.position = PositionInGroup(leader);
  slot.user_only = attr.exclude_kernel && (event.exclude & kExcludeKernel) == 0;
  return 0;
}

int EventGroup::PositionInGroup(int leader) const {
  return static_cast<int>(std::count_if(slots_, slots_ + size_,
                                        [&](const EventSlot& s) { return s.leader == leader; }));
}

// Maps the event's page. If it is not available (locked-memory limit), the event is read by system
// call.
void EventGroup::Map(const EventSpec& event, EventSlot& slot) {
  if (IsSoftware(event) || !target_.IsCaller()) return;
  void* page = mmap(nullptr, PageBytes(), PROT_READ, MAP_SHARED, slot.fd, 0);
  if (page != MAP_FAILED) slot.page = static_cast<const volatile perf_event_mmap_page*>(page);
}

void EventGroup::Close() {
  for (int i = size_ - 1; i >= 0; --i) {
    EventSlot& slot = slots_[i];
    if (slot.page != nullptr) munmap(const_cast<perf_event_mmap_page*>(slot.page), PageBytes());
    if (slot.id != 0 && EventId(slot.fd) == slot.id) close(slot.fd);
    slot = {};
  }
  size_ = 0;
  by_call_ = 0;
}

void EventGroup::ReadAllByCall(int64_t* out) {
  for (int lead = 0; lead < size_; ++lead) {
    if (slots_[lead].memory != nullptr) out[lead] = *slots_[lead].memory;
    if (slots_[lead].memory != nullptr || slots_[lead].fd != slots_[lead].leader) continue;
    GroupReading group;
    bool tried = false;
    bool good = false;
    for (int i = lead; i < size_; ++i) {
      EventSlot& slot = slots_[i];
      if (slot.leader != slots_[lead].fd) continue;
      if (slot.page != nullptr) {
        out[i] = Read(slot);
        continue;
      }
      if (!tried) good = ReadGroup(slot, group);
      tried = true;
      out[i] = good ? Settle(slot, EventReading(group, slot)) : Unread(slot);
    }
  }
}

std::optional<CounterReading> EventGroup::Reading(int i) const {
  GroupReading group;
  if (!ReadGroup(slots_[i], group)) return std::nullopt;
  return EventReading(group, slots_[i]);
}

EventGroup::EventStatus EventGroup::Status(int i) {
  EventSlot& slot = slots_[i];
  EventStatus status;
  if (slot.memory != nullptr) return status;
  ReadByCall(slot);
  if (slot.last.enabled != 0 && IsMultiplexed(slot.last)) {
    status.running =
        static_cast<double>(slot.last.running) / static_cast<double>(slot.last.enabled);
  }
  status.user_only = slot.user_only;
  status.by_call = slot.page == nullptr;
  status.failed_reads = slot.failed_reads;
  return status;
}

}  // namespace jprof::ptm
