// Merges the profiles of several processes, ranks or runs into one.
//
// - A context is the path of (class, name, signature) from its thread; in sampled profiles the type
//   is part of the path. Numbers of generated classes are left out (class_name.h), because they
//   differ between processes. Its values are the sums of the inputs, kept apart by type, so that
//   calibration stays possible.
// - Counts are exact, and so are raw values of inputs with the same scale. Values of another scale
//   (the clock's rate as each process measured it) are rounded to that of the first input.
// - It uses the memory of the merged tree and of the largest input.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "common/result.h"
#include "profile/merge/merged_meta.h"

namespace jprof::profile {

// States which threads become one. Threads that were not recorded (filtered out) are left out.
enum class MergeThreads {
  kByName,  // those of the same name in all inputs
  kKeep,    // none; their names begin with the number of the input, "2: main"
  kMerge,   // all, as "(all threads)"
};

struct MergeOptions {
  std::vector<std::string> inputs;  // directories of profiles
  std::string output;               // the directory of the merged profile
  MergeThreads threads = MergeThreads::kByName;
  std::function<void(size_t done)> progress;  // called after each input; may be empty
  std::function<bool()> interrupted;          // ends the merge before the next input; may be empty
  // Called when the merged profile is complete, before it is renamed to `output`. Afterwards
  // `output` must not exist or must be an empty directory. May be empty.
  std::function<Result<void>()> make_room;
};

// Writes the profile to a directory beside the output and renames it. Returns the content of its
// merged.json. If it fails, it leaves nothing behind and has changed nothing else. It fails with
// kWrongUse if these profiles cannot be merged, before anything is written.
Result<MergedMeta> Merge(const MergeOptions& options);

}  // namespace jprof::profile
