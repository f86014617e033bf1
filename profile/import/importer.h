// Makes a sampled profile of a file that another profiler has written. One row of a table per
// format (kForeignFormats): its name, how it is recognised, and what reads it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "common/result.h"
#include "profile/files/meta.h"
#include "profile/import/sample_tree.h"
#include "profile/read/imported.h"

namespace jprof::profile {

// What the user states beyond the file.
struct ImportOptions {
  std::string event;       // which events of the file to read; empty: the reader chooses
  uint64_t period_ns = 0;  // CPU time that one sample stands for; 0: what the file says
  std::string unit;        // of the numbers in collapsed stacks; empty: samples
  // Bytes that the tables of a file may need besides its content.
  uint64_t memory = ~uint64_t{0};
};

// What a file says besides its samples. `meta` has the command, the machine, the JVM and the
// metrics; `imported` has the event and what the profile lacks.
struct ForeignRun {
  Meta meta;
  Imported imported;
  uint64_t start_unix_ns = 0, duration_ns = 0;  // 0 if not known
};

struct ForeignFormat {
  std::string_view name;
  std::string_view help;
  // Returns whether the bytes, which are not empty, are of this format.
  bool (*recognises)(std::string_view bytes);
  // Adds all samples to the tree. Fails if the bytes are damaged, naming the offset or line.
  Result<ForeignRun> (*read)(std::string_view bytes, const ImportOptions& options,
                             SampleTree& tree);
};

// Returns all formats, in the order in which they are tried.
std::span<const ForeignFormat> ForeignFormats();

// Returns the format of that name, or of the content if `name` is empty. Fails with kWrongUse if
// there is none; `file` is named in the error.
Result<const ForeignFormat*> ChooseFormat(std::string_view name, std::string_view bytes,
                                          std::string_view file);

// Returns the bytes of a file or, of "-", of standard input, expanded if they are compressed by
// gzip. Fails if they need more than `memory` bytes, or are damaged.
Result<std::string> ReadForeignFile(const std::string& path, uint64_t memory);

// Reads a file's content. Fails if it is damaged or has no samples; `file` is named in the error.
Result<ForeignRun> ReadForeign(const ForeignFormat& format, std::string_view bytes,
                               std::string_view file, const ImportOptions& options,
                               SampleTree& tree);

// Writes the profile. Requires that nothing exists at `directory`; if it fails, nothing does.
Result<void> WriteSampled(const SampleTree& tree, const ForeignRun& run,
                          const std::string& directory);

// Returns the metric of samples that each stand for `period_ns` of CPU time; 0: not known.
Metric SamplesMetric(uint64_t period_ns, Period::Clock clock);

}  // namespace jprof::profile
