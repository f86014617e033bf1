// The part of a trainer that is traced when its instructions are counted without a hardware
// counter.
#pragma once

namespace jprof::trainers {

// Ends the program if it is run under a tracer that does not begin.
void BeginTracedPart();
void EndTracedPart();

}  // namespace jprof::trainers
