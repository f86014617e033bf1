#include "ptm/sample_rings.h"

#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <queue>
#include <utility>

#include "common/monotonic.h"

namespace jprof::ptm {

SampleRings::~SampleRings() {
  for (SampleRing& ring : rings) {
    if (ring.page != nullptr) munmap(ring.page, ring_bytes_ + 4096);
    for (const int descriptor : ring.counted) close(descriptor);
    for (const int descriptor : ring.descriptors) close(descriptor);
  }
}

void SampleRings::Control(unsigned long request) {
  for (SampleRing& ring : rings) {
    for (const int descriptor : ring.descriptors) ioctl(descriptor, request, 0);
  }
}

bool SampleRings::Next(SampleRing& ring, uint64_t head, Front* front) {
  if (ring.page->data_tail >= head) return false;
  const uint64_t at = ring.page->data_tail % ring_bytes_;
  perf_event_header header;  // 8 bytes, and records are multiples of 8: it never wraps
  std::memcpy(&header, ring.data() + at, sizeof(header));
  const uint64_t left = head - ring.page->data_tail;
  if (header.size < kSmallestRecord ||
      header.size > left) {  // the position of the next record is unknown too
    unreadable_ += (left + kSmallestRecord - 1) / kSmallestRecord;
    __atomic_store_n(&ring.page->data_tail, head, __ATOMIC_RELEASE);
    return false;
  }
  // In samples, the time follows the address and the thread id; in other records it is in the
  // sample id.
  const uint64_t time_at = header.type == PERF_RECORD_SAMPLE ? at + 24 : at + header.size - 16;
  *front = {0, &ring, head, header.size};
  std::memcpy(&front->time, ring.data() + time_at % ring_bytes_, sizeof(front->time));
  return true;
}

std::span<const std::byte> SampleRings::RawOf(const Front& front) {
  const uint64_t size = ring_bytes_, at = front.ring->page->data_tail % size;
  const std::byte* data = front.ring->data();
  if (at + front.bytes <= size) return {data + at, front.bytes};
  copy_.assign(data + at, data + size);
  copy_.insert(copy_.end(), data, data + (front.bytes - (size - at)));
  return copy_;
}

void SampleRings::Drain(const SampleVisitor& visit) {
  std::priority_queue<Front, std::vector<Front>, std::greater<>> fronts;
  const auto now = static_cast<uint64_t>(MonotonicNanos());
  Front front;
  for (SampleRing& ring : rings) {
    const uint64_t head = __atomic_load_n(&ring.page->data_head, __ATOMIC_ACQUIRE);
    if (Next(ring, head, &front)) fronts.push(front);
  }
  while (!fronts.empty() && fronts.top().time <= now) {
    front = fronts.top();
    fronts.pop();
    parser_.Parse(RawOf(front), visit);
    SampleRing& ring = *front.ring;
    __atomic_store_n(&ring.page->data_tail, ring.page->data_tail + front.bytes, __ATOMIC_RELEASE);
    if (Next(ring, front.head, &front)) fronts.push(front);
  }
  if (unreadable_ == 0) return;
  visit({.kind = SampleRecord::Kind::kLost, .time = now, .lost = std::exchange(unreadable_, 0)});
}

}  // namespace jprof::ptm
