// Reads the ring buffers into which the kernel writes records, one ring per CPU.
#pragma once

#include <linux/perf_event.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ptm/sample_record.h"

namespace jprof::ptm {

// Describes the ring buffer of one CPU, and the descriptors of the events that write into it.
struct SampleRing {
  perf_event_mmap_page* page = nullptr;
  std::vector<int> descriptors;  // the first owns the mapping, the others write into it
  std::vector<int> counted;      // in the group of the first
  int cpu = 0;

  // Returns the bytes of the ring, which follow `page`.
  const std::byte* data() const { return reinterpret_cast<const std::byte*>(page) + 4096; }
};

// Owns the rings: unmaps them and closes their descriptors at the end.
class SampleRings {
 public:
  // Each ring has this number of pages, a power of two, behind its `page`.
  SampleRings(size_t ring_pages, const RecordParser& parser)
      : ring_bytes_(ring_pages * 4096), parser_(parser) {}
  SampleRings(const SampleRings&) = delete;
  SampleRings& operator=(const SampleRings&) = delete;
  ~SampleRings();

  // Calls the ioctl `request` for each event.
  void Control(unsigned long request);

  // Visits the current records of all rings in order of time. Records that arrive meanwhile wait
  // for the next call: one ring's might be visible while older ones of another ring are not.
  void Drain(const SampleVisitor& visit);

  std::vector<SampleRing> rings;

 private:
  // Represents the next record of a ring that the kernel has written up to `head`. It is not
  // consumed.
  struct Front {
    uint64_t time;
    SampleRing* ring;
    uint64_t head;
    uint32_t bytes;
    bool operator>(const Front& other) const { return time > other.time; }
  };

  bool Next(SampleRing& ring, uint64_t head, Front* front);
  std::span<const std::byte> RawOf(const Front& front);

  size_t ring_bytes_;
  RecordParser parser_;
  std::vector<std::byte> copy_;  // of a record that wraps around the end of the ring
  uint64_t unreadable_ = 0;      // estimated maximum number of records lost to unreadable data
};

}  // namespace jprof::ptm
