// Names classes and objects for people.
#pragma once

#include <string>
#include <string_view>

#include "heap/load/heap.h"

namespace jprof::heap {

// Returns a class's name as in source code: "java.lang.String[]" of "[Ljava/lang/String;".
std::string SourceName(std::string_view name);

// Returns the package of a class, or of an array's elements: "java.lang", "(default)".
std::string PackageOf(std::string_view name);

// Returns the class of an object, or "class NAME" for a class.
std::string ClassText(const Heap& heap, uint32_t node);

// Returns the same with the object's id and what tells it from others: the text of a string, the
// name of a thread, the length of an array. The class is called `name`.
std::string ObjectText(const Heap& heap, uint32_t node, std::string_view name);
std::string ObjectText(const Heap& heap, uint32_t node);

// Returns the same without the id, which another dump does not have.
std::string ObjectTextWithoutId(const Heap& heap, uint32_t node);

// Returns what a root is, in a few words: "local variable of a thread".
std::string_view RootText(SubTag kind);

}  // namespace jprof::heap
