// Recognises methods that run no code but their own.
#pragma once

#include "jprof/weave/class_file.h"

namespace jprof::weave {

// Returns whether nothing in the code runs another method before this one ends: it calls none,
// catches no exception, makes no object except arrays of numbers, and uses no class, constant or
// field that the VM may have to load or initialise, except fields of objects of its own class. The
// one exception is the constructor of what the VM throws (a null pointer, an index out of bounds).
// Returns false if the code is malformed.
bool IsLeaf(const CodeAttribute& code, const ClassFile& file);

}  // namespace jprof::weave
