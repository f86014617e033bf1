#include "jprof/hotspot/vm.h"

#include <cstring>

#include "jprof/hotspot/load.h"

namespace jprof::hotspot {
namespace {

constexpr uint32_t kAccStatic = 0x0008;
constexpr uint32_t kAccNative = 0x0100;
constexpr int kFirstC2Level = 4;

template <typename T>
T Load(uint64_t base, int64_t offset) {
  return LoadAt<T>(base + offset);
}
template <typename T>
T Load(const char* base, int64_t offset) {
  return Load<T>(reinterpret_cast<uint64_t>(base), offset);
}

}  // namespace

Result<Vm> Vm::Open(const VmStructs& s) {
  Vm vm;
  Fields field(s);
  vm.const_method_ = field("Method", "_constMethod");
  vm.access_flags_ = field("Method", "_access_flags");
  vm.access_bytes_ = field.Size("AccessFlags");
  vm.intrinsic_id_ = s.Offset("Method", "_intrinsic_id");
  vm.constants_ = field("ConstMethod", "_constants");
  vm.name_index_ = field("ConstMethod", "_name_index");
  vm.signature_index_ = field("ConstMethod", "_signature_index");
  vm.pool_holder_ = field("ConstantPool", "_pool_holder");
  vm.pool_bytes_ = field.Size("ConstantPool");
  vm.klass_name_ = field("Klass", "_name");
  vm.symbol_length_ = field("Symbol", "_length");
  vm.symbol_body_ = field("Symbol", "_body");
  vm.blob_name_ = field("CodeBlob", "_name");
  vm.comp_level_ = field("nmethod", "_comp_level");
  const uint64_t level_bytes =
      s.SizeOf("CompLevel");  // a type of its own from 21 on; an int before
  vm.comp_level_bytes_ = level_bytes == 1 ? 1 : 4;
  vm.heaps_.Open(field);
  if (field.missing() != nullptr) {
    return Fail("this JVM does not say where its {} is", field.missing());
  }
  vm.marks_ = {s.Offset("JavaThread", "_cont_entry"), s.Offset("JavaThread", "_monitor_owner_id")};
  if (vm.marks_.identity < 0) vm.marks_.continuation = -1;
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
  text->is_intrinsic = intrinsic_id_ >= 0 && Load<uint16_t>(method, intrinsic_id_) != 0;
  return true;
}

MethodType Vm::Classify(uint64_t return_address) {
  const uint64_t blob = heaps_.BlobAround(return_address);
  if (blob == 0) return MethodType::kOther;
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
  return marks_.identity >= 0 ? Load<uint64_t>(vm_thread, marks_.identity) : 0;
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
