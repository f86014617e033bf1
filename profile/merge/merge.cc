#include "profile/merge/merge.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <set>

#include "common/errno_text.h"
#include "common/private_file.h"
#include "profile/files/file_list.h"
#include "profile/files/whole_file.h"
#include "profile/merge/merge_inputs.h"
#include "profile/merge/merged_control.h"
#include "profile/merge/merged_tree.h"
#include "profile/merge/spread.h"

namespace jprof::profile {
namespace {

const char* NameOf(MergeThreads threads) {
  switch (threads) {
    case MergeThreads::kByName:
      return "by-name";
    case MergeThreads::kKeep:
      return "keep";
    case MergeThreads::kMerge:
      return "merge";
  }
  return "";
}

uint64_t CallsOf(const CallTree& tree) {
  uint64_t calls = 0;
  for (const Counts& counts : tree.counts) calls += uint64_t{counts.entries[0]} + counts.entries[1];
  return calls;
}

MergedInput Describe(Reader& reader, const CallTree& tree) {
  const Meta& meta = reader.meta();
  const auto merged = ReadMerged(reader);
  MergedInput described = {.path = reader.directory(),
                           .command = meta.command,
                           .pid = meta.pid,
                           .start = meta.start,
                           .finished = reader.header().finished != 0,
                           .cpu_seconds = static_cast<double>(reader.CpuNanos()) / 1e9,
                           .calls = CallsOf(tree),
                           .damages = reader.damages().Lines()};
  if (!merged) return described;
  // If the profile is merged itself, it also lacks what its inputs lacked.
  for (const MergedInput& input : merged->inputs) {
    described.finished &= input.finished;
    for (const std::string& damage : input.damages)
      described.damages.push_back(fmt::format("{}: {}", input.path, damage));
  }
  return described;
}

// Owns the directory that the profile is written to before it is renamed. Removes it unless it was
// renamed.
class NewProfile {
 public:
  explicit NewProfile(const std::string& output) : output_(output) {
    while (output_.size() > 1 && output_.ends_with('/')) output_.pop_back();
    directory_ = fmt::format("{}.merging-{}", output_, getpid());
  }
  NewProfile(const NewProfile&) = delete;
  NewProfile& operator=(const NewProfile&) = delete;
  ~NewProfile() {
    if (!made_) return;
    for (const std::string_view file : kProfileFiles)
      unlink(fmt::format("{}/{}", directory_, file).c_str());
    rmdir(directory_.c_str());
  }

  Result<void> Make() {
    made_ = mkdir(directory_.c_str(), kPrivateDirectory) == 0;
    if (made_) return {};
    return WrongUse("cannot make the directory {}, in which {} is written: {}", directory_, output_,
                    ErrnoText());
  }
  Result<void> Rename() {
    if (std::rename(directory_.c_str(), output_.c_str()) != 0) {
      return Fail("cannot write {}: {}", output_, ErrnoText());
    }
    made_ = false;
    return {};
  }
  const std::string& directory() const { return directory_; }

