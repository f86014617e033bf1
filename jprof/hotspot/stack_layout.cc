#include "jprof/hotspot/stack_layout.h"

#include <cstring>

#include "jprof/hotspot/fields.h"
#include "jprof/hotspot/frame_code.h"
#include "jprof/hotspot/load.h"

namespace jprof::hotspot {
namespace {

constexpr uint32_t kAccNative = 0x0100;
constexpr int kFirstC2Level = 4;
constexpr int kFirstWithoutZeros = 20;  // JDK-8292758
constexpr uint64_t kMostScopeBytes = 64 << 20;
constexpr char kMethodEntry[] = "method entry point";

}  // namespace

const char* InterpreterEntries::Open(const VmStructs& s) {
  Fields field(s);
  queue_ = reinterpret_cast<uint64_t>(field.Address("AbstractInterpreter", "_code"));
  buffer_ = field("StubQueue", "_stub_buffer");
  limit_ = field("StubQueue", "_buffer_limit");
  first_ = field("StubQueue", "_queue_begin");
  end_ = field("StubQueue", "_queue_end");
  codelet_size_ = field("InterpreterCodelet", "_size");
  codelet_name_ = field("InterpreterCodelet", "_description");
  codelet_bytes_ = field.Size("InterpreterCodelet");
  return field.missing();
}

InterpreterEntries::Range InterpreterEntries::Code() const {
  const auto queue = LoadAt<uint64_t>(queue_);
  if (queue == 0) return {0, 0};
  const auto buffer = LoadAt<uint64_t>(queue + buffer_);
  return {buffer, buffer + LoadAt<int32_t>(queue + limit_)};
}

void InterpreterEntries::Find() {
  const auto queue = LoadAt<uint64_t>(queue_);
  if (queue == 0) return;
  const auto buffer = LoadAt<uint64_t>(queue + buffer_);
  const auto end = LoadAt<int32_t>(queue + end_);
  int count = 0;
  for (int64_t at = LoadAt<int32_t>(queue + first_); at < end && count < kMost;) {
    const uint64_t codelet = buffer + at;
    const auto size = LoadAt<int32_t>(codelet + codelet_size_);
    if (size < codelet_bytes_) break;
    const auto name = LoadAt<const char*>(codelet + codelet_name_);
    if (name != nullptr && std::strncmp(name, kMethodEntry, sizeof kMethodEntry - 1) == 0) {
      const uint64_t begin = codelet + codelet_bytes_;
      const int32_t set =
          FramePointerSet(reinterpret_cast<const uint8_t*>(begin), size - codelet_bytes_);
      entries_[count++] = {begin, codelet + size, set < 0 ? 0 : begin + set};
    }
    at += size;
  }
  count_.store(count, std::memory_order_release);
}

const uint64_t* InterpreterEntries::FrameFrom(uint64_t pc) {
  if (count_.load(std::memory_order_acquire) < 0) Find();
  const int count = count_.load(std::memory_order_acquire);
  if (count <= 0 || pc < entries_[0].begin || pc >= entries_[count - 1].end) return nullptr;
  for (int i = 0; i < count; ++i) {
    if (pc >= entries_[i].begin && pc < entries_[i].end) return &entries_[i].frame_from;
  }
  return nullptr;
}

const char* StackLayout::Open(const VmStructs& s) {
  if (const char* missing = cache.Open(s)) return missing;
  if (const char* missing = entries.Open(s)) return missing;
  Fields field(s);
  const auto* major =
      static_cast<const int32_t*>(s.Static("Abstract_VM_Version", "_vm_major_version"));
  if (major == nullptr) return "_vm_major_version";
  coding = *major >= kFirstWithoutZeros ? Coding::kNoZeros : Coding::kAllBytes;

  thread_anchor = field("JavaThread", "_anchor");
  anchor_sp = field("JavaFrameAnchor", "_last_Java_sp");
  anchor_pc = field("JavaFrameAnchor", "_last_Java_pc");
  anchor_fp = field("JavaFrameAnchor", "_last_Java_fp");
  continuation_entry = s.Offset("JavaThread", "_cont_entry");
  continuation_return = static_cast<const uint64_t*>(s.Static("ContinuationEntry", "_return_pc"));
  call_stub_return = field.Address("StubRoutines", "_call_stub_return_address");
  wrapper_anchor = field("JavaCallWrapper", "_anchor");
  upcall_frame_data = s.Offset("UpcallStub", "_frame_data_offset");
  thread_os = field("Thread", "JavaThread", "_osthread");
  os_id = field("OSThread", "_thread_id");
  thread_stack_base = field("JavaThread", "_stack_base");
  thread_stack_size = field("JavaThread", "_stack_size");
  thread_bytes = field.Size("JavaThread");

  method_const_ = field("Method", "_constMethod");
  method_flags_ = field("Method", "_access_flags");
  method_flags_bytes_ = field.Size("AccessFlags");
  method_bytes_ = field.Size("Method");
  const_pool_ = field("ConstMethod", "_constants");
  const_code_size_ = field("ConstMethod", "_code_size");
  const_name_ = field("ConstMethod", "_name_index");
  const_signature_ = field("ConstMethod", "_signature_index");
  const_bytes_ = field.Size("ConstMethod");
  pool_holder_ = field("ConstantPool", "_pool_holder");
  pool_length_ = field("ConstantPool", "_length");
  pool_bytes_ = field.Size("ConstantPool");
  klass_name_ = field("Klass", "_name");
  symbol_length_ = field("Symbol", "_length");
  symbol_body_ = field("Symbol", "_body");

  nm_method_ = field("nmethod", "CompiledMethod", "_method");
  nm_level_ = field("nmethod", "_comp_level");
  nm_level_bytes_ =
      s.SizeOf("CompLevel") == 1 ? 1 : 4;  // a type of its own from 21 on; an int before
  nm_pcs_ = field("nmethod", "_scopes_pcs_offset");
  nm_original_pc_ = field("nmethod", "_orig_pc_offset");
  nm_compile_id_ = field("nmethod", "_compile_id");
  nm_immutable_ = s.Offset("nmethod", "_immutable_data");
  if (nm_immutable_ >= 0) {
    nm_immutable_size_ = field("nmethod", "_immutable_data_size");
    nm_scopes_offset_ = field("nmethod", "_scopes_data_offset");
    nm_deopt_offset_ = field("nmethod", "_deopt_handler_offset");
    nm_deopt_mh_offset_ = s.Offset("nmethod", "_deopt_mh_handler_offset");
    blob_mutable_ = field("CodeBlob", "_mutable_data");
    blob_mutable_size_ = field("CodeBlob", "_mutable_data_size");
    blob_relocation_size_ = field("CodeBlob", "_relocation_size");
  } else {
    nm_scopes_ = field("CompiledMethod", "_scopes_data_begin");
    nm_dependencies_ = field("nmethod", "_dependencies_offset");
    nm_metadata_ = field("nmethod", "_metadata_offset");
    nm_deopt_ = field("CompiledMethod", "_deopt_handler_begin");
    nm_deopt_mh_ = field("CompiledMethod", "_deopt_mh_handler_begin");
  }
  return field.missing();
}

// Everything that naming the method will read: Method, ConstMethod, ConstantPool, class, and three
// symbols.
bool StackLayout::ChecksOut(uint64_t method, uint64_t const_method, Foreign& foreign) const {
  const auto aligned = [&](uint64_t at, int64_t bytes) {
    return at % 8 == 0 && foreign.Reaches(at, bytes);
  };
  const auto is_symbol = [&](uint64_t at) {
    uint16_t length;
    return foreign.Load(at + symbol_length_, &length) && foreign.Reaches(at, symbol_body_ + length);
  };
  if (!aligned(method, method_bytes_) || !aligned(const_method, const_bytes_)) return false;
  const auto pool = foreign.Get<uint64_t>(const_method + const_pool_);
  if (!aligned(pool, pool_bytes_)) return false;
  const auto holder = foreign.Get<uint64_t>(pool + pool_holder_);
  if (!aligned(holder, klass_name_ + 8) ||
      !is_symbol(foreign.Get<uint64_t>(holder + klass_name_))) {
    return false;
  }
  for (const int64_t index_at : {const_name_, const_signature_}) {
    const auto index = foreign.Get<uint16_t>(const_method + index_at);
    if (index == 0 || index >= foreign.Get<int32_t>(pool + pool_length_)) return false;
    if (!is_symbol(foreign.Get<uint64_t>(pool + pool_bytes_ + uint64_t{index} * 8))) return false;
  }
  return true;
}

bool StackLayout::IsMethod(uint64_t method, Foreign& foreign) const {
  uint64_t const_method;
  if (method % 8 != 0 || !foreign.Load(method + method_const_, &const_method)) return false;
  const uint64_t mark = KnownGood::Mark(method, const_method);
  if (known_.Has(mark)) return true;
  if (!ChecksOut(method, const_method, foreign)) return false;
  known_.Add(mark);
  return true;
}

MethodShape StackLayout::ShapeOf(uint64_t method, Foreign& foreign) const {
  const auto const_method = foreign.Get<uint64_t>(method + method_const_);
  const uint32_t flags = method_flags_bytes_ == 2 ? foreign.Get<uint16_t>(method + method_flags_)
                                                  : foreign.Get<uint32_t>(method + method_flags_);
  return {const_method + const_bytes_, foreign.Get<uint16_t>(const_method + const_code_size_),
          (flags & kAccNative) != 0};
}

uint64_t StackLayout::MethodOf(const CodeBlob& nm) const {
  return LoadAt<uint64_t>(nm.header + nm_method_);
}

bool StackLayout::IsOptimised(const CodeBlob& nm) const {
  const int level = nm_level_bytes_ == 1 ? LoadAt<int8_t>(nm.header + nm_level_)
                                         : LoadAt<int32_t>(nm.header + nm_level_);
  return level >= kFirstC2Level;
}

int32_t StackLayout::CompileId(uint64_t header) const {
  return LoadAt<int32_t>(header + nm_compile_id_);
}

bool StackLayout::DebugOf(const CodeBlob& nm, DebugInformation* debug) const {
  const auto offset = [&](int64_t field) { return uint64_t{LoadAt<uint32_t>(nm.header + field)}; };
  uint64_t pcs, pcs_end, scopes, scopes_end, metadata, metadata_end;
  if (nm_immutable_ >= 0) {
    const auto data = LoadAt<uint64_t>(nm.header + nm_immutable_);
    const uint64_t size = offset(nm_immutable_size_);
    const auto other = LoadAt<uint64_t>(nm.header + blob_mutable_);
    pcs = data + offset(nm_pcs_);
    pcs_end = scopes = data + offset(nm_scopes_offset_);
    scopes_end = data + size;
    metadata = other + offset(blob_relocation_size_);
    metadata_end = other + offset(blob_mutable_size_);
    if (size == 0 || size > kMostScopeBytes || pcs < data) return false;
  } else {  // all in the code cache
    scopes = LoadAt<uint64_t>(nm.header + nm_scopes_);
    pcs = scopes_end = nm.header + offset(nm_pcs_);
    pcs_end = nm.header + offset(nm_dependencies_);
    metadata = nm.header + offset(nm_metadata_);
    metadata_end = scopes;
    const auto inside = [&](uint64_t at) { return at >= nm.header && at <= nm.header + nm.size; };
    if (!inside(scopes) || !inside(pcs) || !inside(pcs_end) || !inside(metadata)) return false;
  }
  if (pcs > pcs_end || scopes > scopes_end || metadata > metadata_end) return false;
  debug->pcs = pcs;
  debug->pc_count = (pcs_end - pcs) / sizeof(PcDesc);
  debug->scopes = scopes;
  debug->scopes_size = scopes_end - scopes;
  debug->metadata = metadata;
  debug->metadata_count = (metadata_end - metadata) / 8;
  return true;
}

bool StackLayout::IsDeoptHandler(const CodeBlob& nm, uint64_t pc) const {
  const auto handler = [&](int64_t field, bool is_offset) {
    if (field < 0) return false;
    if (!is_offset) return LoadAt<uint64_t>(nm.header + field) == pc;
    return nm.header + LoadAt<uint32_t>(nm.header + field) == pc;
  };
  const bool is_offset = nm_immutable_ >= 0;
  return handler(is_offset ? nm_deopt_offset_ : nm_deopt_, is_offset) ||
         handler(is_offset ? nm_deopt_mh_offset_ : nm_deopt_mh_, is_offset);
}

uint64_t StackLayout::DeoptimisedPc(const CodeBlob& nm, uint64_t pc, uint64_t sp) const {
  if (!IsDeoptHandler(nm, pc)) return 0;
  const auto at = LoadAt<int32_t>(nm.header + nm_original_pc_);
  if (at < 0 || at >= nm.frame_words * 8) return 0;
  const auto original = LoadAt<uint64_t>(sp + at);
  return nm.Holds(original) ? original : 0;
}

}  // namespace jprof::hotspot
