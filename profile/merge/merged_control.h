// The control file of a merged profile: its threads, and the losses of all inputs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/result.h"
#include "profile/merge/merge.h"
#include "profile/merge/merged_tree.h"
#include "profile/read/reader.h"

namespace jprof::profile {

class MergedControl {
 public:
  MergedControl(MergeThreads threads, const Reader& first);

  // Adds the header and the threads of input `number` (from 1), whose tree has been read. Returns
  // the context of each of its threads; new ones are added to `tree`.
  std::vector<uint32_t> Add(size_t number, const Reader& reader, MergedTree& tree);

  // Returns the factor that converts raw ticks of an input to ticks of the merged profile.
  double TicksFactor(const Reader& reader) const;

  // Writes the file control. Fails if it cannot be written.
  Result<void> Write(const std::string& directory, const MergedTree::Written& written);

 private:
  std::string NameOf(size_t number, const Thread& thread) const;
  void AddHeader(const ControlHeader& header, double factor);
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
