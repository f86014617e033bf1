#include "reports/view/time_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "profile/files/printable_text.h"

namespace jprof::reports {
namespace {

using nlohmann::json;
using OnEvent = std::function<void(const model::TimelineEvent&)>;

constexpr size_t kMostSlices = 300'000;
constexpr size_t kMostMarks = 50'000;
constexpr size_t kMostValues = 20'000;  // of one counter

struct Slice {
  uint32_t track = 0, depth = 0;
  double begin = 0, length = 0;
  uint32_t method = 0;
  uint8_t type = 0;
};

// Keeps the longest slices.
class LongestSlices {
 public:
  void Add(const Slice& slice) {
    if (slice.length < shortest_) {
      ++left_out_;
      return;
    }
    slices_.push_back(slice);
    if (slices_.size() >= 2 * kMostSlices) LeaveOut();
  }

  std::vector<Slice> Take() {
    if (slices_.size() > kMostSlices) LeaveOut();
    // Of several that begin together all but the last take no time: so the ends are sorted, too.
    std::ranges::sort(slices_, {}, [](const Slice& one) {
      return std::tuple(one.track, one.depth, one.begin, one.length);
    });
    return std::move(slices_);
  }
  double shortest() const { return shortest_; }  // what is left out takes no more
  uint64_t left_out() const { return left_out_; }

 private:
  // Keeps the first kMostSlices in an order in which each slice comes behind those around it.
  void LeaveOut() {
    const auto rank = [](const Slice& one) {
      return std::tuple(-one.length, one.depth, one.track, one.begin);
    };
    const auto last = slices_.begin() + (kMostSlices - 1);
    std::ranges::nth_element(slices_, last, {}, rank);
    shortest_ = last->length;
    left_out_ += slices_.size() - kMostSlices;
    slices_.resize(kMostSlices);
  }

  std::vector<Slice> slices_;
  double shortest_ = 0;
  uint64_t left_out_ = 0;
};

// Keeps values of a counter at equal distances, which grow with the number of values.
class SparseCounter {
 public:
  explicit SparseCounter(uint32_t track) : track_(track) {}

  void Add(double at, double value) {
    last_ = {at, value};
    if (!at_.empty() && at - at_.back() < distance_) return;
    Keep();
    if (at_.size() >= 2 * kMostValues) Thin();
  }

  json Describe(const std::string& name, ViewData& data) {
    if (!at_.empty() && at_.back() < last_.first) Keep();
    return {{"name", name},
            {"track", track_},
            {"at", data.Add(std::span(std::as_const(at_)))},
            {"value", data.Add(std::span(std::as_const(value_)))}};
  }

 private:
  void Keep() {
    at_.push_back(last_.first);
    value_.push_back(last_.second);
  }
  void Thin() {
    for (size_t i = 0; i < kMostValues; ++i) {
      at_[i] = at_[2 * i];
      value_[i] = value_[2 * i];
    }
    at_.resize(kMostValues);
    value_.resize(kMostValues);
    distance_ = (at_.back() - at_.front()) / kMostValues;
  }

  uint32_t track_;
  std::vector<double> at_, value_;
  std::pair<double, double> last_;
  double distance_ = 0;
};

template <typename Row, typename Value>
json Column(const std::vector<Row>& rows, Value Row::*member, ViewData& data) {
  std::vector<Value> column;
  column.reserve(rows.size());
  for (const Row& row : rows) column.push_back(row.*member);
  return data.Add(std::span(std::as_const(column)));
}

class TimeColumns {
 public:
  TimeColumns(model::Timeline& timeline, const TrackText& text, ViewNames& names)
      : timeline_(timeline), names_(names), slice_names_(names), tracks_(timeline.tracks().size()) {
    for (size_t i = 0; i < tracks_.size(); ++i) AddTrack(i, text);
  }

  // Returns the notes of the timeline.
  Result<std::vector<std::string>> Visit(const OnEvent& on_event) {
    const auto run = timeline_.Visit([&](const model::TimelineEvent& event) {
      if (on_event) on_event(event);
      at_ = static_cast<double>(event.ns) - static_cast<double>(timeline_.start_ns());
      end_ = std::max(end_, at_);
      std::visit([&](const auto& what) { Add(tracks_[event.track], what); }, event.what);
      return true;
    });
    if (!run) return std::unexpected(run.error());
    return run->notes;
  }

