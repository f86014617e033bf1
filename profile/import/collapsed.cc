// Reads collapsed stacks: one line per stack, "frame;frame number", the outermost frame first.
// Recognises the first frame as the name of a thread where a tool marks it as one:
// "[main tid=123]", as async-profiler writes it.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "profile/import/formats.h"
#include "profile/import/java_name.h"
#include "profile/import/known_frames.h"
#include "profile/import/text_lines.h"

namespace jprof::profile {
namespace {

constexpr uint64_t kMostOfALine = uint64_t{1} << 53;

struct CollapsedLine {
  std::string_view stack;
  uint64_t number = 0;
};

std::optional<CollapsedLine> ParseCollapsed(std::string_view line) {
  const size_t blank = line.rfind(' ');
  if (blank == std::string_view::npos || blank == 0) return std::nullopt;
  CollapsedLine parsed = {.stack = line.substr(0, blank)};
  const std::string_view number = line.substr(blank + 1);
  const char* end = number.data() + number.size();
  const auto read = std::from_chars(number.data(), end, parsed.number);
  if (read.ec != std::errc() || read.ptr != end || parsed.number > kMostOfALine)
    return std::nullopt;
  return parsed;
}

// Returns the thread if the first frame stands for one.
std::optional<ForeignThread> ThreadIn(std::string_view frame) {
  constexpr std::string_view kTid = " tid=";
  if (!frame.starts_with('[') || !frame.ends_with(']')) return std::nullopt;
  const size_t at = frame.rfind(kTid);
  if (at == std::string_view::npos) return std::nullopt;
  ForeignThread thread = {.name = frame.substr(1, at - 1)};
  const std::string_view tid = frame.substr(at + kTid.size());
  std::from_chars(tid.data(), tid.data() + tid.size(), thread.tid);
  return thread;
}

// What the numbers are, as samples: numbers of a unit of time are divided by the period.
Result<double> SamplesPerUnit(const ImportOptions& options) {
  static constexpr std::pair<std::string_view, double> kUnits[] = {
      {"ns", 1}, {"us", 1e3}, {"ms", 1e6}};
  if (options.unit.empty() || options.unit == "samples") return 1;
  for (const auto& [unit, ns] : kUnits) {
    if (options.unit != unit) continue;
    if (options.period_ns != 0) return ns / static_cast<double>(options.period_ns);
    return WrongUse("--unit {} needs --period: the time that one sample stands for, such as 10ms",
                    options.unit);
  }
  return WrongUse("--unit {}: choose samples, ns, us or ms", options.unit);
}

// `frames` is empty, and is so again afterwards.
void AddCollapsed(const CollapsedLine& line, int64_t samples, KnownFrames& known,
                  std::vector<ForeignFrame>& frames, SampleTree& tree) {
  std::string_view stack = line.stack;
  std::optional<ForeignThread> thread = ThreadIn(stack.substr(0, stack.find(';')));
  if (thread) stack.remove_prefix(std::min(stack.size(), stack.find(';')));
  while (!stack.empty()) {
    if (stack.starts_with(';')) stack.remove_prefix(1);
    const std::string_view frame = stack.substr(0, stack.find(';'));
    stack.remove_prefix(frame.size());
    if (frame.empty()) continue;
    frames.push_back(
        known.Of({.symbol = frame, .module = {}}, [&] { return AddTextFrame(frame, {}, tree); }));
  }
  std::ranges::reverse(frames);
  tree.Add(tree.AddThread(thread.value_or(ForeignThread{.name = "(all threads)"})), frames,
           {.value = samples, .count = samples});
  frames.clear();
}

}  // namespace

// The first lines have to be stacks: any text may end in a number.
bool RecognisesCollapsed(std::string_view bytes) {
  constexpr int kTried = 5;
  TextLines lines(bytes);
  std::string_view line;
  int tried = 0;
  for (; tried < kTried && lines.Next(&line);) {
    if (line.empty()) continue;
    if (!ParseCollapsed(line) || line.find('\0') != std::string_view::npos) return false;
    ++tried;
  }
  return tried > 0;
}

Result<ForeignRun> ReadCollapsed(std::string_view bytes, const ImportOptions& options,
                                 SampleTree& tree) {
  const auto scale = SamplesPerUnit(options);
  if (!scale) return std::unexpected(scale.error());
  if (!options.event.empty())
    return WrongUse("--event {}: collapsed stacks do not name events", options.event);
  TextLines lines(bytes);
  double carried = 0;
  KnownFrames known;
  std::vector<ForeignFrame> frames;
  for (std::string_view line; lines.Next(&line);) {
    if (line.empty()) continue;
    const auto parsed = ParseCollapsed(line);
    if (!parsed) {
      return Fail("line {}: no stack of the form FRAME;FRAME NUMBER: {}", lines.number(),
                  Excerpt(line));
    }
    const double value = static_cast<double>(parsed->number) * *scale + carried;
    if (value > static_cast<double>(kMostOfALine))
      return Fail("line {}: the number of samples is too large: {}", lines.number(), Excerpt(line));
    const int64_t samples = std::llround(value);
    carried = value - static_cast<double>(samples);
    AddCollapsed(*parsed, samples, known, frames, tree);
  }
  ForeignRun run;
  run.meta.metrics = {SamplesMetric(options.period_ns, Period::Clock::kUnknown)};
  std::vector<std::string>& notes = run.imported.notes;
  if (options.period_ns == 0)
    notes.emplace_back("the file does not say the period of its samples: --period states it");
  notes.emplace_back("source lines, the command and the CPU times of threads are not known");
  return run;
}

}  // namespace jprof::profile
