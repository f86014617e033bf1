#include "jprof/hotspot/vm/heap_counters.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "tests/unit/hotspot/vm_fields.h"

namespace jprof::hotspot {
namespace {

// The VM's counters, as they are in memory and in its files hsperfdata.
class Counters {
 public:
  Counters() {
    Put(0, 0xc0c0feca);
    Put(24, uint32_t{32});
  }

  void Add(const std::string& name, const void* value, uint32_t bytes) {
    const uint32_t at = size_, value_at = 20 + (static_cast<uint32_t>(name.size()) + 8) / 8 * 8 + 4;
    size_ += (value_at + bytes + 7) / 8 * 8;
    Put(at, size_ - at);
    Put(at + 4, uint32_t{20});
    Put(at + 8, bytes);
    Put(at + 16, value_at);
    std::memcpy(memory_ + at + 20, name.c_str(), name.size() + 1);
    std::memcpy(memory_ + at + value_at, value, bytes);
    Put(8, size_);
    Put(28, ++count_);
  }
  void Add(const std::string& name, int64_t value) { Add(name, &value, sizeof value); }
  void Add(const std::string& name, const std::string& text) {
    Add(name, text.c_str(), static_cast<uint32_t>(text.size()) + 1);
  }
  void SetSize(uint32_t size) { Put(8, size); }

  HeapCounters Find() const {
    const VmFields fields({{"PerfMemory", "_start", 1, 0, &start_}});
    return HeapCounters::Find(fields.structs());
  }

 private:
  void Put(uint32_t at, uint32_t value) { std::memcpy(memory_ + at, &value, sizeof value); }

  alignas(8) char memory_[1024] = {};
  const char* start_ = memory_;
  uint32_t size_ = 32, count_ = 0;
};

TEST(HeapCounters, SumUpTheSpacesOfAllGenerations) {
  Counters counters;
  counters.Add("sun.gc.generation.0.space.0.used", 1000);
  counters.Add("sun.gc.generation.0.space.0.capacity", 7);
  counters.Add("sun.gc.metaspace.used", 7);
  counters.Add("sun.gc.generation.1.space.0.used", 200);
  EXPECT_EQ(counters.Find().Used(), 1200u);
}

TEST(HeapCounters, KnowTheCauseOfACollectionInProgressOrOfTheLastOne) {
  Counters counters;
  counters.Add("sun.gc.lastCause", std::string("System.gc()"));
  EXPECT_EQ(counters.Find().Cause(), "");
  counters.Add("sun.gc.cause", std::string("No GC"));
  EXPECT_EQ(counters.Find().Cause(), "System.gc()");
  Counters running;
  running.Add("sun.gc.lastCause", std::string("System.gc()"));
  running.Add("sun.gc.cause", std::string("Allocation Failure"));
  EXPECT_EQ(running.Find().Cause(), "Allocation Failure");
}

TEST(HeapCounters, AreEmptyWithoutCounters) {
  const HeapCounters none = HeapCounters::Find(VmFields({}).structs());
  EXPECT_EQ(none.Used(), 0u);
  EXPECT_EQ(none.Cause(), "");
  Counters counters;
  counters.Add("sun.gc.generation.0.space.0.used", 1000);
  counters.SetSize(40);  // the entry is not complete
  EXPECT_EQ(counters.Find().Used(), 0u);
}

}  // namespace
}  // namespace jprof::hotspot
