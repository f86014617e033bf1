// Reads the class and the size of an object from its header, and the name of a class. It can be
// used in a leaf probe: it only loads, and calls no function of the VM. The object's header must be
// complete, and its class must not be unloaded meanwhile, as is true of an object that has just
// been allocated.
#pragma once

#include <cstdint>
#include <string_view>

#include "common/result.h"
#include "jprof/engine/method_table.h"
#include "jprof/hotspot/vm/load.h"
#include "jprof/hotspot/vm/vm_structs.h"

namespace jprof::hotspot {

// States how many bytes an object of a class has.
struct ObjectSize {
  enum class Rule : uint8_t { kFixed, kArray, kClass, kUnknown };
  Rule rule = Rule::kUnknown;
  uint8_t header_bytes = 0, element_shift = 0;  // of an array
  uint32_t bytes = 0;                           // of an instance, if all of them have the same size
};

// Describes classes, which the VM's Klass* identifies, as methods of the flag kMethodClass.
class ObjectLayout final : public engine::MethodSource {
 public:
  // Fails if this VM does not export a field that is required; the error names it.
  static Result<ObjectLayout> Open(const VmStructs& structs);

  // Reads how classes are encoded in headers, which the VM decides after it has loaded its agents:
  // it is known once there is an object. May be called by several threads at once.
  void ReadEncoding();

  [[gnu::always_inline]] uint64_t KlassOf(uint64_t object) const {
    // Each load is as wide as the store that has just filled the header, which it waits for.
    if (header_ == Header::kNarrow) [[likely]]
      return narrow_base_ + (uint64_t{LoadAt<uint32_t>(object + kKlass)} << narrow_shift_);
    if (header_ == Header::kWhole) return LoadAt<uint64_t>(object + kKlass);
    return narrow_base_ + (LoadAt<uint64_t>(object) >> kCompactShift << narrow_shift_);
  }
  // Returns the Symbol* of the name of a class. Together with the Klass* it identifies the class
  // although the VM may reuse the addresses of classes that were unloaded.
  [[gnu::always_inline]] uint64_t NameOf(uint64_t klass) const {
    return LoadAt<uint64_t>(klass + name_at_);
  }
  ObjectSize SizeOf(uint64_t klass) const;
  // Returns the object's size in bytes, or 0 if the rule is kUnknown.
  [[gnu::always_inline]] uint64_t BytesOf(uint64_t object, const ObjectSize& size) const {
    if (size.rule == ObjectSize::Rule::kFixed) [[likely]]
      return size.bytes;
    return OtherBytesOf(object, size);
  }

  bool Describe(uint64_t klass, engine::MethodText* text) override;
  FrameKind Classify(uint64_t) override { return FrameKind::kClass; }

 private:
  // The header of an object has a Klass*, a narrow one, or with compact headers a narrow one in the
  // upper bits of its first word.
  enum class Header : uint8_t { kWhole, kNarrow, kCompact };
  static constexpr uint64_t kKlass = 8;
  static constexpr int kCompactShift = 42;

  ObjectLayout() = default;
  std::string_view TextOf(uint64_t klass) const;
  [[gnu::noinline]] uint64_t OtherBytesOf(uint64_t object, const ObjectSize& size) const;

  // Offsets in a Klass and in a Symbol, and addresses of static fields of the VM.
  uint64_t name_at_ = 0, layout_helper_at_ = 0, symbol_length_ = 0, symbol_body_ = 0;
  uint64_t base_address_ = 0, shift_address_ = 0, class_size_address_ = 0;
  uint64_t alignment_ = 8;  // of objects
  Header header_ = Header::kNarrow;
  uint8_t narrow_shift_ = 0;
  uint64_t narrow_base_ = 0;
  uint64_t array_length_at_ = 16;
};

}  // namespace jprof::hotspot
