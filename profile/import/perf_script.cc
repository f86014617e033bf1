// Reads the output of perf script: for each sample a line with the thread and the event, the frames
// of its stack, the innermost first, and an empty line.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include "profile/import/formats.h"
#include "profile/import/java_name.h"
#include "profile/import/known_frames.h"
#include "profile/import/periods.h"
#include "profile/import/text_lines.h"

namespace jprof::profile {
namespace {

struct PerfSample {
  std::string_view comm;
  uint32_t pid = 0, tid = 0;
  double seconds = 0;
  uint64_t period = 0;  // 0: not printed
  std::string_view event;
};

constexpr std::string_view kBlanks = " \t";

std::string_view Trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

// Removes the last word and returns it.
std::string_view TakeLast(std::string_view* text) {
  const size_t at = text->find_last_of(kBlanks);
  const std::string_view word = text->substr(at + 1);
  *text = Trimmed(at == std::string_view::npos ? "" : text->substr(0, at));
  return word;
}

template <typename T>
bool ParseWhole(std::string_view text, T* number) {
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, *number);
  return read.ec == std::errc() && read.ptr == end;
}

// Parses the thread, "java 12/34 [001]", from its end: the name may contain blanks.
bool ParseThread(std::string_view text, PerfSample* sample) {
  text = Trimmed(text);
  std::string_view word = TakeLast(&text);
  if (word.starts_with('[') && word.ends_with(']')) word = TakeLast(&text);
  const size_t slash = word.find('/');
  if (slash != std::string_view::npos && !ParseWhole(word.substr(0, slash), &sample->pid))
    return false;
  const std::string_view tid = slash == std::string_view::npos ? word : word.substr(slash + 1);
  sample->comm = text;
  return ParseWhole(tid, &sample->tid) && !text.empty();
}

// Parses "java 12/34 [001] 123.456789: 250000 cpu-clock:u: ". Events are names without blanks.
std::optional<PerfSample> ParseHead(std::string_view line) {
  for (size_t colon = line.find(": "); colon != std::string_view::npos;
       colon = line.find(": ", colon + 1)) {
    const size_t begin = line.find_last_of(kBlanks, colon) + 1;
    PerfSample sample;
    const std::string_view time = line.substr(begin, colon - begin);
    if (begin == 0 || time.find('.') == std::string_view::npos ||
        !ParseWhole(time, &sample.seconds) || !ParseThread(line.substr(0, begin), &sample))
      continue;
    std::string_view rest = Trimmed(line.substr(colon + 1));
    const size_t blank = rest.find_first_of(kBlanks);
    if (ParseWhole(rest.substr(0, blank), &sample.period))
      rest = Trimmed(rest.substr(std::min(blank, rest.size())));
    sample.event = rest.substr(0, rest.find_first_of(kBlanks));
    if (!sample.event.ends_with(':')) continue;
    sample.event.remove_suffix(1);
    return sample;
  }
  return std::nullopt;
}

std::string_view BaseOf(std::string_view path) { return path.substr(path.rfind('/') + 1); }

struct PerfFrame {
  uint64_t address = 0;
  std::string_view symbol, module;
};

// Parses "7f12ab symbol+0x12 (/usr/lib/libc.so.6)". Returns nothing if it is no such line.
std::optional<PerfFrame> ParsePerfFrame(std::string_view line) {
  line = Trimmed(line);
  const std::string_view address = line.substr(0, line.find_first_of(kBlanks));
  PerfFrame frame;
  const char* end = address.data() + address.size();
  const auto read = std::from_chars(address.data(), end, frame.address, 16);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  frame.symbol = Trimmed(line.substr(address.size()));
  const size_t open = frame.symbol.rfind('(');
  const bool has_module = frame.symbol.ends_with(')') && open != std::string_view::npos &&
                          (open == 0 || frame.symbol[open - 1] == ' ');
  if (has_module) {
    frame.module = frame.symbol.substr(open + 1, frame.symbol.size() - open - 2);
    frame.symbol = Trimmed(frame.symbol.substr(0, open));
  }
  frame.symbol = frame.symbol.substr(0, frame.symbol.rfind("+0x"));
  if (frame.symbol.empty()) frame.symbol = "[unknown]";
  return frame;
}

// Returns whether the module stands for jitted code: a map of the process, or an object that an
// agent has written.
bool IsJitted(std::string_view module) {
  const std::string_view name = BaseOf(module);
  return module.empty() || module == "[unknown]" || module == "inlined" ||
         module.starts_with("[anon") || module.starts_with("//anon") || name.starts_with("perf-") ||
         name.starts_with("jitted-");
}

bool IsKernelCore(std::string_view module) {
  return module.starts_with("[kernel") || module.starts_with("[guest.kernel");
}

bool IsKernel(const PerfFrame& frame) {
  return IsKernelCore(frame.module) || (frame.module.starts_with('[') && frame.address >> 63 != 0);
}

ForeignFrame AddPerfFrame(const PerfFrame& frame, bool is_kernel, SampleTree& tree) {
  if (!is_kernel && frame.symbol != "[unknown]" && IsJitted(frame.module))
    return AddTextFrame(frame.symbol, {}, tree);
  const uint16_t flags = is_kernel ? kMethodKernel : kMethodCode;
  const MethodId method =
      tree.AddMethod({.class_name = IsKernelCore(frame.module) ? "vmlinux" : frame.module,
                      .name = frame.symbol,
                      .signature = {},
                      .flags = flags});
  return {.method = method, .kind = FrameKind::kFunction};
}

// Returns whether the event's unit is ns of a thread's CPU time.
bool CountsCpuTime(std::string_view event) {
  return event.starts_with("cpu-clock") || event.starts_with("task-clock");
}

class PerfReader {
 public:
  PerfReader(const ImportOptions& options, SampleTree& tree) : options_(options), tree_(tree) {}

