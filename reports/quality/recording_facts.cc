// Finds the facts of recordings of tprof and of traces of itrace.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "model/values/statistics.h"
#include "profile/files/printable_text.h"
#include "reports/quality/fact_row.h"
#include "reports/quality/quality_of.h"
#include "reports/quality/sample_facts.h"

namespace jprof::reports {
namespace {

using enum Severity;

struct TickEvidence {
  const model::Recording& recording;
  const model::TickTable& table;
};
struct ArcEvidence {
  const model::ArcRecording& arcs;
  const model::ArcTrace& trace;
  model::ArcNotes notes;
};

// Leaves out the directory before names of files: the reader knows it.
void RemoveDirectory(std::string_view directory, Quality& quality) {
  const std::string prefix = profile::CleanText(directory) + "/";
  for (Fact& fact : quality.facts) {
    const size_t at = fact.text.find(prefix);
    if (at != std::string::npos) fact.text.erase(at, prefix.size());
  }
}

Findings Texts(const std::vector<std::string>& texts, Severity severity) {
  Findings found;
  for (const std::string& text : texts) found.push_back({1, severity, text});
  return found;
}

bool IsDamage(const std::string& text) { return text.starts_with("damaged"); }

Findings DamagedTicks(const TickEvidence& of) {
  Findings found;
  for (const std::string& damage : of.recording.log.damages())
    found.push_back({1, kSevere, "damaged: " + damage});
  for (const std::string& note : of.recording.notes)
    if (IsDamage(note)) found.push_back({1, kSevere, note});
  return found;
}

Findings LostTicks(const TickEvidence& of) {
  const uint64_t lost = of.recording.log.lost();
  if (lost == 0) return {};
  const auto count = static_cast<double>(lost);
  const double share = count / (count + static_cast<double>(of.table.ticks.size()));
  return {{count, std::max(kMinor, Graded(share, {.major = 0.01, .severe = 0.25})),
           Counted(lost, "sample was lost", "samples were lost"),
           fmt::format("{:.1f} % of all", 100 * share)}};
}

Findings TickNotes(const TickEvidence& of) {
  std::vector<std::string> notes = of.recording.notes;
  std::erase_if(notes, IsDamage);
  return Texts(notes, kMinor);
}

Findings Unresolved(const TickEvidence& of) {
  if (of.table.unresolved == 0) return {};
  const double share = model::PercentOf(of.table.unresolved, of.table.ticks.size()) / 100;
  return {{share, Graded(share, {.minor = 0.01, .major = 0.2}),
           fmt::format("{:.1f} % of samples are in no known symbol", 100 * share),
           fmt::format("{} samples outside any module, or between the symbols of one",
                       of.table.unresolved)}};
}

Findings ModulesWithoutSymbols(const TickEvidence& of) {
  std::map<std::string, double> modules;
  for (const model::Tick& tick : of.table.ticks) {
    if (of.table.names[tick.symbol] == "NoSymbols" && of.table.names[tick.module] != "NoModule")
      modules[of.table.names[tick.module]] += 1;
  }
  return NoSymbolsFinding(modules, static_cast<double>(of.table.ticks.size()));
}

Findings FewTicks(const TickEvidence& of) {
  const size_t ticks = of.table.ticks.size();
  return {SamplesFinding(static_cast<double>(ticks), fmt::format("{} samples", ticks))};
}

Findings JittedCode(const TickEvidence& of) {
  if (of.recording.jitted == 0) return {};
  return {{static_cast<double>(of.recording.jitted), kInfo,
           fmt::format("{} jitted methods and stubs are known by name", of.recording.jitted)}};
}

constexpr std::string_view kDamagedMeaning =
    "Parts of the files could not be read. What was in them is missing in all numbers.";
constexpr std::string_view kUnresolvedMeaning =
    "This code has no name: it is jitted code that is not known, or a file that is gone.";

constexpr FactRow<TickEvidence> kTickFacts[] = {
    {"damaged", DamagedTicks, kDamagedMeaning, "Record again; check that the disk has room."},
    {"samples_lost", LostTicks, "They are missing in all values.", "Record with a lower --rate."},
    {"note", TickNotes, "It was noted when this was recorded."},
    {"unresolved", Unresolved, kUnresolvedMeaning,
     "Record JVMs from their start (jprof tprof -- java ...), and keep perf maps and programs "
     "where they were."},
    {"without_symbols", ModulesWithoutSymbols, kNoSymbolsMeaning, kNoSymbolsAdvice},
    {"samples", FewTicks, kSamplesMeaning, "Record for a longer time, or with a higher --rate."},
    {"unreadable_file", [](const TickEvidence& of) { return Texts(of.table.complaints, kInfo); },
     "The functions of this file have no names.", kNoSymbolsAdvice},
    {"jitted_code", JittedCode, "Rows of jitted code have these names."},
};

Findings UnnamedCode(const ArcEvidence& of) {
  uint64_t unnamed = 0;
  for (const model::ArcNode& node : of.trace.nodes) {
    if (of.arcs.code->IsUnnamed(node.function)) unnamed += node.self;
  }
  if (unnamed == 0) return {};
  const double share = model::PercentOf(unnamed, of.trace.instructions) / 100;
  return {{share, Graded(share, {.minor = 0.01, .major = 0.2}),
           fmt::format("{:.2f} % of instructions in code without symbols", 100 * share),
           fmt::format("{} of {} instructions", unnamed, of.trace.instructions)}};
}

Findings ArcTexts(const ArcEvidence& of) {
  std::vector<std::string> notes = of.notes.notes;
  // The fact "unnamed_code" is about the same.
  std::erase_if(notes, [](const std::string& note) {
    return note.ends_with(" are in code without symbols");
  });
  return Texts(notes, kMinor);
}

Findings LeftCalls(const ArcEvidence& of) {
  if (of.trace.left == 0) return {};
  return {{static_cast<double>(of.trace.left), kInfo,
           Counted(of.trace.left, "call ended without a return", "calls ended without a return")}};
}

Findings EarlierCalls(const ArcEvidence& of) {
  if (of.trace.beyond == 0) return {};
  return {{static_cast<double>(of.trace.beyond), kInfo,
           Counted(of.trace.beyond, "return", "returns") +
               " from functions that were called before the trace began"}};
}

constexpr FactRow<ArcEvidence> kArcFacts[] = {
    {"damaged", [](const ArcEvidence& of) { return Texts(of.notes.losses, kSevere); },
     kDamagedMeaning, "Record again; check that the disk has room."},
    {"unnamed_code", UnnamedCode, kUnresolvedMeaning, kNoSymbolsAdvice},
    {"note", ArcTexts, "It was noted when this was recorded, or a file could not be read."},
    {"left", LeftCalls, "They ended by longjmp or an exception, when their callers continued."},
    {"before", EarlierCalls, "Their callers are not in the tree: they are below the thread."},
};

}  // namespace

Quality QualityOf(const model::Recording& recording, const model::TickTable& table) {
  Quality quality;
  AddFacts<TickEvidence>(kTickFacts, {recording, table}, recording.directory, quality);
  RemoveDirectory(recording.directory, quality);
  return quality;
}

Quality QualityOf(const model::ArcRecording& arcs, const model::ArcTrace& trace) {
  Quality quality;
  AddFacts<ArcEvidence>(kArcFacts, {arcs, trace, model::NotesOf(arcs, trace)}, arcs.directory,
                        quality);
  RemoveDirectory(arcs.directory, quality);
  return quality;
}

}  // namespace jprof::reports
