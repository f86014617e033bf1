#include "itrace/breakpoints.h"

#include <algorithm>

namespace jprof::itrace {
namespace {

#if defined(__x86_64__)
constexpr uint8_t kTrapCode[] = {0xcc};
constexpr uint64_t kAfterTrap = 1;  // the program counter of a thread that executed it
#else
constexpr uint8_t kTrapCode[] = {0x00, 0x00, 0x20, 0xd4};
constexpr uint64_t kAfterTrap = 0;
#endif

// Returns false if the method was compiled anew, so that its memory has other code by now.
bool HasTrap(const Tracee& tracee, uint64_t place) {
  uint8_t now[std::size(kTrapCode)];
  return tracee.Read(place, now) == std::size(now) && std::ranges::equal(now, kTrapCode);
}

void Restore(const Tracee& tracee, uint64_t place, const std::vector<uint8_t>& original) {
  if (HasTrap(tracee, place)) tracee.Write(place, original);
}

}  // namespace

void Breakpoints::Set(Tracee& tracee, const std::vector<uint64_t>& places) {
  for (auto it = original_.begin(); it != original_.end();) {
    const bool stays = std::ranges::count(places, it->first) != 0 && HasTrap(tracee, it->first);
    if (stays) {
      ++it;
      continue;
    }
    Restore(tracee, it->first, it->second);
    it = original_.erase(it);
  }
  for (const uint64_t place : places) {
    if (original_.contains(place)) continue;
    std::vector<uint8_t> code(std::size(kTrapCode));
    if (tracee.Read(place, code) != code.size() || !tracee.Write(place, kTrapCode)) continue;
    original_[place] = code;
    ever_.insert(place);
  }
}

void Breakpoints::Remove(const Tracee& tracee) {
  RemoveFrom(tracee);
  original_.clear();
}

void Breakpoints::RemoveFrom(const Tracee& copy) const {
  for (const auto& [place, code] : original_) Restore(copy, place, code);
}

void Breakpoints::Forget() {
  original_.clear();
  ever_.clear();
}

uint64_t Breakpoints::Hit(const Registers& registers) const {
  const uint64_t place = registers.pc() - kAfterTrap;
  return ever_.contains(place) ? place : 0;
}

}  // namespace jprof::itrace
