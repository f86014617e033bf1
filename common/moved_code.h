// Code that a program moved: it copied the instructions of a file to anonymous memory (huge pages)
// and mapped that at their address. The memory map then has no file there.
#pragma once

#include <vector>

#include "common/procfs.h"

namespace jprof::procfs {

// Gives executable anonymous mappings the file and offset of the code that was moved there. Such a
// mapping touches mappings of one file, and an executable one of them or both sides show the
// offset; any other stays anonymous. `maps`: ascending, as ParseMaps returns them.
void NameMovedCode(std::vector<Mapping>& maps);

}  // namespace jprof::procfs
