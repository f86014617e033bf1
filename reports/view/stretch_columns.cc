#include "reports/view/stretch_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "model/events/stretch_sums.h"
#include "model/events/waits.h"
#include "profile/files/printable_text.h"
#include "reports/events/events_head.h"
#include "reports/print/units.h"

namespace jprof::reports {
namespace {

using model::Stretch;
using model::StretchThread;
using nlohmann::json;
using Wholes = std::vector<uint64_t>;

constexpr size_t kMostStretches = 2'000'000;
constexpr size_t kMostShownMarks = 10'000;
// Reasons for the end of a stretch that are no reasons to wait. They follow kWaitReasons.
constexpr uint64_t kExited = std::size(model::kWaitReasons), kStillRuns = kExited + 1;
// Numbers in the column of wakers; a thread is its index plus kFirstThread.
constexpr uint64_t kNobody = 0, kByInterrupt = 1, kFirstThread = 2;

// The calling contexts of all processes as one tree. 0 is no context.
class StretchContexts {
 public:
  StretchContexts(model::ContextNames& contexts, ViewNames& names)
      : contexts_(contexts), names_(names) {}

  uint64_t Of(uint32_t process, uint64_t node) {
    if (node == 0) return 0;
    const auto [place, is_new] = places_.try_emplace({process, node}, 0);
    if (!is_new) return place->second;
    uint64_t at = 0;
    const auto methods = contexts_.MethodsOf(process, node);
    for (auto method = methods.rbegin(); method != methods.rend(); ++method)
      at = Child(at, names_.Of(contexts_.NameOf(process, *method)));
    return place->second = at;
  }

  json Describe(ViewData& data) const {
    return {{"rows", parent_.size()},
            {"parent", AddPlanes(parent_, data)},
            {"method", AddPlanes(method_, data)}};
  }

 private:
  uint64_t Child(uint64_t parent, uint32_t name) {
    const auto [place, is_new] = children_.try_emplace({parent, name}, parent_.size());
    if (is_new) {
      parent_.push_back(parent);
      method_.push_back(name);
    }
    return place->second;
  }

  model::ContextNames& contexts_;
  ViewNames& names_;
  std::map<std::pair<uint32_t, uint64_t>, uint64_t> places_;    // by process and node
  std::map<std::pair<uint64_t, uint32_t>, uint64_t> children_;  // by parent and name
  Wholes parent_ = {0}, method_ = {0};
};

class StretchColumns {
 public:
  StretchColumns(model::RecordedEvents& events, ViewNames& names)
      : events_(events),
        stretches_(events.stretches),
        reasons_(events.stretches, events.names, events.jvms),
        contexts_(events.names, names),
        counters_(stretches_.counters.size()),
        end_(LastBegin()) {
    FillThreads();
  }

  void AddTo(ViewData& data) {
    if (const size_t left_out = stretches_.stretches.size() - duration_.size(); left_out > 0) {
      data.Note(fmt::format("Timeline: the page ends after {}: {} later stretches are left out",
                            Duration(static_cast<double>(end_)), left_out));
    }
    json counters = json::array();
    for (size_t i = 0; i < counters_.size(); ++i) {
      counters.push_back(
          {{"name", stretches_.counters[i]}, {"values", AddPlanes(counters_[i], data)}});
    }
    data["stretches"] = {{"rows", duration_.size()},
                         {"end", end_},
                         {"processors", stretches_.processors},
                         {"start_unix_ns", stretches_.start_unix_ns},
                         {"has_calls", stretches_.has_calls},
                         {"threads", Threads()},
                         {"reasons", Reasons()},
                         {"calls", calls_.all()},
                         {"contexts", contexts_.Describe(data)},
                         {"counters", std::move(counters)},
                         {"marks", Marks(data)},
                         {"columns", Columns(data)}};
  }

 private:
  json Marks(ViewData& data) const {
    json marks = json::array();
    for (const model::Mark& mark : events_.marks) {
      if (marks.size() == kMostShownMarks) {
        data.Note(fmt::format("Timeline: the page has the first {} of {} marks", kMostShownMarks,
                              events_.marks.size()));
        break;
      }
      const int64_t thread = mark.thread == model::kNoThread ? -1 : int64_t{mark.thread};
      marks.push_back({{"time", mark.time}, {"text", mark.text}, {"thread", thread}});
    }
    return marks;
  }

  // Returns from when on stretches have no place on the page.
  uint64_t LastBegin() const {
    if (stretches_.stretches.size() <= kMostStretches) return stretches_.duration;
    std::vector<uint64_t> begins;
    for (const Stretch& stretch : stretches_.stretches) begins.push_back(stretch.begin);
    const auto last = begins.begin() + kMostStretches;
    std::ranges::nth_element(begins, last);
    return *last;
  }
  bool IsOnPage(const Stretch& stretch) const {
    return stretches_.stretches.size() <= kMostStretches || stretch.begin < end_;
  }

  void FillThreads() {
    std::vector<model::Gap> gaps(stretches_.stretches.size());
    for (const StretchThread& thread : stretches_.threads) {
      model::VisitGaps(stretches_, thread, [&](const model::Gap& gap) {
        gaps[static_cast<size_t>(gap.before - stretches_.stretches.data())] = gap;
      });
    }
    for (const StretchThread& thread : stretches_.threads) {
      const std::span all(stretches_.stretches.data() + thread.first, thread.count);
      size_t count = 0;
      uint64_t at = 0;  // when the page's copy of the stretch before ends
      for (; count < all.size() && IsOnPage(all[count]); ++count) {
        const size_t index = thread.first + count;
        at = Add(all[count], index, gaps[index], at,
                 count + 1 < all.size() ? &all[count + 1] : nullptr);
      }
      counts_.push_back(count);
    }
  }

