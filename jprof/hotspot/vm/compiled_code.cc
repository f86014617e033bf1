#include "jprof/hotspot/vm/compiled_code.h"

#include <cstring>
#include <utility>

#include "jprof/hotspot/vm/libjvm_image.h"
#include "jprof/hotspot/vm/vm.h"

namespace jprof::hotspot {

Result<CompiledCode> CompiledCode::Find(const LibjvmImage& image, const VmStructs& structs) {
  const auto compilations = Compilations::Open(image, structs);
  if (!compilations) return std::unexpected(compilations.error());
  CompiledCode code(*compilations, structs);
  for (const auto& [name, function] : {std::pair{"WB_ForceSafepoint", &code.force_safepoint_},
                                       {"WB_DeoptimizeAll", &code.deoptimize_all_}}) {
    const uint64_t address = image.Symbol(name).begin;
    if (address == 0) return Fail("{} has no symbol {}", image.path(), name);
    *function = reinterpret_cast<WhiteBox>(address);
  }
  return code;
}

// A compilation that compared a flag before it changed has installed its code when the safepoint
// begins: it does not stop in between.
void CompiledCode::Discard(void* jni) const {
  force_safepoint_(jni, nullptr);
  if (uint8_t* const limit = Vm::Flag(structs_, "PerMethodRecompilationCutoff")) {
    int64_t value;  // -1 if there is none
    std::memcpy(&value, limit, sizeof value);
    if (value >= 0 && value < INT32_MAX) ++value;
    std::memcpy(limit, &value, sizeof value);
  }
  deoptimize_all_(jni, nullptr);
}

bool CompiledCode::AwaitCompilations() const {
  return compilations_.AwaitRunning(std::chrono::seconds(10));
}

}  // namespace jprof::hotspot
