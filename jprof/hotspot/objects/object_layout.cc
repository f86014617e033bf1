#include "jprof/hotspot/objects/object_layout.h"

#include "jprof/hotspot/vm/struct_lookup.h"
#include "jprof/hotspot/vm/vm.h"

namespace jprof::hotspot {
namespace {

constexpr uint64_t kLengthAt[] = {16, 12, 8};  // of an array's length, by the kind of header

// Returns whether a boolean flag is on, which VMs that lack it imply.
bool IsOnOrImplied(const VmStructs& structs, const char* name) {
  const uint8_t* const flag = Vm::Flag(structs, name);
  return flag == nullptr || *flag != 0;
}

}  // namespace

Result<ObjectLayout> ObjectLayout::Open(const VmStructs& structs) {
  Fields field(structs);
  ObjectLayout layout;
  const auto at = [&](const char* type, const char* name) {
    return static_cast<uint64_t>(field(type, name));
  };
  layout.name_at_ = at("Klass", "_name");
  layout.layout_helper_at_ = at("Klass", "_layout_helper");
  layout.symbol_length_ = at("Symbol", "_length");
  layout.symbol_body_ = at("Symbol", "_body");
  layout.class_size_address_ = field.Address("java_lang_Class", "_oop_size_offset");
  const auto encoding = [&](const char* name, const char* older) {
    const uint64_t address = field.OptionalAddress("CompressedKlassPointers", name);
    return address != 0 ? address : field.Address("CompressedKlassPointers", older);
  };
  layout.base_address_ = encoding("_base", "_narrow_klass._base");
  layout.shift_address_ = encoding("_shift", "_narrow_klass._shift");
  if (at("oopDesc", "_metadata._klass") != kKlass) return Fail("objects have an unknown header");
  if (auto found = field.Check(); !found) return std::unexpected(found.error());
  if (Vm::IsOn(structs, "UseCompactObjectHeaders")) {
    layout.header_ = Header::kCompact;
  } else if (!IsOnOrImplied(structs, "UseCompressedClassPointers")) {
    layout.header_ = Header::kWhole;
  }
  layout.array_length_at_ = kLengthAt[static_cast<size_t>(layout.header_)];
  // Its flag has 64 bits in some VMs and 32 in others.
  if (const uint8_t* alignment = Vm::Flag(structs, "ObjectAlignmentInBytes"))
    layout.alignment_ = LoadAt<uint32_t>(reinterpret_cast<uint64_t>(alignment));
  return layout;
}

void ObjectLayout::ReadEncoding() {
  if (header_ == Header::kWhole) return;
  narrow_base_ = LoadAt<uint64_t>(base_address_);
  narrow_shift_ = static_cast<uint8_t>(LoadAt<uint32_t>(shift_address_));
}

// Reads the layout helper. It is positive for instances, with their size and a bit that says that
// the interpreter must not allocate them, and negative for arrays, with the size of the header, and
// the size of an element as a power of 2. The VM sizes java.lang.Class and StackChunk one by one.
ObjectSize ObjectLayout::SizeOf(uint64_t klass) const {
  const auto helper = LoadAt<int32_t>(klass + layout_helper_at_);
  if (helper < 0)
    return {.rule = ObjectSize::Rule::kArray,
            .header_bytes = static_cast<uint8_t>(helper >> 16),
            .element_shift = static_cast<uint8_t>(helper & 0x3f)};
  const std::string_view name = TextOf(klass);
  if (name == "java/lang/Class") return {.rule = ObjectSize::Rule::kClass};
  if (helper == 0 || name == "jdk/internal/vm/StackChunk") return {};
  return {.rule = ObjectSize::Rule::kFixed, .bytes = static_cast<uint32_t>(helper) & ~7u};
}

uint64_t ObjectLayout::OtherBytesOf(uint64_t object, const ObjectSize& size) const {
  if (size.rule == ObjectSize::Rule::kArray) {
    const uint64_t elements = LoadAt<uint32_t>(object + array_length_at_);
    const uint64_t bytes = size.header_bytes + (elements << size.element_shift);
    return (bytes + alignment_ - 1) / alignment_ * alignment_;
  }
  if (size.rule != ObjectSize::Rule::kClass) return 0;
  const auto at = LoadAt<uint32_t>(class_size_address_);
  return uint64_t{LoadAt<uint32_t>(object + at)} * sizeof(uint64_t);  // it is in words
}

std::string_view ObjectLayout::TextOf(uint64_t klass) const {
  const uint64_t name = NameOf(klass);
  return {reinterpret_cast<const char*>(name + symbol_body_),
          LoadAt<uint16_t>(name + symbol_length_)};
}

bool ObjectLayout::Describe(uint64_t klass, engine::MethodText* text) {
  text->class_name = TextOf(klass);
  text->flags = profile::kMethodClass;
  return true;
}

}  // namespace jprof::hotspot
