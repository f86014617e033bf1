#include "jprof/weave/annotations.h"

#include "jprof/weave/big_endian.h"
#include "jprof/weave/class_file.h"

namespace jprof::weave {
namespace {

constexpr int kDeepest = 32;  // of annotations and arrays within one another

void SkipValue(ByteCursor& cursor, int depth) {
  if (depth > kDeepest) return cursor.Fail();
  switch (ReadU1(cursor)) {
    case 'e':
      return cursor.Skip(4);
    case '@':
      cursor.Skip(2);
      return SkipAnnotationPairs(cursor, depth + 1);
    case '[':
      for (uint32_t values = ReadU2(cursor); values > 0 && cursor.ok(); --values)
        SkipValue(cursor, depth + 1);
      return;
    default:  // a number, a text or a class
      return cursor.Skip(2);
  }
}

}  // namespace

bool MarksIntrinsic(std::string_view type) {
  return type == "Ljdk/internal/vm/annotation/IntrinsicCandidate;" ||
         type == "Ljdk/internal/HotSpotIntrinsicCandidate;";
}

void SkipAnnotationPairs(ByteCursor& cursor, int depth) {
  for (uint32_t pairs = ReadU2(cursor); pairs > 0 && cursor.ok(); --pairs) {
    cursor.Skip(2);
    SkipValue(cursor, depth);
  }
}

bool HasIntrinsicMark(std::string_view contents, const ConstantPool& pool) {
  ByteCursor cursor(contents);
  for (uint32_t annotations = ReadU2(cursor); annotations > 0 && cursor.ok(); --annotations) {
    if (MarksIntrinsic(pool.Utf8(ReadU2(cursor)))) return true;
    SkipAnnotationPairs(cursor);
  }
  return false;
}

}  // namespace jprof::weave
