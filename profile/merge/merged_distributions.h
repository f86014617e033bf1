// The distributions of calls of a merged profile (profile/files/distribution.h): sums over all
// inputs, by context.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/result.h"
#include "profile/read/reader.h"

namespace jprof::profile {

class MergedDistributions {
 public:
  // Adds the distributions of an input. contexts[r] is the merged context of its record r. Ticks
  // are multiplied by `factor`, that of the first metric.
  void Add(const Reader& reader, const std::vector<Distribution>& distributions,
           const std::vector<uint32_t>& contexts, double factor);

  // Writes the file, unless there are none. A context's node is the next one.
  Result<void> Write(const std::string& directory) const;

  uint64_t size() const { return records_.size(); }
  // Returns the patterns of all inputs, and the set of those that selected a method in any of them.
  const std::vector<std::string>& patterns() const { return patterns_; }
  uint64_t matched() const { return matched_; }

 private:
  void AddPatterns(const Reader& reader);

  std::map<uint32_t, std::unique_ptr<DistributionRecord>> records_;  // by context
  std::vector<std::string> patterns_;
  uint64_t matched_ = 0;
};

}  // namespace jprof::profile