  Result<ForeignRun> Read(std::string_view bytes) {
    if (auto counted = Count(bytes); !counted) return std::unexpected(counted.error());
    if (auto added = Add(bytes); !added) return std::unexpected(added.error());
    ForeignRun run;
    run.duration_ns = static_cast<uint64_t>(std::clamp((last_ - first_) * 1e9, 0.0, 1e18));
    Imported& imported = run.imported;
    imported.event = event_;
    run.meta.metrics = {MetricOf()};
    if (options_.period_ns == 0 && !CountsCpuTime(event_)) {
      imported.notes.push_back(fmt::format(
          "samples of {} are not of CPU time: --period states the time of one, if it is known",
          event_));
    }
    if (const uint64_t others = period_.Others(); others > 0 && options_.period_ns == 0) {
      imported.notes.push_back(
          fmt::format("{} samples have another period than {}, and count in proportion to it",
                      others, period_.Get()));
    }
    for (const auto& [event, samples] : events_)
      if (event != event_)
        imported.notes.push_back(fmt::format("{} samples of {} are not imported (--event)",
                                             samples.count, CleanText(event)));
    imported.notes.emplace_back(
        "source lines, the command and the CPU times of threads are not known");
    return run;
  }

 private:
  struct EventSamples {
    uint64_t count = 0;
    CommonPeriod period;
  };

  static bool IsComment(std::string_view line) { return line.starts_with('#'); }
  // Returns whether it is a frame as perf script prints it, behind a tab. The line of a sample
  // begins with the name of its thread.
  static bool IsFrame(std::string_view line) {
    return line.starts_with('\t') && ParsePerfFrame(line).has_value();
  }

