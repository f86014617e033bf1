#include "profile/merge/merge.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <set>

#include "common/errno_text.h"
#include "common/private_file.h"
#include "profile/files/file_list.h"
#include "profile/merge/merge_inputs.h"
#include "profile/merge/merged_control.h"
#include "profile/merge/merged_distributions.h"
#include "profile/merge/merged_texts.h"
#include "profile/merge/merged_tree.h"
#include "profile/merge/spread.h"
#include "profile/read/imported.h"

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

// Notes which inputs another profiler has recorded, and what they lack.
void NoteImported(const std::vector<Reader>& readers, MergedTexts& texts) {
  std::set<std::string> notes;
  size_t count = 0;
  for (const Reader& reader : readers) {
    const auto imported = ReadImported(reader.directory());
    if (!imported) continue;
    ++count;
    notes.insert(imported->notes.begin(), imported->notes.end());
  }
  if (count == 0) return;
  texts.AddNotice(
      fmt::format("{} of {} profiles are imported from other profilers", count, readers.size()));
  for (const std::string& note : notes) texts.AddNotice(note);
}

// Notes what pieces of a recording lack.
void NoteLeftOut(const std::vector<Reader>& readers, MergedTexts& texts) {
  std::set<std::string> left_out;
  for (const Reader& reader : readers) {
    const std::vector<std::string>& lines = reader.meta().piece.left_out;
    left_out.insert(lines.begin(), lines.end());
  }
  for (const std::string& what : left_out)
    texts.AddNotice("pieces of a recording are without " + what);
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
                       MergedControl& control, MergedDistributions& distributions,
                       SpreadCollector& spread, MergedTexts& texts) {
  for (size_t i = 0; i < readers.size(); ++i) {
    if (options.interrupted && options.interrupted())
      return Fail("interrupted: nothing was written");
    Reader& reader = readers[i];
    const auto input = reader.ReadTree(ReadingMemory(), Sites::kNodes);  // it may add a thread
    if (!input) return std::unexpected(input.error());
    const Methods methods = reader.ReadMethods();
    const std::vector<uint32_t> roots = control.Add(i + 1, reader, tree);
    SpreadRun run;
    const std::vector<double> factors = FactorsOf(readers.front().meta(), reader.meta());
    const auto contexts = tree.Add(*input, methods, roots, factors, run);
    if (!contexts) return std::unexpected(contexts.error());
    distributions.Add(reader, input->distributions, *contexts, factors.empty() ? 1 : factors[0]);
    if (auto added = spread.Add(run); !added) return added;
    texts.Add(reader.meta(), reader.ReadCalibration(), control.TicksFactor(reader.header()),
              DescribeInput(reader, *input));
    if (options.progress) options.progress(i + 1);
  }
  return {};
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
  MergedControl control(options.threads, readers->front().header(), meta.metrics.size());
  MergedDistributions distributions;
  SpreadCollector spread;
  MergedTexts texts(NameOf(options.threads));
  NoteImported(*readers, texts);
  NoteLeftOut(*readers, texts);
  auto done = spread.Open(profile.directory(), static_cast<uint32_t>(1 + meta.metrics.size()));
  if (done) done = AddInputs(*readers, options, tree, control, distributions, spread, texts);
  if (done) done = spread.Write(profile.directory() + "/" + kSpreadFile, tree.folded_contexts());
  if (!done) return std::unexpected(done.error());
  const auto written = tree.Write(profile.directory());
  if (!written) return std::unexpected(written.error());
  done = distributions.Write(profile.directory());
  if (done) done = control.Write(profile.directory(), *written, distributions);
  if (done) done = texts.Write(profile.directory(), distributions.patterns());
  if (done && options.make_room) done = options.make_room();
  if (done) done = profile.Rename();
  if (!done) return std::unexpected(done.error());
  return texts.merged();
}

}  // namespace jprof::profile
