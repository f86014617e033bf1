// The control file of a merged profile: its threads, and the losses of all inputs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/result.h"
#include "profile/merge/merge.h"
#include "profile/merge/merged_distributions.h"
#include "profile/merge/merged_tree.h"
#include "profile/read/reader.h"

namespace jprof::profile {

class MergedControl {
 public:
  // The clock and the start are those of `first`.
  MergedControl(MergeThreads threads, const ControlHeader& first, size_t metric_count);

  // Adds the header and the threads of input `number` (from 1), whose tree has been read. Returns
  // the context of each of its threads; new ones are added to `tree`.
  std::vector<uint32_t> Add(size_t number, const Reader& reader, MergedTree& tree);

  // These do the parts of Add. AddThread returns the thread's context; `record` states its moments
  // and times by the clock of `header`.
  void AddHeader(const ControlHeader& header, double factor);
  uint32_t AddThread(const std::string& name, const ThreadRecord& record,
                     const ControlHeader& header, double factor, MergedTree& tree);

  // What was added so far; the counts of what is written last are not set.
  const ControlHeader& header() const { return header_; }
  ControlHeader& header() { return header_; }
  const std::vector<ThreadRecord>& records() const { return records_; }

  // Returns the factor that converts raw ticks of an input to ticks of the merged profile.
  double TicksFactor(const ControlHeader& header) const;

  // Writes the file control. Fails if it cannot be written.
  Result<void> Write(const std::string& directory, const MergedTree::Written& written,
                     const MergedDistributions& distributions);

 private:
  std::string NameOf(size_t number, const Thread& thread) const;
  void AddRecord(const ThreadRecord& from, ThreadRecord& to, const ControlHeader& header,
                 double factor);
  // Converts a moment of an input to the clock of the merged profile, where all inputs begin at
  // its start.
  uint64_t Moment(uint64_t ticks, const ControlHeader& header, double factor) const;

  MergeThreads threads_;
  ControlHeader header_;
  std::vector<ThreadRecord> records_;
  std::map<std::string, uint32_t> by_name_;  // place in records_
};

}  // namespace jprof::profile
