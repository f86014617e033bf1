#include "jprof/hotspot/vm.h"

#include <cstring>

namespace jprof::hotspot {
namespace {

constexpr uint32_t kAccStatic = 0x0008;
constexpr uint32_t kAccNative = 0x0100;
constexpr int kFirstC2Level = 4;

template <typename T>
T Load(uint64_t base, int64_t offset) {
  T value;
  std::memcpy(&value, reinterpret_cast<const void*>(base + offset), sizeof value);
  return value;
}
template <typename T>
T Load(const char* base, int64_t offset) {
  return Load<T>(reinterpret_cast<uint64_t>(base), offset);
}

}  // namespace

Result<Vm> Vm::Open(const VmStructs& s) {
  Vm vm;
  const char* missing = nullptr;
  const auto field = [&](const char* type, const char* name) {
    const int64_t offset = s.Offset(type, name);
    if (offset < 0 && missing == nullptr) missing = name;
    return offset;
  };
  const auto size = [&](const char* type) {
    const uint64_t bytes = s.SizeOf(type);
    if (bytes == 0 && missing == nullptr) missing = type;
    return static_cast<int64_t>(bytes);
  };
  vm.const_method_ = field("Method", "_constMethod");
  vm.access_flags_ = field("Method", "_access_flags");
  vm.access_bytes_ = size("AccessFlags");
  vm.constants_ = field("ConstMethod", "_constants");
  vm.name_index_ = field("ConstMethod", "_name_index");
  vm.signature_index_ = field("ConstMethod", "_signature_index");
  vm.pool_holder_ = field("ConstantPool", "_pool_holder");
  vm.pool_bytes_ = size("ConstantPool");
  vm.klass_name_ = field("Klass", "_name");
  vm.symbol_length_ = field("Symbol", "_length");
  vm.symbol_body_ = field("Symbol", "_body");
  vm.blob_name_ = field("CodeBlob", "_name");
  vm.comp_level_ = field("nmethod", "_comp_level");
  const uint64_t level_bytes =
      s.SizeOf("CompLevel");  // a type of its own from 21 on; an int before
  vm.comp_level_bytes_ = level_bytes == 1 ? 1 : 4;
  vm.heaps_ = static_cast<const char* const*>(s.Static("CodeCache", "_heaps"));
  if (vm.heaps_ == nullptr && missing == nullptr) missing = "CodeCache::_heaps";
  vm.array_length_ = field("GrowableArrayBase", "_len");
  vm.array_data_ = field("GrowableArray<int>", "_data");
  vm.heap_memory_ = field("CodeHeap", "_memory");
  vm.heap_segments_ = field("CodeHeap", "_segmap");
  vm.heap_log2_ = field("CodeHeap", "_log2_segment_size");
  vm.space_low_ = field("VirtualSpace", "_low");
  vm.space_high_ = field("VirtualSpace", "_high");
  vm.header_used_ = field("HeapBlock::Header", "_used");
  vm.header_bytes_ = size("HeapBlock");
  if (missing != nullptr) return Fail("this JVM does not say where its {} is", missing);
  vm.continuation_ = s.Offset("JavaThread", "_cont_entry");
  vm.owner_ = s.Offset("JavaThread", "_monitor_owner_id");
  if (vm.owner_ < 0) vm.continuation_ = -1;
  return vm;
}

bool Vm::Describe(uint64_t method, engine::MethodText* text) {
  const auto symbol = [&](uint64_t at) {
    return std::string_view(reinterpret_cast<const char*>(at + symbol_body_),
                            Load<uint16_t>(at, symbol_length_));
  };
  if (method == 0) return false;
  const auto const_method = Load<uint64_t>(method, const_method_);
  if (const_method == 0) return false;
  const auto pool = Load<uint64_t>(const_method, constants_);
  const auto holder = Load<uint64_t>(pool, pool_holder_);
  const auto pooled = [&](int64_t index_offset) {
    const auto index = Load<uint16_t>(const_method, index_offset);
    return symbol(Load<uint64_t>(pool, pool_bytes_ + int64_t{index} * 8));
  };
  text->class_name = symbol(Load<uint64_t>(holder, klass_name_));
  text->name = pooled(name_index_);
  text->signature = pooled(signature_index_);
  const uint32_t flags = access_bytes_ == 2 ? Load<uint16_t>(method, access_flags_)
                                            : Load<uint32_t>(method, access_flags_);
  text->is_static = (flags & kAccStatic) != 0;
  text->is_native = (flags & kAccNative) != 0;
  return true;
}

// The code blob around an address, by the heap's segment map: each byte says how many segments back
// (at least) the block begins, 0 = here, 255 = free.
const char* Vm::BlobOf(uint64_t address) const {
  const char* heaps = *heaps_;
  const auto count = Load<int32_t>(heaps, array_length_);
  const auto* data = Load<const char* const*>(heaps, array_data_);
  for (int i = 0; i < count; ++i) {
    const char* heap = data[i];
    const auto low = Load<uint64_t>(heap, heap_memory_ + space_low_);
    if (address < low || address >= Load<uint64_t>(heap, heap_memory_ + space_high_)) continue;
    const auto log2 = Load<int32_t>(heap, heap_log2_);
    const auto* segments = Load<const uint8_t*>(heap, heap_segments_ + space_low_);
    uint64_t segment = (address - low) >> log2;
    if (segments[segment] == 0xff) return nullptr;
    while (segments[segment] > 0) segment -= segments[segment];
    const char* block = reinterpret_cast<const char*>(low + (segment << log2));
    return Load<uint8_t>(block, header_used_) != 0 ? block + header_bytes_ : nullptr;
  }
  return nullptr;
}

MethodType Vm::Classify(uint64_t return_address) {
  const char* blob = BlobOf(return_address);
  if (blob == nullptr) return MethodType::kOther;
  const char* name = Load<const char*>(blob, blob_name_);
  if (std::strcmp(name, "nmethod") == 0) {
    const int level =
        comp_level_bytes_ == 1 ? Load<int8_t>(blob, comp_level_) : Load<int32_t>(blob, comp_level_);
    return level >= kFirstC2Level ? MethodType::kRejitted : MethodType::kJitted;
  }
  if (std::strcmp(name, "native nmethod") == 0) return MethodType::kNative;
  if (std::strcmp(name, "Interpreter") == 0) return MethodType::kInterpreted;
  return MethodType::kOther;
}

uint64_t Vm::VirtualThreadId(uint64_t vm_thread) {
  return owner_ >= 0 ? Load<uint64_t>(vm_thread, owner_) : 0;
}

uint8_t* Vm::Flag(const VmStructs& s, const char* name) {
  auto* flags = static_cast<const char**>(s.Static("JVMFlag", "flags"));
  auto* count = static_cast<uint64_t*>(s.Static("JVMFlag", "numFlags"));
  const int64_t name_at = s.Offset("JVMFlag", "_name");
  const int64_t address_at = s.Offset("JVMFlag", "_addr");
  const uint64_t stride = s.SizeOf("JVMFlag");
  if (flags == nullptr || count == nullptr || name_at < 0 || address_at < 0 || stride == 0) {
    return nullptr;
  }
  const char* flag = *flags;
  for (uint64_t i = 0; i < *count; ++i, flag += stride) {
    const char* found = Load<const char*>(flag, name_at);
    if (found != nullptr && std::strcmp(found, name) == 0) {
      return Load<uint8_t*>(flag, address_at);
    }
  }
  return nullptr;
}

}  // namespace jprof::hotspot
