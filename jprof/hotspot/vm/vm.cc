#include "jprof/hotspot/vm/vm.h"

#include <cstring>

#include "jprof/hotspot/vm/load.h"

namespace jprof::hotspot {
namespace {

template <typename T>
T Load(uint64_t base, int64_t offset) {
  return LoadAt<T>(base + offset);
}
template <typename T>
T Load(const char* base, int64_t offset) {
  return Load<T>(reinterpret_cast<uint64_t>(base), offset);
}

}  // namespace

bool IsOnlyRecognised(std::string_view class_name, std::string_view name) {
  return (class_name == "java/lang/Object" && name == "<init>") ||
         (class_name == "java/lang/reflect/Method" && name == "invoke") ||
         (class_name.starts_with("java/lang/invoke/") &&
          (class_name.contains("LambdaForm") || class_name.ends_with("$Holder") ||
           class_name == "java/lang/invoke/VarHandleGuards"));
}

Vm::Vm(Fields& field)
    : method_(field),
      lines_(field, method_),
      heaps_(field),
      blob_name_(field("CodeBlob", "_name")),
      level_(field),
      marks_{field.Optional("JavaThread", "_cont_entry"),
             field.Optional("JavaThread", "_monitor_owner_id")} {
  if (marks_.identity < 0) marks_.continuation = -1;
}

Result<Vm> Vm::Open(const VmStructs& structs) {
  Fields field(structs);
  Vm vm(field);
  if (auto found = field.Check(); !found) return std::unexpected(found.error());
  return vm;
}

std::string_view Vm::SymbolAt(uint64_t at) const {
  return {reinterpret_cast<const char*>(at + method_.symbol_body),
          Load<uint16_t>(at, method_.symbol_length)};
}

std::string_view Vm::Pooled(uint64_t pool, uint16_t index) const {
  return SymbolAt(Load<uint64_t>(pool, method_.pool_bytes + int64_t{index} * 8));
}

bool Vm::DescribeSite(uint64_t method, uint32_t bci, engine::MethodText* text) const {
  const auto const_method = Load<uint64_t>(method, method_.const_method);
  if (const_method == 0) return false;
  const auto pool = Load<uint64_t>(const_method, method_.constants);
  const auto file = method_.source_file_index >= 0 ? Load<uint16_t>(pool, method_.source_file_index)
                                                   : uint16_t{0};
  engine::SetSite(bci, lines_.LineOf(const_method, bci), file != 0 ? Pooled(pool, file) : "", text);
  return true;
}

bool Vm::Describe(uint64_t method, engine::MethodText* text) {
  if (method == 0) return false;
  const auto const_method = Load<uint64_t>(method, method_.const_method);
  if (const_method == 0) return false;
  const auto pool = Load<uint64_t>(const_method, method_.constants);
  const auto holder = Load<uint64_t>(pool, method_.pool_holder);
  const auto pooled = [&](int64_t index_offset) {
    return Pooled(pool, Load<uint16_t>(const_method, index_offset));
  };
  text->class_name = SymbolAt(Load<uint64_t>(holder, method_.klass_name));
  text->name = pooled(method_.name_index);
  text->signature = pooled(method_.signature_index);
  const uint32_t flags = method_.access_flags_bytes == 2
                             ? Load<uint16_t>(method, method_.access_flags)
                             : Load<uint32_t>(method, method_.access_flags);
  text->is_static = (flags & MethodLayout::kAccStatic) != 0;
  text->is_native = (flags & MethodLayout::kAccNative) != 0;
  text->is_intrinsic = method_.intrinsic_id >= 0 &&
                       Load<uint16_t>(method, method_.intrinsic_id) != 0 &&
                       !IsOnlyRecognised(text->class_name, text->name);
  return true;
}

FrameKind Vm::Classify(uint64_t return_address) {
  const MemoryReader memory(nullptr);
  const uint64_t blob = heaps_.BlobAround(memory, return_address);
  if (blob == 0) return FrameKind::kOther;
  switch (BlobKindOf(Load<const char*>(blob, blob_name_))) {
    case BlobKind::kMethod:
      return level_.IsC2(memory, blob) ? FrameKind::kRejitted : FrameKind::kJitted;
    case BlobKind::kNativeMethod:
      return FrameKind::kNative;
    case BlobKind::kInterpreter:
      return FrameKind::kInterpreted;
    default:
      return FrameKind::kOther;
  }
}

uint8_t Vm::LevelOf(uint64_t address) const {
  const MemoryReader memory(nullptr);
  const uint64_t blob = heaps_.BlobAround(memory, address);
  const bool is_method =
      blob != 0 && BlobKindOf(Load<const char*>(blob, blob_name_)) == BlobKind::kMethod;
  return is_method ? static_cast<uint8_t>(level_.Of(memory, blob)) : 0;
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

// The VM never frees the text, so it is kept. It may have been set on the command line.
bool Vm::DisableIntrinsic(const VmStructs& structs, const char* name) {
  static std::string disabled;
  auto* const flag = reinterpret_cast<const char**>(Flag(structs, "DisableIntrinsic"));
  if (flag == nullptr) return false;
  const std::string before = *flag != nullptr ? *flag : "";
  disabled = before.empty() ? name : before + "," + name;
  *flag = disabled.c_str();
  return true;
}

}  // namespace jprof::hotspot
