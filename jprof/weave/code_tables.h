// Writes the attributes of code that serve debuggers, in the new layout. Each keeps its size: only
// offsets in it change.
//
// These are LineNumberTable, LocalVariableTable, LocalVariableTypeTable,
// RuntimeVisibleTypeAnnotations and RuntimeInvisibleTypeAnnotations. All others are dropped, as
// they may contain offsets: the specification defines no other attribute of code except
// StackMapTable, and of those that compilers have used (CharacterRangeTable, CoverageTable,
// StackMap) all do.
#pragma once

#include <cstdint>
#include <span>

#include "jprof/weave/class_file.h"
#include "jprof/weave/layout.h"

namespace jprof::weave {

// Appends the attribute. Returns false if it was dropped because it is not known or malformed.
// `guards` is the number of entries that were inserted at the beginning of the exception table.
bool WriteCodeTable(const Attribute& attribute, const Layout& layout, uint32_t guards, Output& out);

}  // namespace jprof::weave
