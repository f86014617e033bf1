// Makes the call by which a method sets a label at its entry (weave.h).
#pragma once

#include "jprof/weave/constants.h"
#include "jprof/weave/insertions.h"
#include "jprof/weave/weave.h"

namespace jprof::weave {

// Returns the instructions, which need two entries of the operand stack. They are empty if the
// constants do not fit.
Snippet LabelCall(const LabelAtEntry& label, Constants& constants);

}  // namespace jprof::weave
