// Names code that a program has moved: it copied the instructions of a file to anonymous memory
// (huge pages) and mapped that memory at their address. The memory map then shows no file there.
#pragma once

#include <vector>

#include "common/procfs.h"

namespace jprof::procfs {

// Gives executable anonymous mappings the file and offset of the code that was moved there. Such a
// mapping is adjacent to mappings of one file. The offset follows from an adjacent executable
// mapping, or from the mappings on both sides; other mappings stay anonymous. Requires `maps` in
// ascending order, as ParseMaps returns them.
void NameMovedCode(std::vector<Mapping>& maps);

}  // namespace jprof::procfs
