#include <algorithm>
#include <iterator>
#include <ranges>

#include "profile/read/imported.h"
#include "profile/read/losses.h"
#include "reports/quality/profile_facts.h"
#include "reports/quality/sample_facts.h"

namespace jprof::reports {
namespace {

using enum Severity;

// Returns whether a damage is about a file of the program, not about the profile.
bool IsAboutNames(const std::string& damage) {
  return damage.starts_with("names of functions are missing");
}

Findings UnreadableFiles(const ProfileEvidence& of) {
  Findings found;
  for (const std::string& line : of.reader().damages().Lines())
    if (IsAboutNames(line)) found.push_back({1, kMinor, line});
  return found;
}

Findings Damaged(const ProfileEvidence& of) {
  Findings found;
  for (const std::string& line : of.reader().damages().Lines())
    if (!IsAboutNames(line)) found.push_back({1, kSevere, "damaged: " + line});
  if (!of.source.merged) return found;
  for (const profile::MergedInput& input : of.source.merged->inputs) {
    for (const std::string& damage : input.damages)
      found.push_back({1, kSevere, fmt::format("{}: damaged: {}", input.path, damage)});
  }
  return found;
}

Findings Unfinished(const ProfileEvidence& of) {
  if (of.reader().header().finished == 0)
    return {{1, kMajor, "not finished: still running, or killed"}};
  if (!of.source.merged) return {};
  const auto count = static_cast<uint64_t>(
      std::ranges::count(of.source.merged->inputs, false, &profile::MergedInput::finished));
  if (count == 0) return {};
  return {{static_cast<double>(count), kMajor,
           Counted(count, "merged profile was not finished", "merged profiles were not finished")}};
}

Findings MergedFrom(const ProfileEvidence& of) {
  if (!of.source.merged) return {};
  const profile::MergedMeta& merged = *of.source.merged;
  Findings found = {
      {static_cast<double>(merged.inputs.size()), kInfo,
       fmt::format("merged from {} profiles; threads: {}", merged.inputs.size(), merged.threads)}};
  for (const std::string& notice : merged.notices) found.push_back({1, kMinor, notice});
  return found;
}

Findings ImportedFrom(const ProfileEvidence& of) {
  const auto imported = profile::ReadImported(of.reader().directory());
  if (!imported) return {};
  Findings found = {{1, kInfo, "imported from " + imported->Text()}};
  for (const std::string& note : imported->notes) found.push_back({1, kInfo, note});
  return found;
}

Findings LeftOutOfPiece(const ProfileEvidence& of) {
  Findings found;
  for (const std::string& what : of.reader().meta().piece.left_out)
    found.push_back({1, kInfo, "only the whole recording has " + what});
  return found;
}

Findings ProbeNote(const ProfileEvidence& of) {
  const profile::Probe& probe = of.reader().meta().probe;
  if (probe.note.empty()) return {};
  return {{1, kMinor, probe.note}};
}

Findings Folded(const ProfileEvidence& of) {
  const auto from = profile::FoldedFrom(of.reader().header());
  if (!from) return {};
  const profile::Meta& meta = of.reader().meta();
  const bool by_site = meta.options.sites && !meta.is(Mode::kScs);
  return {{*from, kMinor,
           profile::FoldedText(of.reader().header()) +
               (by_site ? "; calls of recursive methods are not told apart by call site" : "")}};
}

Findings Intrinsics(const ProfileEvidence& of) {
  if (of.names == nullptr) return {};
  uint64_t count = 0;
  for (uint32_t id = 0; id < of.names->size(); ++id)
    count += (of.names->Parts(profile::MethodId{id}).flags & profile::kMethodIntrinsic) != 0;
  if (count == 0) return {};
  return {{static_cast<double>(count), kMinor,
           "calls may be missing of " +
               Counted(count, "method that has an intrinsic", "methods that have intrinsics")}};
}

Findings LabelsFull(const ProfileEvidence& of) {
  const profile::ControlHeader& header = of.reader().header();
  if (header.labels_full == 0) return {};
  return {{static_cast<double>(header.labels), kMinor,
           fmt::format("there were more labels than {}; further ones are (other labels)",
                       header.labels - 1)}};
}

// The n-th number of the header is of the n-th method of the option.
Findings UnusedLabelMethods(const ProfileEvidence& of) {
  Findings found;
  size_t number = 0;
  for (const auto part : std::views::split(of.reader().meta().options.label_from, '+')) {
    const std::string_view item(part.begin(), part.end());
    if (item.empty() || number == std::size(profile::ControlHeader().label_methods)) break;
    if (of.reader().header().label_methods[number++] == 0)
      found.push_back({1, kMinor, fmt::format("no method matched --label-from {}", item)});
  }
  return found;
}

Findings OpenCalls(const ProfileEvidence& of) {
  const uint64_t open = of.forest == nullptr ? 0 : of.forest->rows.open_frames;
  // In a window, or a piece, calls end that began before it.
  if (open == 0 || of.reader().is_part()) return {};
  return {{static_cast<double>(open), kInfo,
           Counted(open, "call had not returned", "calls had not returned")}};
}

constexpr FactRow<ProfileEvidence> kRunFacts[] = {
    {"damaged", Damaged,
     "Parts of the files could not be read. What was in them is missing in all numbers.",
     "Record again; check that the disk has room."},
    {"unreadable_file", UnreadableFiles, "The functions of this file have no names.",
     kNoSymbolsAdvice},
    {"unfinished", Unfinished,
     "The profile is that of the time until it was read or the program was killed. Nothing of that "
     "time is lost, but it is not the whole run.",
     "Wait until the program has ended, and print the report again."},
    {"probe", ProbeNote, "The calls were counted in another way than the usual one."},
    {"merged", MergedFrom, "Values are sums over the merged profiles, which jprof info lists."},
    {"imported", ImportedFrom,
     "Another profiler has taken the samples. What its file does not say is missing, and nothing "
     "is corrected (docs/IMPORT.md)."},
    {"left_out", LeftOutOfPiece,
     "The profile is a piece of a recording, and this is not known for a part of it.",
     "Print it of the whole profile."},
    {"folded", Folded,
     "From then on, a recursive call returned to the existing context. Counts are exact; the "
     "levels of a recursion are one row.",
     "Record with a larger --tree-memory."},
    {"intrinsics", Intrinsics,
     "Compiled code may replace a call of such a method by instructions of its own; these calls, "
     "and what only they call, are not counted.",
     "jprof info PROFILE names the methods; record without --keep-intrinsics to count them all."},
    {"labels_full", LabelsFull, "What was done below labels that came later cannot be told apart.",
     "Leave what is different in each request, such as ids, out of labels."},
    {"unused_label_method", UnusedLabelMethods,
     "It was not loaded, is not woven, or has no such argument, and no label is made of it.",
     "Look for its class and method in jprof report methods --names jvm."},
    {"open_calls", OpenCalls,
     "They had begun, but not returned, at the last moment that is in the profile. Their time "
     "until then is in it."},
};

}  // namespace

ProfileFacts RunFacts() { return kRunFacts; }

Quality QualityOfProfile(const ProfileEvidence& evidence) {
  Quality quality;
  const std::string& directory = evidence.reader().shown();
  AddFacts(RunFacts(), evidence, directory, quality);
  quality.Add(LossFacts(evidence));
  AddFacts(StackFacts(), evidence, directory, quality);
  AddFacts(MetricFacts(), evidence, directory, quality);
  return quality;
}

Quality QualityOfRun(const model::Source& source) {
  Quality quality = QualityOfProfile({.source = source, .metrics = {}});
  std::erase_if(quality.facts, [](const Fact& fact) { return fact.severity == kInfo; });
  return quality;
}

}  // namespace jprof::reports