 private:
  std::string output_, directory_;
  bool made_ = false;
};

// Returns the meta.json of the merged profile.
Meta MetaOf(const std::vector<Reader>& readers) {
  Meta meta = readers.front().meta();
  for (const Reader& reader : readers) {
    const Meta& other = reader.meta();
    if (other.pid != meta.pid) meta.pid = 0;
    if (other.command != meta.command) meta.command.clear();
    if (other.cwd != meta.cwd) meta.cwd.clear();
    if (meta.start.empty() || (!other.start.empty() && other.start < meta.start))
      meta.start = other.start;
    if (other.jvm != meta.jvm) meta.jvm = {};
    if (other.machine != meta.machine) meta.machine = {};
    meta.options.fold_recursion |= other.options.fold_recursion;
    meta.options.sites |= other.options.sites;
    meta.options.tree_memory = std::max(meta.options.tree_memory, other.options.tree_memory);
  }
  return meta;
}

// Sets the merged overhead of timed events, which calibration subtracts, to the mean by calls.
void SetTimerOverhead(const std::vector<Reader>& readers, const MergedControl& control,
                      MergedMeta& merged, Meta& meta) {
  double sum = 0;
  double calls = 0;
  for (size_t i = 0; i < readers.size(); ++i) {
    const Clock& clock = readers[i].meta().clock;
    if (clock.bracket_period != meta.clock.bracket_period) {
      merged.notices.push_back(
          "the profiles timed different parts of their events: the timer overhead of the first is "
          "subtracted from all");
      return;
    }
    const auto weight = static_cast<double>(merged.inputs[i].calls);
    sum += clock.bracket_ticks * control.TicksFactor(readers[i]) * weight;
    calls += weight;
  }
  if (calls > 0) meta.clock.bracket_ticks = sum / calls;
}

// Returns the calibration table of the merged profile. If it is empty, the profile stays raw, and
// `notices` states why.
std::string CalibrationOf(const std::vector<Reader>& readers, MergedMeta& merged, Meta& meta) {
  const auto fits = [&](const Reader& reader) {
    return reader.meta().fingerprint == meta.fingerprint;
  };
  std::set<std::string> tables;
  for (const Reader& reader : readers) {
    if (std::string table = reader.ReadCalibration(); !table.empty()) tables.insert(table);
  }
  if (!std::ranges::all_of(readers, fits)) {
    meta.fingerprint.clear();
    merged.notices.push_back(
        "the profiles were recorded on different machines, JVMs or kinds of probe: no calibration "
        "table fits them all, so values are raw");
    return "";
  }
  if (tables.size() > 1) {
    merged.notices.push_back(
        "the profiles have different calibration tables: instead of these, reports use this "
        "user's table that fits, if there is one");
    return "";
  }
  return tables.empty() ? "" : *tables.begin();
}

std::vector<double> FactorsOf(const Meta& to, const Meta& from) {
  std::vector<double> factors;
  for (size_t m = 0; m < to.metrics.size(); ++m) {
    const double a = from.metrics[m].scale;
    const double b = to.metrics[m].scale;
    factors.push_back(a == b ? 1 : a / b);
  }
  return factors;
}

// Adds all inputs, one after the other; each is released before the next is read.
Result<void> AddInputs(std::vector<Reader>& readers, const MergeOptions& options, MergedTree& tree,
                       MergedControl& control, SpreadCollector& spread, MergedMeta& merged) {
  for (size_t i = 0; i < readers.size(); ++i) {
    if (options.interrupted && options.interrupted())
      return Fail("interrupted: nothing was written");
    Reader& reader = readers[i];
    const auto input = reader.ReadTree(ReadingMemory(), Sites::kNodes);  // it may add a thread
    if (!input) return std::unexpected(input.error());
    const Methods methods = reader.ReadMethods();
    const std::vector<uint32_t> roots = control.Add(i + 1, reader, tree);
    SpreadRun run;
    if (auto added =
            tree.Add(*input, methods, roots, FactorsOf(readers.front().meta(), reader.meta()), run);
        !added)
      return added;
    if (auto added = spread.Add(run); !added) return added;
    merged.inputs.push_back(Describe(reader, *input));
    if (options.progress) options.progress(i + 1);
  }
  return {};
}

Result<void> WriteTexts(const std::vector<Reader>& readers, const MergedControl& control,
                        const std::string& directory, MergedMeta& merged) {
  Meta meta = MetaOf(readers);
  SetTimerOverhead(readers, control, merged, meta);
  const std::string table = CalibrationOf(readers, merged, meta);
  const auto file = [&](const char* name) { return fmt::format("{}/{}", directory, name); };
  auto written = WriteWholeFile(file(kMetaFile), ToJson(meta));
  if (written && !table.empty()) written = WriteWholeFile(file(kCalibrationFile), table);
  if (written) written = WriteWholeFile(file(kMergedFile), ToJson(merged));
  return written;
}

}  // namespace

Result<MergedMeta> Merge(const MergeOptions& options) {
  auto readers = OpenMergeInputs(options.inputs, options.output);
  if (!readers) return std::unexpected(readers.error());
  NewProfile profile(options.output);
  if (auto made = profile.Make(); !made) return std::unexpected(made.error());

  const Meta& meta = readers->front().meta();
  const bool has_sites = std::ranges::any_of(
      *readers, [](const Reader& reader) { return reader.meta().options.sites; });
  MergedTree tree(meta.metrics.size(), meta.is(Mode::kScs), has_sites);
  MergedControl control(options.threads, readers->front());
  SpreadCollector spread;
  MergedMeta merged = {.threads = NameOf(options.threads), .inputs = {}, .notices = {}};
  auto done = spread.Open(profile.directory(), static_cast<uint32_t>(1 + meta.metrics.size()));
  if (done) done = AddInputs(*readers, options, tree, control, spread, merged);
  if (done) done = spread.Write(profile.directory() + "/" + kSpreadFile, tree.folded_contexts());
  if (!done) return std::unexpected(done.error());
  const auto written = tree.Write(profile.directory());
  if (!written) return std::unexpected(written.error());
  done = control.Write(profile.directory(), *written);
  if (done) done = WriteTexts(*readers, control, profile.directory(), merged);
  if (done && options.make_room) done = options.make_room();
  if (done) done = profile.Rename();
  if (!done) return std::unexpected(done.error());
  return merged;
}

}  // namespace jprof::profile
