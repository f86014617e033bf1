#include "jprof/engine/method_table.h"

#include <bit>
#include <charconv>
#include <cstring>
#include <iterator>
#include <utility>

#include "common/mapped_memory.h"
#include "common/uninterrupted_lock.h"

namespace jprof::engine {
namespace {

constexpr uint32_t kFirstCapacity = 4096;
constexpr size_t kMethodIds = size_t{profile::kMethodMask} + 1;

uint64_t Mix(uint64_t hash, std::string_view text) {  // FNV-1a, a separator after each part
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3ull;
  return (hash ^ 0xff) * 0x100000001b3ull;
}

uint64_t HashOf(const MethodText& text) {
  uint64_t hash = Mix(0xcbf29ce484222325ull, text.class_name);
  hash = Mix(hash, text.name);
  hash = Mix(hash, text.signature);
  return hash != 0 ? hash : 1;
}

}  // namespace

void SetSite(uint32_t bci, uint32_t line, std::string_view file, MethodText* text) {
  char* const end = std::end(text->scratch);
  char* at = std::to_chars(text->scratch, end, bci).ptr;
  *at++ = ':';
  at = std::to_chars(at, end, line).ptr;
  text->class_name = file;
  text->name = {text->scratch, static_cast<size_t>(at - text->scratch)};
  text->flags = profile::kMethodSite;
}

bool SiteNames::Describe(uint64_t handle, MethodText* text) {
  const auto& site = *reinterpret_cast<const Site*>(handle);
  SetSite(site.bci, site.line, "", text);
  return true;
}

SelectedMethods::~SelectedMethods() { UnmapArray(patterns_, kMethodIds); }

bool SelectedMethods::Open(Select select) {
  if (!select) return true;
  select_ = std::move(select);
  patterns_ = MapArray<uint8_t>(kMethodIds);
  return patterns_ != nullptr;
}

uint64_t SelectedMethods::Add(profile::MethodId id, const MethodText& text) {
  const uint64_t patterns = select_ ? select_(text.class_name, text.name) : 0;
  if (patterns != 0)
    __atomic_store_n(&patterns_[IndexOf(id)], static_cast<uint8_t>(std::countr_zero(patterns) + 1),
                     __ATOMIC_RELAXED);
  return patterns;
}

MethodTable::~MethodTable() { UnmapArray(slots_, capacity_); }

bool MethodTable::Open(profile::Writer* writer, Filter filter) {
  writer_ = writer;
  filter_ = std::move(filter);
  slots_ = MapArray<Slot>(kFirstCapacity);
  if (slots_ == nullptr) return false;
  capacity_ = kFirstCapacity;
  return writer_->AddMethod("(unknown)", "method", "", 0) == kUnknownMethod;
}

void MethodTable::SetFilter(Filter filter) {
  const UninterruptedLock guard(lock_);
  filter_ = std::move(filter);
}

bool MethodTable::Same(const Slot& slot, const MethodText& text) const {
  const char* bytes = writer_->methods() + uint64_t{slot.offset} * 8;
  const auto* record = reinterpret_cast<const profile::MethodRecord*>(bytes);
  const char* strings = bytes + sizeof *record;
  const std::string_view class_name(strings, record->class_length);
  const std::string_view name(strings + record->class_length, record->name_length);
  const std::string_view signature(name.end(), record->signature_length);
  return class_name == text.class_name && name == text.name && signature == text.signature;
}

bool MethodTable::Grow() {
  const uint32_t capacity = capacity_ * 2;
  auto* const slots = MapArray<Slot>(capacity);
  if (slots == nullptr) return false;
  for (uint32_t i = 0; i < capacity_; ++i) {
    if (slots_[i].hash == 0) continue;
    auto at = static_cast<uint32_t>(slots_[i].hash & (capacity - 1));
    while (slots[at].hash != 0) at = (at + 1) & (capacity - 1);
    slots[at] = slots_[i];
  }
  UnmapArray(slots_, capacity_);
  slots_ = slots;
  capacity_ = capacity;
  return true;
}

uint32_t MethodTable::SlotOf(uint64_t hash, const MethodText& text) const {
  auto at = static_cast<uint32_t>(hash & (capacity_ - 1));
  while (slots_[at].hash != 0 && (slots_[at].hash != hash || !Same(slots_[at], text)))
    at = (at + 1) & (capacity_ - 1);
  return at;
}

MethodTable::Id MethodTable::Find(MethodSource& source, uint64_t method) {
  MethodText text;
  if (!source.Describe(method, &text)) {
    ++writer_->header()->name_failures;
    return {kUnknownMethod, false};
  }
  if (IsOfProgramApi(text.class_name) && text.flags == 0) return {kIgnoredMethod, text.is_native};
  const uint64_t hash = HashOf(text);
  writer_->ExpectMethod();  // the file grows before the lock is taken
  const UninterruptedLock guard(lock_);
  const uint32_t at = SlotOf(hash, text);
  if (slots_[at].hash != 0) return {slots_[at].id, text.is_native};
  const bool accepted = !filter_ || text.flags != 0 || filter_(text.class_name, text.name);
  const uint16_t flags =
      text.flags | (text.is_static ? profile::kMethodStatic : 0) |
      (text.is_native ? profile::kMethodNative : 0) | (accepted ? 0 : profile::kMethodFiltered) |
      (mark_intrinsics_ && accepted && text.is_intrinsic ? profile::kMethodIntrinsic : 0);
  Slot slot = {hash, {}, static_cast<uint32_t>(writer_->header()->methods_bytes / 8)};
  if (!IsFull()) {
    slot.id = writer_->AddMethod(text.class_name, text.name, text.signature, flags);
  }
  // Without memory or disk space, the events are attributed to one shared name.
  if (slot.id == profile::kRootMethod) {
    ++writer_->header()->name_failures;
    return {accepted ? kUnknownMethod : kIgnoredMethod, text.is_native};
  }
  if (!accepted) {
    slot.id = kIgnoredMethod;
  } else if (text.flags == 0) {  // others have no names that patterns select
    writer_->header()->watched_patterns |= watched_.Add(slot.id, text);
    writer_->header()->gate_patterns |= gates_.Add(slot.id, text);
  }
  slots_[at] = slot;
  if (++used_ * 2 > capacity_) Grow();  // if that fails, lookups get slower
  return {slot.id, text.is_native};
}

}  // namespace jprof::engine
