// Recognises methods that run no code but their own.
#pragma once

#include "jprof/weave/class_file.h"

namespace jprof::weave {

// Returns whether nothing in the code can run another method before this one ends: it calls none,
// catches no exception, allocates no object, and uses no class, constant or field that the VM may
// have to load or initialise, except fields of objects of its own class. False if the code is
// malformed.
bool IsLeaf(const CodeAttribute& code, const ClassFile& file);

}  // namespace jprof::weave
