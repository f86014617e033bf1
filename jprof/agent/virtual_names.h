// The names of the live virtual threads, by the VM's id (JDK 24 and later). The VM's events add and
// remove them. Signal handlers read them, without locks or allocation. Names are never freed; there
// are at most kMostNames different ones. Further virtual threads have no name here.
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

  // Callable on any thread, outside signal handlers.
  void Started(uint64_t id, std::string_view name);
  void Ended(uint64_t id);

  // The result is valid as long as this object; null: the thread has no name.
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

  std::mutex lock_;  // of writers
  std::set<std::string, std::less<>> names_;
  std::array<Slot, kSlots> slots_;
};

}  // namespace jprof::agent
