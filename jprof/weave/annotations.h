// Reads annotations (JVM specification, 4.7.16 and 4.7.20): which methods are marked as intrinsics,
// and the positions in type annotations of code.
#pragma once

#include <string_view>

#include "common/bytes.h"

namespace jprof::weave {

class ConstantPool;

// Returns whether a text is the type of an annotation that marks an intrinsic.
bool MarksIntrinsic(std::string_view type);

// Returns whether a RuntimeVisibleAnnotations attribute has such an annotation.
bool HasIntrinsicMark(std::string_view contents, const ConstantPool& pool);

// Skips the pairs of an annotation, after its type. Fails the cursor if they are malformed or
// nested too deeply.
void SkipAnnotationPairs(ByteCursor& cursor, int depth = 0);

}  // namespace jprof::weave
