#include "model/itrace/arc_stack.h"

#include <algorithm>

namespace jprof::model {
namespace {

// The greatest length of a call instruction in bytes, prefixes included.
constexpr uint64_t kLongestCall = 15;

// The number of entries that a search examines before it uses the index: most searches end there.
constexpr size_t kNear = 8;

}  // namespace

bool ReturnsTo(uint64_t call, uint64_t address) {
  return call != 0 && address > call && address - call <= kLongestCall;
}

void ArcStack::Push(const ArcEntry& entry) {
  const auto index = static_cast<uint32_t>(entries_.size());
  const Place& below = entries_.back();
  Place place = {.entry = entry, .frame = below.frame, .signal = below.signal};
  if (entry.is_frame()) place.frame = index;
  if (entry.reason == ArcEntry::Reason::kSignal) place.signal = index;
  entries_.push_back(place);
}

size_t ArcStack::Cut(size_t size) {
  size_t frames = 0;
  for (; entries_.size() > size; entries_.pop_back()) {
    const Place& place = entries_.back();
    frames += place.entry.is_frame();
    if (entries_.size() != indexed_) continue;
    --indexed_;
    by_function_[place.entry.function] = place.same_function;
    if (place.entry.call != 0) NewestCall(place, entries_[indexed_ - 1]) = place.same_call;
  }
  return frames;
}

size_t ArcStack::Newest(uint32_t function, size_t from) {
  const size_t near = std::max(from, entries_.size() - std::min(kNear, entries_.size()));
  for (size_t i = entries_.size(); i-- > near;) {
    ++steps_;
    if (entries_[i].entry.function == function) return i;
  }
  if (near == from) return kNone;
  Index();
  const size_t newest = by_function_.Get(function, 0);
  const bool found = newest != 0 || entries_[0].entry.function == function;
  return found && newest >= from ? newest : kNone;
}

size_t ArcStack::NewestReturn(uint32_t function, uint64_t address) {
  if (Newest(function, 0) == kNone) return 0;
  Index();
  uint32_t newest = 0;
  for (uint64_t bytes = 1; bytes <= kLongestCall && bytes < address; ++bytes) {
    ++steps_;
    const uint64_t number = numbers_.Get(address - bytes, 0);
    if (number != 0) newest = std::max(newest, by_call_.Get(number << 32 | function, 0));
  }
  return newest;
}

void ArcStack::Index() {
  for (; indexed_ < entries_.size(); ++indexed_) {
    ++steps_;
    Place& place = entries_[indexed_];
    const auto index = static_cast<uint32_t>(indexed_);
    place.same_function = by_function_.Get(place.entry.function, 0);
    by_function_[place.entry.function] = index;
    if (place.entry.call == 0) continue;
    uint32_t& newest = NewestCall(place, entries_[indexed_ - 1]);
    place.same_call = newest == FlatMap::kNone ? 0 : newest;
    newest = index;
  }
}

// Finds the newest entry of the same call by the same function.
uint32_t& ArcStack::NewestCall(const Place& place, const Place& below) {
  uint32_t& number = numbers_[place.entry.call];
  if (number == FlatMap::kNone) number = ++calls_;
  return by_call_[uint64_t{number} << 32 | below.entry.function];
}

}  // namespace jprof::model
