// Call chains through frames of many kinds, compiled in several ways (CHAIN names the variant's
// entry).
#pragma once

namespace jprof::unwind::sample {

using Visit = void (*)(void* data);

// Descends `depth` calls through recursion, alloca, over-aligned locals, many saved registers and
// libc's qsort, then calls visit(data). The result depends on every frame, so that none is a tail
// call.
unsigned long ChainO0(int depth, Visit visit, void* data);
unsigned long ChainO2(int depth, Visit visit, void* data);
unsigned long ChainOs(int depth, Visit visit, void* data);

}  // namespace jprof::unwind::sample
