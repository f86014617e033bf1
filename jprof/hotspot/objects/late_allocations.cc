#include "jprof/hotspot/objects/late_allocations.h"

namespace jprof::hotspot {

Result<LateAllocations> LateAllocations::Find(const LibjvmImage& image, const VmStructs& structs,
                                              const AllocationProbe& probe,
                                              bool interpreter_tests) {
  const auto code = CompiledCode::Find(image, structs);
  if (!code) return std::unexpected(code.error());
  LateAllocations late(*code);
  if (auto possible = probe.CheckLate(); !possible) return std::unexpected(possible.error());
  if (interpreter_tests) return late;
  const auto found = InterpretedNew::Find(structs);
  if (!found) return std::unexpected(found.error());
  late.new_ = *found;
  return late;
}

Result<void> LateAllocations::Install(const AllocationProbe& probe, void* jni) const {
  if (auto installed = probe.Ignore(); !installed) return installed;
  probe.Report(true);
  if (new_) new_->LeaveFastPath();
  code_.Discard(jni);
  return {};
}

Result<bool> LateAllocations::Remove(const AllocationProbe& probe, void* jni) const {
  if (auto ignored = probe.Ignore(); !ignored) return std::unexpected(ignored.error());
  probe.Report(false);
  if (new_) new_->Restore();
  const bool ended = code_.AwaitCompilations();
  code_.Discard(jni);
  return ended;
}

}  // namespace jprof::hotspot
