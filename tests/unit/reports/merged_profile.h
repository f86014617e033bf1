// Merged profiles without a JVM, for tests of their reports.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "profile/merge/merge.h"
#include "tests/unit/reports/demo_profile.h"

namespace jprof::reports {

// A worker that reads twice, 700 ns altogether; no thread main.
inline profile::SyntheticProfile TwiceInRead() {
  profile::SyntheticProfile made;
  const profile::MethodId read =
      made.AddMethod("java/io/FileInputStream", "read0", "()I", profile::kMethodNative);
  const size_t worker = made.AddThread("worker", 7);
  for (const int64_t time : {300, 400}) {
    made.Enter(worker, read, FrameKind::kNative, 10);
    made.Exit(worker, time);
  }
  return made;
}

// Merges the profiles, threads by name, to `directory`.
inline void MakeMerged(std::vector<profile::SyntheticProfile> made,
                       const std::filesystem::path& directory) {
  profile::MergeOptions options = {.inputs = {}, .output = directory};
  for (size_t i = 0; i < made.size(); ++i) {
    options.inputs.push_back(directory.string() + "-input-" + std::to_string(i + 1));
    made[i].Write(options.inputs.back());
  }
  const auto merged = profile::Merge(options);
  for (const std::string& input : options.inputs) std::filesystem::remove_all(input);
  ASSERT_TRUE(merged) << merged.error().message;
}

}  // namespace jprof::reports
