// The names of the virtual threads that live now, by the VM's id of each (JDK 24 and later). Told
// by the VM's events; asked in signal handlers: no lock, no allocation there. Names are kept for
// ever, at most kMostNames different ones; virtual threads beyond, and those without a name, have
// none.
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

  // Ordinary code, any thread.
  void Started(uint64_t id, std::string_view name);
  void Ended(uint64_t id);

  // Lives as long as this object; null: none is known.
  const char* Of(uint64_t id) const;

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