  Result<void> Count(std::string_view bytes) {
    TextLines lines(bytes);
    for (std::string_view line; lines.Next(&line);) {
      if (line.empty() || IsComment(line) || IsFrame(line)) continue;
      if (const auto sample = ParseHead(line)) {
        EventSamples& of = events_[std::string(sample->event)];
        ++of.count;
        of.period.Note(sample->period);
      }
    }
    const auto most =
        std::ranges::max_element(events_, {}, [](const auto& entry) { return entry.second.count; });
    event_ = options_.event.empty() && most != events_.end() ? most->first : options_.event;
    if (const auto chosen = events_.find(event_); chosen != events_.end()) {
      period_ = chosen->second.period;
      return {};
    }
    if (options_.event.empty()) return {};
    std::string others;
    for (const auto& [event, samples] : events_)
      others +=
          fmt::format("{}{} ({})", others.empty() ? "" : ", ", CleanText(event), samples.count);
    return WrongUse("--event {}: there are no such samples; there are: {}", CleanText(event_),
                    others.empty() ? "none" : others);
  }

  Result<void> Add(std::string_view bytes) {
    TextLines lines(bytes);
    std::optional<PerfSample> sample;
    std::vector<ForeignFrame> frames;
    for (std::string_view line; lines.Next(&line);) {
      if (IsComment(line)) continue;
      if (line.empty()) {
        if (sample) AddSample(*sample, frames);
        sample.reset();
        continue;
      }
      if (sample) {
        const auto frame = ParsePerfFrame(line);
        if (!frame && !ParseHead(line))
          return Fail("line {}: no frame of a stack: {}", lines.number(), Excerpt(Trimmed(line)));
        if (frame) {
          const bool is_kernel = IsKernel(*frame);
          frames.push_back(
              known_.Of({.symbol = frame->symbol, .module = frame->module, .is_kernel = is_kernel},
                        [&] { return AddPerfFrame(*frame, is_kernel, tree_); }));
          continue;
        }
        AddSample(*sample, frames);
      }
      frames.clear();
      sample = ParseHead(line);
      if (!sample)
        return Fail("line {}: no sample of perf script: {}", lines.number(),
                    Excerpt(Trimmed(line)));
    }
    if (sample) AddSample(*sample, frames);
    return {};
  }

  void AddSample(const PerfSample& sample, std::span<const ForeignFrame> frames) {
    if (sample.event != event_) return;
    constexpr size_t kDepthLimit = 127;  // kernel.perf_event_max_stack, unless it is changed
    if (first_ == 0) first_ = sample.seconds;
    last_ = std::max(last_, sample.seconds);
    const int64_t samples = options_.period_ns != 0 ? 1 : period_.Convert(sample.period);
    const uint32_t thread = tree_.AddThread({.name = sample.comm, .tid = sample.tid});
    tree_.Add(thread, frames,
              {.value = samples, .count = samples, .is_cut = frames.size() >= kDepthLimit});
  }

  Metric MetricOf() const {
    if (options_.period_ns != 0) return SamplesMetric(options_.period_ns, Period::Clock::kUnknown);
    if (CountsCpuTime(event_)) return SamplesMetric(period_.Get(), Period::Clock::kCpu);
    Metric metric = SamplesMetric(0, Period::Clock::kUnknown);
    metric.period = {.value = period_.Get(), .unit = "events"};
    return metric;
  }

  const ImportOptions& options_;
  SampleTree& tree_;
  std::map<std::string, EventSamples> events_;
  KnownFrames known_;
  std::string event_;
  CommonPeriod period_;
  double first_ = 0, last_ = 0;
};

}  // namespace

bool RecognisesPerf(std::string_view bytes) {
  TextLines lines(bytes);
  for (std::string_view line; lines.Next(&line);) {
    if (line.empty() || line.starts_with('#')) continue;
    return ParseHead(line).has_value();
  }
  return false;
}

Result<ForeignRun> ReadPerf(std::string_view bytes, const ImportOptions& options,
                            SampleTree& tree) {
  return PerfReader(options, tree).Read(bytes);
}

}  // namespace jprof::profile
