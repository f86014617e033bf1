// The names of the live virtual threads, by the VM's id (JDK 24 and later). The VM's events add and
// remove them. Signal handlers read them without locks or allocation. Names are never freed; at
// most kMostNames different ones are kept. Further virtual threads have no name here.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

namespace jprof::agent {

class VirtualNames {
 public:
  static constexpr size_t kMostNames = 1024;

  // Add and remove a virtual thread. Can be called on any thread, outside signal handlers.
  void Started(uint64_t id, std::string_view name);
  void Ended(uint64_t id);

  // Returns the name of a virtual thread, which is valid as long as this object, or null if it
  // has none.
  const char* NameOf(uint64_t id) const;

 private:
  static constexpr size_t kSlots = 1 << 14, kProbes = 16;
  struct Slot {
    std::atomic<uint64_t> id = 0;
    std::atomic<const char*> name = nullptr;
  };
  static size_t Place(uint64_t id, size_t probe) {
    return ((id * 0x9e3779b97f4a7c15ull >> 50) + probe) & (kSlots - 1);
  }

  std::mutex lock_;  // held by writers
  std::set<std::string, std::less<>> names_;
  std::array<Slot, kSlots> slots_;
};

}  // namespace jprof::agent
