// A profile as rows of the tables of a fleet.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "common/result.h"
#include "fleet/push/identity.h"
#include "profile/merge/merged_meta.h"

namespace jprof::fleet {

// What a run is called in the database.
struct RunNames {
  std::string service;  // empty: the name of the profile
  std::string version, host;
  std::vector<std::pair<std::string, std::string>> labels;
  bool merge_threads = false;  // all threads as one
  bool redact = false;         // without command line, working directory, paths and thread names
};

// The columns of the tables, in the order in which the rows have them.
extern const char kFrameColumns[], kContextColumns[], kThreadColumns[], kRunColumns[];
std::string CountColumns();

struct KnownRows {
  std::set<std::pair<uint64_t, uint16_t>> frames;  // numbers and flags
  std::unordered_set<std::string> contexts;        // fingerprints
};

// Rows of some runs, in RowBinary.
struct Rows {
  std::string frames, contexts, counts, threads, runs;
  uint64_t count_rows = 0;
  size_t run_count = 0;
  KnownRows sent;  // frames and contexts in these rows
  std::unordered_set<uint16_t> days;

  size_t Bytes() const {
    return frames.size() + contexts.size() + counts.size() + threads.size() + runs.size();
  }
};

// A profile that was read, and is encoded as often as it has to be sent.
class EncodedRun {
 public:
  // Reads the profile. Fails if it cannot be read, or is of a mode that cannot be merged.
  static Result<EncodedRun> Read(const std::string& directory, const RunNames& names);

  // Returns what the run is known by: the same for each push of the profile from the same host.
  const Fingerprint& run() const { return run_; }
  // Returns a fingerprint of everything that is stored of it.
  const Fingerprint& content() const { return content_; }
  const profile::MergedInput& input() const { return input_; }
  uint64_t rows() const { return rows_; }

  // Appends the rows with this number of the push. Leaves out frames and contexts that are known.
  void AppendTo(uint64_t push, uint64_t pushed_ns, const KnownRows& known, Rows& rows) const;

 private:
  struct Count {
    uint32_t context = 0;
    uint8_t type = 0, live = 0;
    uint64_t counts[5] = {};
    size_t values = 0;  // place in values_
  };
  struct FrameRow {
    uint64_t number = 0;
    uint8_t kind = 0;
    uint16_t flags = 0;
    std::string class_name, name, signature;
  };
  struct Tree;
  void TakeTree(const profile::MergedTree& tree, const std::vector<std::string>& threads);
  void AppendCounts(uint64_t push, Rows& rows) const;

  uint16_t day_ = 0;
  bool sampled_ = false;
  size_t metric_count_ = 0;
  RunNames names_;
  profile::MergedInput input_;
  Fingerprint run_, content_;
  Contexts contexts_;
  std::vector<uint8_t> types_;  // [context]: part of its identity, or 0
  std::vector<FrameRow> frames_;
  std::vector<Count> counts_;
  std::vector<int64_t> values_;
  uint64_t rows_ = 0;
  std::vector<std::string> thread_rows_;  // without day and push
  std::string run_row_;                   // the columns behind `pushed`
};

}  // namespace jprof::fleet
