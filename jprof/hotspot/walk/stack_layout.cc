#include "jprof/hotspot/walk/stack_layout.h"

namespace jprof::hotspot {
StackLayout::StackLayout(Fields& field, const MemoryReader& memory)
    : cache(field),
      nmethod(field),
      entries(field),
      coding(CodingOf(field, memory)),
      thread_anchor(field("JavaThread", "_anchor")),
      anchor_sp(field("JavaFrameAnchor", "_last_Java_sp")),
      anchor_pc(field("JavaFrameAnchor", "_last_Java_pc")),
      anchor_fp(field("JavaFrameAnchor", "_last_Java_fp")),
      continuation_entry(field.Optional("JavaThread", "_cont_entry")),
      continuation_return(field.OptionalAddress("ContinuationEntry", "_return_pc")),
      call_stub_return(field.Address("StubRoutines", "_call_stub_return_address")),
      wrapper_anchor(field("JavaCallWrapper", "_anchor")),
      upcall_frame_data(field.Optional("UpcallStub", "_frame_data_offset")),
      thread_os(field("Thread", "JavaThread", "_osthread")),
      os_id(field("OSThread", "_thread_id")),
      thread_stack_base(field("JavaThread", "_stack_base")),
      thread_stack_size(field("JavaThread", "_stack_size")),
      thread_bytes(field.Size("JavaThread")),
      method_(field) {}

// Checks everything that is read to name the method, which is in Method, ConstMethod, ConstantPool,
// class and three symbols.
bool StackLayout::IsReadable(uint64_t method, uint64_t const_method, MemoryReader& memory) const {
  const auto aligned = [&](uint64_t at, int64_t bytes) {
    return at % 8 == 0 && memory.Reaches(at, bytes);
  };
  const auto is_symbol = [&](uint64_t at) {
    uint16_t length;
    return memory.Load(at + method_.symbol_length, &length) &&
           memory.Reaches(at, method_.symbol_body + length);
  };
  if (!aligned(method, method_.method_bytes) || !aligned(const_method, method_.const_method_bytes))
    return false;
  const auto pool = memory.Get<uint64_t>(const_method + method_.constants);
  if (!aligned(pool, method_.pool_bytes)) return false;
  const auto holder = memory.Get<uint64_t>(pool + method_.pool_holder);
  if (!aligned(holder, method_.klass_name + 8) ||
      !is_symbol(memory.Get<uint64_t>(holder + method_.klass_name))) {
    return false;
  }
  for (const int64_t index_at : {method_.name_index, method_.signature_index}) {
    const auto index = memory.Get<uint16_t>(const_method + index_at);
    if (index == 0 || index >= memory.Get<int32_t>(pool + method_.pool_length)) return false;
    if (!is_symbol(memory.Get<uint64_t>(pool + method_.pool_bytes + uint64_t{index} * 8)))
      return false;
  }
  return true;
}

bool StackLayout::IsMethod(uint64_t method, MemoryReader& memory) const {
  uint64_t const_method;
  if (method % 8 != 0 || !memory.Load(method + method_.const_method, &const_method)) return false;
  const uint64_t mark = ValidatedCache::Mark(method, const_method);
  if (known_.Has(mark)) return true;
  if (!IsReadable(method, const_method, memory)) return false;
  known_.Add(mark);
  return true;
}

MethodShape StackLayout::ShapeOf(uint64_t method, MemoryReader& memory) const {
  const auto const_method = memory.Get<uint64_t>(method + method_.const_method);
  const uint32_t flags = method_.access_flags_bytes == 2
                             ? memory.Get<uint16_t>(method + method_.access_flags)
                             : memory.Get<uint32_t>(method + method_.access_flags);
  return {const_method + method_.const_method_bytes,
          memory.Get<uint16_t>(const_method + method_.code_size),
          (flags & MethodLayout::kAccNative) != 0};
}

}  // namespace jprof::hotspot