  // Adds a stretch and the time after it. The page has no begins but the first: each is the sum of
  // the times before it, so these have no holes. Returns where the next stretch begins.
  uint64_t Add(const Stretch& stretch, size_t index, const model::Gap& gap, uint64_t at,
               const Stretch* next) {
    const uint64_t begin = std::max(stretch.begin, at);
    const uint64_t end = std::max(stretch.end, begin);
    const uint64_t until = std::max(next != nullptr ? next->begin : gap.end, end);
    const uint64_t ready = gap.before != nullptr ? std::clamp(gap.ready, end, until) : until;
    duration_.push_back(end - begin);
    waited_.push_back(ready - end);
    delayed_.push_back(until - ready);
    processor_.push_back(stretch.processor);
    reason_.push_back(ReasonOf(stretch));
    interrupts_.push_back(std::min(stretch.interrupts, end - begin));
    kernel_.push_back(std::min(stretch.kernel, end - begin));
    call_.push_back(stretch.call < 0 ? 0 : 1 + CallOf(stretch.call));
    context_.push_back(contexts_.Of(stretches_.threads[stretch.thread].process, stretch.context));
    const bool is_woken = gap.after != nullptr && stretch.state != model::StopState::kRunnable;
    waker_.push_back(is_woken ? WakerOf(gap.after->waker) : kNobody);
    for (size_t i = 0; i < counters_.size(); ++i)
      counters_[i].push_back(stretches_.counted[index * counters_.size() + i]);
    return until;
  }

  uint64_t ReasonOf(const Stretch& stretch) {
    if (stretch.state == model::StopState::kDead) return kExited;
    if (stretch.state == model::StopState::kRuns) return kStillRuns;
    return static_cast<uint64_t>(reasons_.Of(stretch));
  }
  uint64_t CallOf(int32_t call) {
    const auto [place, is_new] = call_places_.try_emplace(call, 0);
    if (is_new) place->second = calls_.Of(model::SystemCallName(call));
    return place->second;
  }
  static uint64_t WakerOf(uint32_t waker) {
    if (waker == model::kNoThread) return kNobody;
    return waker == model::kInterrupt ? kByInterrupt : kFirstThread + waker;
  }

  json Threads() const {
    const std::vector<bool> program = ProgramThreads(events_);
    json list = json::array();
    for (uint32_t i = 0; i < stretches_.threads.size(); ++i) {
      const StretchThread& thread = stretches_.threads[i];
      list.push_back({{"name", profile::CleanText(events_.ThreadName(i))},
                      {"process", profile::CleanText(thread.process_name)},
                      {"pid", thread.process},
                      {"tid", thread.thread},
                      {"program", static_cast<bool>(program[i])},
                      {"begin", counts_[i] > 0 ? stretches_.stretches[thread.first].begin : 0},
                      {"rows", counts_[i]}});
    }
    return list;
  }

  static json Reasons() {
    json list = json::array();
    for (const model::WaitReasonRow& row : model::kWaitReasons)
      list.push_back({row.name, row.meaning});
    list.push_back({"exit", "the thread ended"});
    list.push_back({"runs", "it still ran when the recording ended"});
    return list;
  }

  json Columns(ViewData& data) const {
    return {
        {"duration", AddPlanes(duration_, data)},     {"waited", AddPlanes(waited_, data)},
        {"ready", AddPlanes(delayed_, data)},         {"processor", AddPlanes(processor_, data)},
        {"reason", AddPlanes(reason_, data)},         {"context", AddPlanes(context_, data)},
        {"waker", AddPlanes(waker_, data)},           {"call", AddPlanes(call_, data)},
        {"interrupts", AddPlanes(interrupts_, data)}, {"kernel", AddPlanes(kernel_, data)}};
  }

  model::RecordedEvents& events_;
  const model::Stretches& stretches_;
  model::WaitReasons reasons_;
  StretchContexts contexts_;
  ViewNames calls_;
  std::map<int32_t, uint64_t> call_places_;  // by number
  Wholes duration_, waited_, delayed_, processor_, reason_, context_, waker_, call_, interrupts_,
      kernel_;
  std::vector<Wholes> counters_;
  std::vector<size_t> counts_;  // stretches on the page, by thread
  uint64_t end_;
};

}  // namespace

json AddPlanes(const std::vector<uint64_t>& values, ViewData& data) {
  const uint64_t largest = values.empty() ? 0 : std::ranges::max(values);
  std::vector<uint8_t> planes;
  size_t bytes = 0;
  for (; bytes < sizeof largest && largest >> (8 * bytes) != 0; ++bytes) {
    for (const uint64_t value : values)
      planes.push_back(static_cast<uint8_t>(value >> (8 * bytes)));
  }
  return {{"bytes", bytes}, {"data", data.Add(std::span(std::as_const(planes)))}};
}

void AddStretches(model::RecordedEvents& events, ViewNames& names, ViewData& data) {
  StretchColumns(events, names).AddTo(data);
}

}  // namespace jprof::reports
