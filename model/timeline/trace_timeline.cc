#include "model/timeline/trace_timeline.h"

#include <algorithm>
#include <unordered_map>

#include "model/tree/names.h"
#include "model/tree/run_description.h"
#include "model/tree/trace_values.h"
#include "model/values/amount.h"
#include "profile/files/printable_text.h"
#include "profile/read/reader_trace.h"

namespace jprof::model {
namespace {

using profile::TraceEvent;

struct TraceTotals {
  uint64_t missing = 0;
  uint64_t unmatched = 0;  // exits whose entry is missing, without a slice
  uint64_t open = 0;       // slices without an exit, ended at the thread's last event
};

class TraceVisit {
 public:
  TraceVisit(Source& source, const Timeline::OnEvent& on_event)
      : source_(source),
        on_event_(on_event),
        unit_(FirstMetric(source)),
        corrector_(unit_.table),
        names_(source.reader),
        states_(source.reader.threads().size()) {
    for (uint32_t i = 0; i < states_.size(); ++i) states_[i].ns = StartOf(i);
  }

  Result<TraceTotals> Make() {
    const auto read = profile::ReadTrace(
        source_.reader, [&](const TraceEvent& event) { return Add(event) && going_; });
    if (!read) return std::unexpected(read.error());
    for (uint32_t i = 0; i < states_.size() && going_; ++i) {
      totals_.open += states_[i].open.size();
      CloseAll(i);
    }
    return totals_;
  }

 private:
  static constexpr uint32_t kFirstThread = 1;  // track 0 is the process

  struct ThreadState {
    std::vector<profile::MethodId> open;
    std::unordered_map<profile::MethodId, uint32_t> count;  // of open slices
    double ns = 0;
  };

  double StartOf(uint32_t thread) const {
    const profile::ControlHeader& header = source_.reader.header();
    const uint64_t start = source_.reader.threads()[thread].record.start_ticks;
    if (header.ticks_per_second == 0 || start <= header.start_ticks) return 0;
    return static_cast<double>(start - header.start_ticks) * 1e9 /
           static_cast<double>(header.ticks_per_second);
  }

  // Passes on an event of the thread, at the time that the thread has reached.
  void Visit(uint32_t thread, const TimelineEvent::What& what) {
    if (!going_) return;
    const auto ns = static_cast<uint64_t>(std::max<int64_t>(Rounded(states_[thread].ns), 0));
    going_ = on_event_({.track = kFirstThread + thread, .ns = ns, .what = what});
  }

  bool Add(const TraceEvent& event) {
    ThreadState& state = states_[event.thread];
    if (event.missing > 0) Gap(event);
    const profile::MethodId method = profile::MethodOf(event.ref);
    const double value = corrector_.Value(event, KeyLetter(event.ref, names_));
    state.ns += std::max(value * unit_.info.scale, 0.0);
    if (event.exit) {
      Exit(event.thread, method);
      return going_;
    }
    state.open.push_back(method);
    ++state.count[method];
    Visit(event.thread, SliceBegin{.name = IndexOf(method),
                                   .text = names_.Of(method),
                                   .type = Letter(profile::TypeOf(event.ref))});
    return going_;
  }

  void Gap(const TraceEvent& event) {
    totals_.missing += event.missing;
    CloseAll(event.thread);
    states_[event.thread].ns += static_cast<double>(event.skipped) * unit_.info.scale;
    const std::string text = fmt::format("{} events are missing", event.missing);
    Visit(event.thread, Instant{.name = text});
  }

  // Ends the slice, and the slices above it, whose exits are missing. Each slice is visited once,
  // so the time does not depend on how many are open.
  void Exit(uint32_t thread, profile::MethodId method) {
    const ThreadState& state = states_[thread];
    const auto count = state.count.find(method);
    if (count == state.count.end() || count->second == 0) {
      ++totals_.unmatched;
      return;
    }
    while (state.open.back() != method) Close(thread);
    Close(thread);
  }

  void Close(uint32_t thread) {
    ThreadState& state = states_[thread];
    --state.count[state.open.back()];
    state.open.pop_back();
    Visit(thread, SliceEnd());
  }
  void CloseAll(uint32_t thread) {
    while (!states_[thread].open.empty()) Close(thread);
  }

  Source& source_;
  const Timeline::OnEvent& on_event_;
  TraceUnit unit_;
  LineCorrector corrector_;
  Names names_;
  std::vector<ThreadState> states_;  // by thread
  TraceTotals totals_;
  bool going_ = true;
};

std::vector<std::string> NotesOf(const Source& source, const TraceTotals& totals) {
  std::vector<std::string> notes = {
      "time: each thread's own CPU time since its recording began, not the time of day"};
  const TraceUnit unit = FirstMetric(source);
  notes.push_back(unit.table != nullptr ? "calibrated with " + source.table_from
                  : source.table        ? "UNCALIBRATED: no costs for it in the table"
                                        : "UNCALIBRATED: " + source.uncalibrated);
  const auto count = [&](uint64_t number, const char* what) {
    if (number > 0) notes.push_back(fmt::format("{} {}", number, what));
  };
  count(totals.missing, "events are missing");
  count(totals.unmatched, "exits without an entry in the trace have no slice");
  count(totals.open, "calls had not returned: they end with the trace of their thread");
  return notes;
}

class TraceTimeline : public Timeline {
 public:
  explicit TraceTimeline(Source& source)
      : Timeline(ClockId::kThreadTime, 0, source.reader.header().start_unix_ns), source_(source) {
    const uint64_t pid = source.reader.meta().pid;
    AddTrack({.name = CommandText(source.reader.meta().command), .pid = pid});
    // Threads are numbered from 1, because the kernel may give two of them the same id, one after
    // the other.
    uint32_t number = 0;
    for (const profile::Thread& thread : source.reader.threads()) {
      AddTrack({.kind = Track::Kind::kThread,
                .name = profile::CleanText(thread.name),
                .pid = pid,
                .tid = ++number});
    }
  }

  Result<Visited> Visit(const OnEvent& on_event) override {
    const auto totals = TraceVisit(source_, on_event).Make();
    if (!totals) return std::unexpected(totals.error());
    return Visited{NotesOf(source_, *totals), DescribeRun(source_)};
  }

 private:
  Source& source_;
};

}  // namespace

Result<std::unique_ptr<Timeline>> OpenTimeline(Source& source) {
  if (FirstMetric(source).info.unit != "ns") {
    return WrongUse(
        "{}: its trace has no times, so there are no points in time; record one with: jprof trace "
        "--metrics time -- CMD...",
        source.reader.shown());
  }
  if (const auto checked = profile::CheckTrace(source.reader); !checked)
    return std::unexpected(checked.error());
  return std::make_unique<TraceTimeline>(source);
}

}  // namespace jprof::model
