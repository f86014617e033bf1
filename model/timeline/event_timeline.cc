#include "model/timeline/event_timeline.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "model/events/stretch_sums.h"
#include "model/events/waits.h"

namespace jprof::model {
namespace {

constexpr size_t kFrames = 3;  // of a context in the name of a slice

class EventTimeline final : public Timeline {
 public:
  explicit EventTimeline(RecordedEvents events)
      : Timeline(ClockId::kMonotonic, events.stretches.start_ns, events.stretches.start_unix_ns),
        events_(std::move(events)),
        reasons_(events_.stretches, events_.names, events_.jvms) {
    AddTrack({.name = "processors", .pid = 0});
    for (uint32_t i = 0; i < events_.stretches.processors; ++i) {
      AddTrack({.kind = Track::Kind::kThread,
                .name = fmt::format("processor {}", i),
                .pid = 0,
                .tid = i + 1});
    }
    uint32_t process = 0;
    for (const StretchThread& thread : events_.stretches.threads) {
      if (thread.count == 0) {
        tracks_of_.push_back(0);
        continue;
      }
      if (process == 0 || tracks()[process].pid != thread.process)
        process = AddTrack({.name = thread.process_name, .pid = thread.process});
      tracks_of_.push_back(AddTrack({.kind = Track::Kind::kThread,
                                     .name = thread.name,
                                     .pid = thread.process,
                                     .tid = thread.thread,
                                     .parent = process}));
    }
    marks_of_.resize(tracks_of_.size());
    for (const Mark& mark : events_.marks) {
      if (mark.thread != kNoThread) marks_of_[mark.thread].push_back(&mark);
    }
  }

  Result<Visited> Visit(const OnEvent& on_event) override {
    on_event_ = &on_event;
    going_ = true;
    VisitProcessors();
    for (uint32_t i = 0; i < tracks_of_.size() && going_; ++i) {
      if (tracks_of_[i] != 0) VisitThread(i);
    }
    Visited visited;
    visited.notes.push_back("times: CLOCK_MONOTONIC; events of the kernel");
    if (events_.stretches.lost != 0)
      visited.notes.push_back(fmt::format("{} events were lost", events_.stretches.lost));
    visited.run.command = events_.meta.command;
    visited.run.start_unix_ns = events_.stretches.start_unix_ns;
    visited.run.duration_ns = events_.stretches.duration;
    return visited;
  }

 private:
  void Slice(uint32_t track, uint64_t begin, uint64_t end, char type, const std::string& text) {
    if (!going_ || end <= begin) return;
    const auto [known, added] = texts_.try_emplace(text, static_cast<uint32_t>(texts_.size()));
    VisitMarks(track, begin);
    VisitOne(track, begin, SliceBegin{.name = known->second, .text = known->first, .type = type});
    VisitMarks(track, end);
    VisitOne(track, end, SliceEnd());
  }

  // Visits the thread's marks before this time that are still to come.
  void VisitMarks(uint32_t track, uint64_t until) {
    for (; next_mark_ != end_mark_ && (*next_mark_)->time < until; ++next_mark_)
      VisitOne(track, (*next_mark_)->time, Instant{.name = (*next_mark_)->text});
  }

  void VisitOne(uint32_t track, uint64_t time, TimelineEvent::What what) {
    if (going_)
      going_ = (*on_event_)({.track = track, .ns = start_ns() + time, .what = std::move(what)});
  }

  void VisitProcessors() {
    std::vector<const Stretch*> order;
    for (const Stretch& stretch : events_.stretches.stretches) order.push_back(&stretch);
    std::ranges::sort(order, {},
                      [](const Stretch* one) { return std::tuple(one->processor, one->begin); });
    for (const Stretch* one : order)
      Slice(1 + one->processor, one->begin, one->end, 'R', events_.ThreadName(one->thread));
  }

  void VisitThread(uint32_t index) {
    const StretchThread& thread = events_.stretches.threads[index];
    const uint32_t track = tracks_of_[index];
    size_t next = thread.first;
    next_mark_ = marks_of_[index].data();
    end_mark_ = next_mark_ + marks_of_[index].size();
    const auto run = [&](const Stretch& stretch) {
      Slice(track, stretch.begin, stretch.end, 'R',
            fmt::format("runs on processor {}", stretch.processor));
    };
    VisitGaps(events_.stretches, thread, [&](const Gap& gap) {
      for (; &events_.stretches.stretches[next] <= gap.before; ++next)
        run(events_.stretches.stretches[next]);
      Slice(track, gap.before->end, gap.ready, 'W', WaitText(*gap.before));
      Slice(track, gap.ready, gap.end, 'r', "ready");
    });
    for (; next < thread.first + thread.count; ++next) run(events_.stretches.stretches[next]);
    VisitMarks(track, UINT64_MAX);
  }

  std::string WaitText(const Stretch& stretch) {
    const uint32_t process = events_.stretches.threads[stretch.thread].process;
    const WaitReason reason = reasons_.Of(stretch);
    std::string path = events_.names.PathOf(process, stretch.context, NameForm::kShort, kFrames);
    if (path.empty() && stretch.call >= 0) path = SystemCallName(stretch.call);
    return fmt::format("{}{}{}", NameOf(reason), path.empty() ? "" : ": ", path);
  }

  RecordedEvents events_;
  WaitReasons reasons_;
  std::vector<uint32_t> tracks_of_;  // by thread; 0 if it has none
  std::unordered_map<std::string, uint32_t> texts_;
  std::vector<std::vector<const Mark*>> marks_of_;  // by thread
  // Those of the thread whose track is visited that are still to come.
  const Mark* const* next_mark_ = nullptr;
  const Mark* const* end_mark_ = nullptr;
  const OnEvent* on_event_ = nullptr;
  bool going_ = true;
};

}  // namespace

std::unique_ptr<Timeline> TimelineOf(RecordedEvents events) {
  return std::make_unique<EventTimeline>(std::move(events));
}

}  // namespace jprof::model
