// The directory of a profile in which no recording began.
#pragma once

namespace jprof::profile {

// What RemoveUnused appends to the name before it removes the directory. Whoever watches the
// directory knows by this name that it was not removed during a recording.
inline constexpr char kUnusedSuffix[] = ".unused";

// Removes `directory` if it is empty. Allocates nothing.
void RemoveUnused(const char* directory);

}  // namespace jprof::profile
