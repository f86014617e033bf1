#include "jprof/hotspot/vm/nmethod_layout.h"

#include "jprof/hotspot/vm/nmethod.h"

namespace jprof::hotspot {
namespace {

constexpr uint64_t kMostScopeBytes = 64 << 20;

}  // namespace

// From JDK 21 on, the type of the level is CompLevel, one byte; before, it is int.
CompilerLevel::CompilerLevel(Fields& field)
    : level_(field("nmethod", "_comp_level")), is_byte_(field.OptionalSize("CompLevel") == 1) {}

int CompilerLevel::Of(const MemoryReader& memory, uint64_t header) const {
  return is_byte_ ? memory.At<int8_t>(header + level_) : memory.At<int32_t>(header + level_);
}

NmethodLayout::InCodeCache::InCodeCache(Fields& field)
    : scopes(field("CompiledMethod", "_scopes_data_begin")),
      dependencies(field("nmethod", "_dependencies_offset")),
      metadata(field("nmethod", "_metadata_offset")),
      deopt(field("CompiledMethod", "_deopt_handler_begin")),
      deopt_mh(field("CompiledMethod", "_deopt_mh_handler_begin")) {}

NmethodLayout::InHeap::InHeap(Fields& field)
    : immutable(field("nmethod", "_immutable_data")),
      immutable_size(field("nmethod", "_immutable_data_size")),
      scopes(field("nmethod", "_scopes_data_offset")),
      mutable_data(field("CodeBlob", "_mutable_data")),
      mutable_size(field("CodeBlob", "_mutable_data_size")),
      relocation_size(field("CodeBlob", "_relocation_size")),
      deopt(field("nmethod", "_deopt_handler_offset")),
      deopt_mh(field.Optional("nmethod", "_deopt_mh_handler_offset")) {}

NmethodLayout::Place NmethodLayout::PlaceIn(Fields& field) {
  if (field.Optional("nmethod", "_immutable_data") >= 0) return InHeap(field);
  return InCodeCache(field);
}

NmethodLayout::NmethodLayout(Fields& field)
    : method_(field("nmethod", "CompiledMethod", "_method")),
      pcs_(field("nmethod", "_scopes_pcs_offset")),
      original_pc_(field("nmethod", "_orig_pc_offset")),
      compile_id_(field("nmethod", "_compile_id")),
      level_(field),
      place_(PlaceIn(field)) {}

bool NmethodLayout::InCodeCache::Find(const MemoryReader& memory, const CodeBlob& nm, int64_t pcs,
                                      Ranges* out) const {
  const auto offset = [&](int64_t field) { return memory.At<uint32_t>(nm.header + field); };
  const auto inside = [&](uint64_t at) { return at >= nm.header && at <= nm.header + nm.size; };
  out->scopes = memory.At<uint64_t>(nm.header + scopes);
  out->pcs = out->scopes_end = nm.header + offset(pcs);
  out->pcs_end = nm.header + offset(dependencies);
  out->metadata = nm.header + offset(metadata);
  out->metadata_end = out->scopes;
  return inside(out->scopes) && inside(out->pcs) && inside(out->pcs_end) && inside(out->metadata);
}

bool NmethodLayout::InHeap::Find(const MemoryReader& memory, const CodeBlob& nm, int64_t pcs,
                                 Ranges* out) const {
  const auto offset = [&](int64_t field) { return memory.At<uint32_t>(nm.header + field); };
  const auto data = memory.At<uint64_t>(nm.header + immutable);
  const uint64_t size = offset(immutable_size);
  const auto other = memory.At<uint64_t>(nm.header + mutable_data);
  out->pcs = data + offset(pcs);
  out->pcs_end = out->scopes = data + offset(scopes);
  out->scopes_end = data + size;
  out->metadata = other + offset(relocation_size);
  out->metadata_end = other + offset(mutable_size);
  return size != 0 && size <= kMostScopeBytes && out->pcs >= data;
}

bool NmethodLayout::DebugOf(const MemoryReader& memory, const CodeBlob& nm,
                            DebugInformation* debug) const {
  Ranges r;
  const auto* in_cache = std::get_if<InCodeCache>(&place_);
  const bool found = in_cache != nullptr ? in_cache->Find(memory, nm, pcs_, &r)
                                         : std::get_if<InHeap>(&place_)->Find(memory, nm, pcs_, &r);
  if (!found || r.pcs > r.pcs_end || r.scopes > r.scopes_end || r.metadata > r.metadata_end) {
    return false;
  }
  debug->pcs = r.pcs;
  debug->pc_count = (r.pcs_end - r.pcs) / sizeof(PcDesc);
  debug->scopes = r.scopes;
  debug->scopes_size = r.scopes_end - r.scopes;
  debug->metadata = r.metadata;
  debug->metadata_count = (r.metadata_end - r.metadata) / 8;
  return true;
}

bool NmethodLayout::InCodeCache::IsDeoptHandler(const MemoryReader& memory, uint64_t header,
                                                uint64_t pc) const {
  return memory.At<uint64_t>(header + deopt) == pc ||
         (deopt_mh >= 0 && memory.At<uint64_t>(header + deopt_mh) == pc);
}

bool NmethodLayout::InHeap::IsDeoptHandler(const MemoryReader& memory, uint64_t header,
                                           uint64_t pc) const {
  return header + memory.At<uint32_t>(header + deopt) == pc ||
         (deopt_mh >= 0 && header + memory.At<uint32_t>(header + deopt_mh) == pc);
}

bool NmethodLayout::IsDeoptHandler(const MemoryReader& memory, const CodeBlob& nm,
                                   uint64_t pc) const {
  const auto* in_cache = std::get_if<InCodeCache>(&place_);
  return in_cache != nullptr ? in_cache->IsDeoptHandler(memory, nm.header, pc)
                             : std::get_if<InHeap>(&place_)->IsDeoptHandler(memory, nm.header, pc);
}

uint64_t NmethodLayout::DeoptimisedPc(const MemoryReader& memory, const CodeBlob& nm, uint64_t pc,
                                      uint64_t sp) const {
  if (!IsDeoptHandler(memory, nm, pc)) return 0;
  const auto at = memory.At<int32_t>(nm.header + original_pc_);
  if (at < 0 || at >= nm.frame_words * 8) return 0;
  const auto original = memory.At<uint64_t>(sp + at);
  return nm.Holds(original) ? original : 0;
}

}  // namespace jprof::hotspot
