#include "reports/export/trace_slices.h"

#include <algorithm>
#include <unordered_map>

#include "model/tree/names.h"
#include "model/tree/run_description.h"
#include "model/tree/trace_values.h"
#include "model/values/amount.h"
#include "profile/read/reader_trace.h"

namespace jprof::reports {
namespace {

using profile::TraceEvent;

class SliceMaker {
 public:
  SliceMaker(model::Source& source, const std::function<bool(const Slice&)>& visit)
      : source_(source),
        visit_(visit),
        unit_(model::FirstMetric(source)),
        corrector_(unit_.table),
        names_(source.reader),
        strands_(source.reader.threads().size()) {
    for (uint32_t i = 0; i < strands_.size(); ++i) strands_[i].ns = StartOf(i);
  }

  Result<SliceTotals> Make() {
    const auto read = profile::ReadTrace(
        source_.reader, [&](const TraceEvent& event) { return Add(event) && going_; });
    if (!read) return std::unexpected(read.error());
    for (uint32_t i = 0; i < strands_.size() && going_; ++i) {
      totals_.open += strands_[i].open.size();
      CloseAll(i);
    }
    return totals_;
  }

 private:
  struct Strand {
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

  void Visit(Slice slice, uint32_t thread) {
    slice.thread = thread;
    slice.ns = static_cast<uint64_t>(std::max<int64_t>(model::Rounded(strands_[thread].ns), 0));
    if (going_) going_ = visit_(slice);
  }

  bool Add(const TraceEvent& event) {
    Strand& strand = strands_[event.thread];
    ++totals_.events;
    if (event.missing > 0) Gap(event);
    const profile::MethodId method = profile::MethodOf(event.ref);
    const double value = corrector_.Value(event, model::KeyLetter(event.ref, names_));
    strand.ns += std::max(value * unit_.info.scale, 0.0);
    if (event.exit) {
      Exit(event.thread, method);
      return going_;
    }
    strand.open.push_back(method);
    ++strand.count[method];
    Visit({.kind = Slice::Kind::kBegin,
           .method = IndexOf(method),
           .name = names_.Of(method),
           .type = Letter(profile::TypeOf(event.ref))},
          event.thread);
    return going_;
  }

  void Gap(const TraceEvent& event) {
    totals_.missing += event.missing;
    CloseAll(event.thread);
    strands_[event.thread].ns += static_cast<double>(event.skipped) * unit_.info.scale;
    Visit({.kind = Slice::Kind::kGap, .missing = event.missing}, event.thread);
  }

  // Ends the slice, and the slices above it, whose exits are missing. Each slice is visited once,
  // so the time does not depend on how many are open.
  void Exit(uint32_t thread, profile::MethodId method) {
    const Strand& strand = strands_[thread];
    const auto count = strand.count.find(method);
    if (count == strand.count.end() || count->second == 0) {
      ++totals_.unmatched;
      return;
    }
    while (strand.open.back() != method) Close(thread);
    Close(thread);
  }

  void Close(uint32_t thread) {
    Strand& strand = strands_[thread];
    --strand.count[strand.open.back()];
    strand.open.pop_back();
    Visit({.kind = Slice::Kind::kEnd}, thread);
  }
  void CloseAll(uint32_t thread) {
    while (!strands_[thread].open.empty()) Close(thread);
  }

  model::Source& source_;
  const std::function<bool(const Slice&)>& visit_;
  model::TraceUnit unit_;
  model::LineCorrector corrector_;
  model::Names names_;
  std::vector<Strand> strands_;  // by thread
  SliceTotals totals_;
  bool going_ = true;
};

}  // namespace

Result<SliceTotals> VisitSlices(model::Source& source,
                                const std::function<bool(const Slice&)>& visit) {
  const model::TraceUnit unit = model::FirstMetric(source);
  if (unit.info.unit != "ns") {
    return WrongUse(
        "{}: its trace has no times, so there are no points in time; record one with: jprof trace "
        "--metrics time -- CMD...",
        source.reader.directory());
  }
  return SliceMaker(source, visit).Make();
}

std::vector<std::string> SliceNotes(const model::Source& source, const SliceTotals& totals) {
  std::vector<std::string> notes = {
      "time: each thread's own CPU time since its recording began, not the time of day"};
  const model::TraceUnit unit = model::FirstMetric(source);
  notes.push_back(unit.table != nullptr ? "calibrated with " + source.table_from
                  : source.table        ? "UNCALIBRATED: no costs for it in the table"
                                        : "UNCALIBRATED: " + source.uncalibrated);
  const auto count = [&](uint64_t number, const char* what) {
    if (number > 0) notes.push_back(fmt::format("{} {}", number, what));
  };
  count(totals.missing, "events are missing");
  count(totals.unmatched, "exits without an entry in the trace have no slice");
  count(totals.open, "calls had not returned: they end with the trace of their thread");
  std::ranges::copy(DescribeRun(source).notes, std::back_inserter(notes));
  return notes;
}

}  // namespace jprof::reports
