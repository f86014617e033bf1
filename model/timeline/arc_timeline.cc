#include "model/timeline/arc_timeline.h"

#include <algorithm>
#include <unordered_map>

#include "model/itrace/arc_contexts.h"

namespace jprof::model {
namespace {

using profile::Branch;
using profile::BranchKind;

constexpr uint64_t kCounterNanos = 10'000;  // between two values of a counter, at least

uint64_t KeyOf(const Track& track) {
  return profile::ThreadKey(static_cast<uint32_t>(track.pid), track.tid);
}

class ArcVisit {
 public:
  // Requires that the track of a thread's counter follows that of the thread.
  ArcVisit(ArcRecording& arcs, const std::vector<Track>& tracks, const Timeline::OnEvent& on_event)
      : arcs_(arcs), on_event_(on_event) {
    for (uint32_t i = 0; i < tracks.size(); ++i) {
      if (tracks[i].kind != Track::Kind::kThread) continue;
      places_[KeyOf(tracks[i])] = threads_.size();
      threads_.push_back({.track = i, .counter = i + 1});
    }
  }

  Visited Make() {
    ArcCode& code = *arcs_.code;
    ArcWalk walk([&code](uint32_t pid, uint64_t address,
                         uint64_t time) { return code.At(pid, address, time); },
                 {}, [this](const StackChange& change) { Change(change); });
    arcs_.branches.ForEach([&](const Branch& branch) {
      if (going_) Add(branch, walk);
    });
    for (Thread& thread : threads_) {
      Close(thread);
      if (!thread.is_counted) WriteCounter(thread);
    }
    return Describe(walk.Take());
  }

 private:
  struct Thread {
    uint32_t track = 0, counter = 0;
    uint64_t ns = 0;
    uint64_t open = 0;  // slices
    uint64_t instructions = 0;
    uint64_t next_count_ns = 0;  // the counter has no other value before
    bool is_counted = false;     // the counter's value is `instructions`
  };

  void Add(const Branch& branch, ArcWalk& walk) {
    Thread& thread = ThreadOf(branch);
    // If the end of the trace before this one is missing, slices end where their records do.
    if (branch.kind == BranchKind::kBegin) Close(thread);
    thread.ns = std::max(thread.ns, branch.time_ns);
    if (branch.kind == BranchKind::kSignal) Visit(thread.track, Instant{"signal"});
    walk.Add(branch);
    if (branch.kind == BranchKind::kSystemCall) Visit(thread.track, Instant{"system call"});
    thread.instructions += branch.instructions;
    thread.is_counted = false;
    if (thread.ns >= thread.next_count_ns) WriteCounter(thread);
  }

  Thread& ThreadOf(const Branch& branch) {
    const uint64_t key = profile::ThreadKey(branch.pid, branch.tid);
    if (thread_ == nullptr || key != key_) thread_ = &threads_[places_.at(key)];
    key_ = key;
    return *thread_;
  }

  void Visit(uint32_t track, const TimelineEvent::What& what) {
    if (going_) going_ = on_event_({.track = track, .ns = thread_->ns, .what = what});
  }

  void Change(const StackChange& change) {
    if (change.kind == StackChange::Kind::kEnd) {
      if (thread_->open == 0) return;  // Close has ended it
      --thread_->open;
      return Visit(thread_->track, SliceEnd());
    }
    const bool is_call = change.kind == StackChange::Kind::kCall;
    const ArcFunction& function = arcs_.code->functions()[change.function];
    ++thread_->open;
    moved_ += !is_call;
    Visit(thread_->track, SliceBegin{.name = change.function,
                                     .text = function.name,
                                     .type = function.letter,
                                     .counts_call = is_call});
  }

  // Ends the slices of the thread that have no end in the recording.
  void Close(Thread& thread) {
    thread_ = &thread;
    open_ += thread.open;
    for (; thread.open > 0; --thread.open) Visit(thread.track, SliceEnd());
  }

  void WriteCounter(Thread& thread) {
    thread_ = &thread;
    thread.next_count_ns = thread.ns + kCounterNanos;
    thread.is_counted = true;
    Visit(thread.counter, CounterValue{thread.instructions});
  }

  Visited Describe(const ArcTrace& trace) const {
    std::vector<std::string> notes = {
        "time: CLOCK_MONOTONIC, read where the tracer stopped the thread (system calls, signals, "
        "about every 100,000 branches); in between, times are estimates",
        "instructions: those that the thread has executed, a value at most every 10 us"};
    const auto count = [&](uint64_t number, const char* what) {
      if (number > 0) notes.push_back(fmt::format("{} {}", number, what));
    };
    count(moved_, "slices count no call: execution came into the middle of the function");
    count(open_, "calls had not returned: they end with the trace of their thread");
    return {std::move(notes), DescribeRun(arcs_, trace)};
  }

  ArcRecording& arcs_;
  const Timeline::OnEvent& on_event_;
  std::vector<Thread> threads_;
  std::unordered_map<uint64_t, size_t> places_;  // in threads_, by ThreadKey
  uint64_t key_ = 0;
  Thread* thread_ = nullptr;  // that of the event
  uint64_t moved_ = 0;        // slices that count no call
  uint64_t open_ = 0;         // slices without an end in the recording
  bool going_ = true;
};

class ArcTimeline : public Timeline {
 public:
  explicit ArcTimeline(ArcRecording& arcs)
      : Timeline(ClockId::kMonotonic, arcs.branches.header().start_ns,
                 arcs.branches.header().start_unix_ns),
        arcs_(arcs) {
    std::unordered_map<uint32_t, uint32_t> processes;
    for (const auto& [pid, tid] : arcs.branches.Threads()) {
      const auto [process, is_new] = processes.try_emplace(pid);
      if (is_new) process->second = AddTrack({.name = arcs.recording.meta.command, .pid = pid});
      const uint32_t thread = AddTrack({.kind = Track::Kind::kThread,
                                        .name = ThreadName(arcs, tid),
                                        .pid = pid,
                                        .tid = tid,
                                        .parent = process->second});
      AddTrack({.kind = Track::Kind::kCounter,
                .name = "instructions",
                .pid = pid,
                .tid = tid,
                .parent = thread});
    }
  }

  Result<Visited> Visit(const OnEvent& on_event) override {
    return ArcVisit(arcs_, tracks(), on_event).Make();
  }

 private:
  ArcRecording& arcs_;
};

}  // namespace

Result<std::unique_ptr<Timeline>> OpenTimeline(ArcRecording& arcs) {
  return std::make_unique<ArcTimeline>(arcs);
}

}  // namespace jprof::model