  json Describe(ViewData& data) {
    if (marks_left_out_ > 0)
      data.Note(fmt::format("Time: {} marks are left out, the last ones", marks_left_out_));
    const std::vector<Slice> slices = slices_.Take();
    json counters = json::array();
    for (size_t i = 0; i < counters_.size(); ++i)
      counters.push_back(counters_[i].Describe(counter_names_[i], data));
    return {{"clock", ClockText()},
            {"end", end_},
            {"tracks", threads_},
            {"shortest", slices_.shortest()},
            {"left_out", slices_.left_out()},
            {"slices", Describe(slices, data)},
            {"marks",
             {{"rows", marks_.size()},
              {"track", Column(marks_, &Mark::track, data)},
              {"at", Column(marks_, &Mark::at, data)},
              {"text", Column(marks_, &Mark::text, data)}}},
            {"counters", counters}};
  }

 private:
  struct Open {
    double begin = 0;
    uint32_t method = 0;
    uint8_t type = 0;
  };
  struct PageTrack {
    uint32_t number = 0;  // of a thread, or of a counter
    std::vector<Open> open;
  };
  struct Mark {
    uint32_t track = 0, text = 0;
    double at = 0;
  };

  void AddTrack(size_t index, const TrackText& text) {
    const model::Track& track = timeline_.tracks()[index];
    if (track.kind == model::Track::Kind::kThread) {
      tracks_[index].number = static_cast<uint32_t>(threads_.size());
      threads_.push_back(profile::CleanText(text(track)));
    } else if (track.kind == model::Track::Kind::kCounter) {
      tracks_[index].number = static_cast<uint32_t>(counters_.size());
      counters_.emplace_back(tracks_[track.parent].number);
      counter_names_.push_back(track.name);
    }
  }

  void Add(PageTrack& track, const model::SliceBegin& slice) {
    track.open.push_back({at_, slice_names_.Of(slice), TypeOf(slice)});
  }
  void Add(PageTrack& track, const model::SliceEnd&) {
    const Open open = track.open.back();
    track.open.pop_back();
    slices_.Add({track.number, static_cast<uint32_t>(track.open.size()), open.begin,
                 at_ - open.begin, open.method, open.type});
  }
  void Add(PageTrack& track, const model::Instant& instant) {
    if (marks_.size() < kMostMarks) {
      marks_.push_back({track.number, names_.Of(instant.name), at_});
    } else {
      ++marks_left_out_;
    }
  }
  void Add(PageTrack& track, const model::CounterValue& counter) {
    counters_[track.number].Add(at_, static_cast<double>(counter.value));
  }

  static uint8_t TypeOf(const model::SliceBegin& slice) {
    return static_cast<uint8_t>(slice.type == '-' ? 'O' : slice.type);  // as in the tree
  }

  const char* ClockText() const {
    return timeline_.clock() == model::ClockId::kThreadTime
               ? "Times are each thread's own CPU time: time in which it did not run is left out."
               : "Times are the machine's clock; those between two readings of it are estimates.";
  }

  static json Describe(const std::vector<Slice>& slices, ViewData& data) {
    return {{"rows", slices.size()},
            {"track", Column(slices, &Slice::track, data)},
            {"depth", Column(slices, &Slice::depth, data)},
            {"begin", Column(slices, &Slice::begin, data)},
            {"length", Column(slices, &Slice::length, data)},
            {"method", Column(slices, &Slice::method, data)},
            {"type", Column(slices, &Slice::type, data)}};
  }

  model::Timeline& timeline_;
  ViewNames& names_;
  SliceNames slice_names_;
  std::vector<PageTrack> tracks_;  // by track of the timeline
  std::vector<std::string> threads_, counter_names_;
  std::vector<SparseCounter> counters_;
  LongestSlices slices_;
  std::vector<Mark> marks_;
  uint64_t marks_left_out_ = 0;
  double at_ = 0, end_ = 0;  // in ns since recording began: of the event, and of the last one
};

}  // namespace

Result<void> AddTimeline(model::Timeline& timeline, const TrackText& text, ViewNames& names,
                         ViewData& data, const OnEvent& on_event) {
  TimeColumns columns(timeline, text, names);
  const auto notes = columns.Visit(on_event);
  if (!notes) return std::unexpected(notes.error());
  for (const std::string& note : *notes) data.Note(note);
  data["timeline"] = columns.Describe(data);
  return {};
}

}  // namespace jprof::reports
