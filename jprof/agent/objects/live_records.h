// Writes snapshots of live objects into the profile: a record for each object that was sampled, or
// for all objects of a node, and the metrics of the nodes as of the last snapshot.
//
// Begin, the calls of Add and End make one snapshot. The caller serialises them. A snapshot for
// which there is no space is not part of the profile, and neither are later ones.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "jprof/agent/objects/live_table.h"
#include "profile/files/writer.h"

namespace jprof::agent {

struct LiveSum {
  double objects = 0, bytes = 0;
};

class LiveRecords {
 public:
  // Requires that `writer`, whose files have live objects, outlives this object.
  explicit LiveRecords(profile::Writer& writer) : writer_(writer) {}

  // Begins the next snapshot, `ns` after the start of the recording.
  void Begin(uint64_t ns);
  // Adds an object that was sampled.
  void Add(LiveObject& object);
  // Adds all objects of a node.
  void Add(uint32_t node, const LiveSum& sum);
  // Ends the snapshot, and sets the metrics of the nodes to these sums, by the number of the node.
  void End(const std::vector<LiveSum>& sums);

 private:
  profile::LiveRecord* Make(uint32_t node, uint64_t objects, uint64_t bytes);

  profile::Writer& writer_;
  uint32_t snapshot_ = 0;
  bool is_full_ = false;  // whether there was no space for a record
  std::unordered_map<uint32_t, profile::LiveRecord*> last_;  // records of all objects, by node
};

}  // namespace jprof::agent
