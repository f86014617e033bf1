// Names what stands for frames that a sample lacks: a stub directly below the thread. The frames
// below it are no callees of the thread itself, so that they match no context of another profile.
#pragma once

#include <string_view>

namespace jprof::profile {

inline constexpr char kOuterFramesCut[] = "(outer frames were not recorded)";
inline constexpr char kOuterFramesInHeap[] =
    "(outer frames of the virtual thread are still in the heap)";

// Returns whether the stub of this name stands for the outer frames of stacks.
constexpr bool StandsForOuterFrames(std::string_view name) {
  return name == kOuterFramesCut || name == kOuterFramesInHeap;
}

}  // namespace jprof::profile
