// Removes the directory of a profile in which no recording began.
#pragma once

namespace jprof::profile {

// The suffix that RemoveUnused appends to the name before it removes the directory. A
// program that watches the directory knows by this name that it was not removed while recording.
inline constexpr char kUnusedSuffix[] = ".unused";

// Removes `directory` if it is empty. Allocates nothing.
void RemoveUnused(const char* directory);

}  // namespace jprof::profile
