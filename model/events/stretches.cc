#include "model/events/stretches.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "events/read/clock.h"
#include "events/read/trace.h"
#include "model/events/kernel_records.h"
#include "profile/files/layout.h"

namespace jprof::model {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMostDecision = 100'000;    // ns from a decision to the dispatch
constexpr uint64_t kClockWindow = 20'000'000;  // ns in which two clocks go alike

fs::path FolderIn(const std::string& directory) {
  return fs::path(directory) / profile::kEventsFolder / profile::kKernelFolder;
}

// What a thread id meant from a time on.
struct Life {
  uint64_t begin = 0;
  uint32_t thread = kNoThread;  // index
  uint32_t maker = kNoThread;   // the kernel's id of the thread that made it
};

class Loader {
 public:
  Loader(KernelRecords records, std::vector<std::string> counters) : records_(std::move(records)) {
    out_.counters = std::move(counters);
    out_.counters.resize(std::min(out_.counters.size(), kMostCounters));
    for (const auto& [tid, all] : records_.made) {
      for (const Making& one : all) lives_[tid].push_back({.begin = one.time, .maker = one.maker});
    }
  }

  Stretches Load(const events::TraceMetadata& clock) {
    MakeThreads();
    Sort();
    Wake();
    out_.start_ns = records_.first;
    const events::UnixTime unix_time = events::TimeOf(clock, records_.first);
    out_.start_unix_ns = static_cast<uint64_t>(unix_time.seconds) * 1'000'000'000 + unix_time.nanos;
    out_.duration = records_.last - records_.first;
    out_.processors = records_.processors;
    out_.records = records_.count;
    out_.has_calls = records_.has_calls;
    return std::move(out_);
  }

 private:
  // Returns the thread that an id meant at a time; makes it if it is the first one with this id.
  uint32_t ThreadAt(uint32_t tid, uint32_t process, uint64_t time) {
    std::vector<Life>& lives = lives_[tid];
    auto next = std::ranges::upper_bound(lives, time, {}, &Life::begin);
    if (next == lives.begin()) {  // it existed before the recording
      next = lives.insert(lives.begin(), Life{.begin = 0, .thread = kNoThread});
    } else {
      --next;
    }
    if (next->thread == kNoThread) {
      next->thread = static_cast<uint32_t>(out_.threads.size());
      out_.threads.push_back({.process = process,
                              .thread = tid,
                              .name = {},
                              .process_name = {},
                              .began = next->begin == 0 ? 0 : next->begin - records_.first,
                              .ended = records_.last - records_.first});
    }
    StretchThread& thread = out_.threads[next->thread];
    if (process != 0) thread.process = process;
    return next->thread;
  }

  void MakeThreads() {
    for (auto& [tid, lives] : lives_) std::ranges::sort(lives, {}, &Life::begin);
    for (PendingStretch& one : records_.stretches)
      one.stretch.begin = std::max(one.stretch.begin, records_.first);
    BeginAtDecisions();
    for (PendingStretch& one : records_.stretches) {
      Stretch& stretch = one.stretch;
      // The begin may be before the record of the thread's making; its end is not.
      stretch.thread = one.tid == 0 ? kNoThread : ThreadAt(one.tid, one.process, stretch.end);
      stretch.begin -= records_.first;
      stretch.end -= records_.first;
      stretch.ready = stretch.begin;
    }
    std::ranges::stable_sort(records_.names, {}, &NamedThread::time);
    for (NamedThread& name : records_.names) {
      if (name.tid != 0)
        out_.threads[ThreadAt(name.tid, name.process, name.time)].name = std::move(name.text);
    }
    for (const auto& [tid, times] : records_.exits) {
      for (const uint64_t time : times)
        out_.threads[ThreadAt(tid, 0, time)].ended = time - records_.first;
    }
    NameProcesses();
    out_.gaps = std::move(records_.gaps);
    for (Stretch& gap : out_.gaps) {
      gap.begin -= records_.first;
      gap.end -= records_.first;
    }
  }

  void NameProcesses() {
    std::unordered_map<uint32_t, std::string> names;
    for (const StretchThread& thread : out_.threads) {
      if (thread.thread == thread.process) names[thread.process] = thread.name;
    }
    for (StretchThread& thread : out_.threads) {
      thread.process_name = names[thread.process];
      if (const auto found = records_.parents.find(thread.process); found != records_.parents.end())
        thread.parent = found->second;
    }
  }

  // Orders threads by process and begin, and stretches by thread and time.
  void Sort() {
    std::vector<uint32_t> order(out_.threads.size()), rank(out_.threads.size());
    for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::sort(order, {}, [&](uint32_t i) {
      const StretchThread& thread = out_.threads[i];
      return std::tuple(thread.process, thread.thread != thread.process, thread.began,
                        thread.thread);
    });
    std::vector<StretchThread> threads;
    for (uint32_t i = 0; i < order.size(); ++i) {
      rank[order[i]] = i;
      threads.push_back(std::move(out_.threads[order[i]]));
    }
    out_.threads = std::move(threads);
    out_.interrupts = std::move(records_.interrupts);
    for (Interrupt& interrupt : out_.interrupts) {
      const uint32_t tid =
          records_.interrupted[static_cast<size_t>(&interrupt - out_.interrupts.data())];
      const uint32_t thread = tid != 0 ? KnownAt(tid, interrupt.begin) : kNoThread;
      if (thread != kNoThread) interrupt.thread = rank[thread];
      interrupt.begin -= records_.first;
    }
    for (auto& [tid, lives] : lives_) {
      for (Life& life : lives) {
        if (life.thread != kNoThread) life.thread = rank[life.thread];
      }
    }
    std::vector<size_t> by_thread(records_.stretches.size());
    for (size_t i = 0; i < by_thread.size(); ++i) by_thread[i] = i;
    for (PendingStretch& one : records_.stretches) {
      if (one.stretch.thread != kNoThread) one.stretch.thread = rank[one.stretch.thread];
    }
    std::ranges::stable_sort(by_thread, {}, [&](size_t i) {
      const Stretch& stretch = records_.stretches[i].stretch;
      return std::tuple(stretch.thread, stretch.thread == kNoThread ? stretch.processor : 0,
                        stretch.begin);
    });
    for (const size_t i : by_thread) {
      const Stretch& stretch = records_.stretches[i].stretch;
      if (stretch.thread == kNoThread) {
        out_.idle.push_back(stretch);
        continue;
      }
      StretchThread& thread = out_.threads[stretch.thread];
      if (thread.count++ == 0) thread.first = out_.stretches.size();
      out_.stretches.push_back(stretch);
      if (thread.count > 1 && records_.has_calls) ContinueCall(records_.stretches[i]);
      const auto counted = records_.counted[i].begin();
      out_.counted.insert(out_.counted.end(), counted,
                          counted + static_cast<ptrdiff_t>(out_.counters.size()));
    }
    records_.stretches = {};
  }

  // Moves the begin of each stretch, and the end of the one before it, to the kernel's decision,
  // from which on the kernel accounts the time: it is some microseconds before the dispatch. The
  // kernel's clock differs from that of the trace by the least difference of both nearby.
  void BeginAtDecisions() {
    std::vector<size_t> order;
    for (size_t i = 0; i < records_.stretches.size(); ++i) {
      if (records_.stretches[i].decided != 0) order.push_back(i);
    }
    std::ranges::sort(order, {}, [&](size_t i) { return records_.stretches[i].stretch.begin; });
    const auto begin_of = [&](size_t i) { return records_.stretches[i].stretch.begin; };
    const auto difference = [&](size_t i) {
      return static_cast<int64_t>(begin_of(i) - records_.stretches[i].decided);
    };
    std::vector<uint64_t> moves(records_.stretches.size(), 0);
    for (size_t first = 0; first < order.size();) {
      size_t end = first;
      const uint64_t window = begin_of(order[first]);
      int64_t least = std::numeric_limits<int64_t>::max();
      for (; end < order.size() && begin_of(order[end]) - window < kClockWindow; ++end)
        least = std::min(least, difference(order[end]));
      for (; first < end; ++first) {
        moves[order[first]] =
            static_cast<uint64_t>(difference(order[first])) - static_cast<uint64_t>(least);
      }
    }
    for (const size_t i : order) {
      if (moves[i] > kMostDecision) continue;  // of an earlier dispatch
      const uint64_t move = moves[i];
      const size_t before = records_.stretches[i].before;
      if (before == SIZE_MAX || records_.stretches[before].stretch.duration() < move) continue;
      records_.stretches[i].stretch.begin -= move;
      records_.stretches[before].stretch.end -= move;
    }
  }

  // Adds the time of a system call in which the thread's stretch before the last one ended.
  void ContinueCall(const PendingStretch& pending) {
    Stretch& last = out_.stretches.back();
    if (out_.stretches[out_.stretches.size() - 2].call < 0) return;
    const uint64_t end = pending.first_end != 0 ? pending.first_end - records_.first : last.end;
    if (pending.first_end != 0 || !pending.has_calls) last.kernel += end - last.begin;
  }

  // Finds, for each stretch, when its thread became ready: at the end of the one before if it was
  // preempted, else at the first wakeup in between.
  void Wake() {
    for (auto& [tid, wakeups] : records_.wakeups)
      std::ranges::stable_sort(wakeups, {}, &Wakeup::time);
    for (const StretchThread& thread : out_.threads) {
      const auto found = records_.wakeups.find(thread.thread);
      for (size_t i = thread.first; i < thread.first + thread.count; ++i) {
        Stretch& stretch = out_.stretches[i];
        const Stretch* before = i > thread.first ? &out_.stretches[i - 1] : nullptr;
        if (before != nullptr && before->state == StopState::kRunnable) {
          stretch.ready = before->end;
          continue;
        }
        if (before == nullptr && thread.began != 0) {  // the one that made it has made it ready
          stretch.ready = std::min(thread.began, stretch.begin);
          stretch.waker = MakerOf(thread);
          continue;
        }
        if (found == records_.wakeups.end()) continue;
        const uint64_t since = records_.first + (before != nullptr ? before->end : thread.began);
        // A thread may be woken before it is off the processor.
        const auto wakeup = std::ranges::lower_bound(
            found->second, before != nullptr ? records_.first + before->begin : since, {},
            &Wakeup::time);
        const auto in_between = std::find_if(wakeup, found->second.end(),
                                             [&](const Wakeup& one) { return one.time >= since; });
        const auto used =
            in_between != found->second.end() && in_between->time <= records_.first + stretch.begin
                ? in_between
                : wakeup;
        if (used == found->second.end() || used->time > records_.first + stretch.begin) continue;
        stretch.ready = std::max(used->time, since) - records_.first;
        stretch.waker = used->waker == kInterrupt || used->waker == kNoThread
                            ? used->waker
                            : KnownAt(used->waker, used->time);
      }
    }
  }

  uint32_t MakerOf(const StretchThread& thread) const {
    const uint64_t began = records_.first + thread.began;
    const auto& lives = lives_.at(thread.thread);
    const auto life = std::ranges::find(lives, began, &Life::begin);
    return life != lives.end() && life->maker != kNoThread ? KnownAt(life->maker, began)
                                                           : kNoThread;
  }

  // Returns the thread that an id meant at a time, or kNoThread.
  uint32_t KnownAt(uint32_t tid, uint64_t time) const {
    const auto found = lives_.find(tid);
    if (found == lives_.end()) return kNoThread;
    auto next = std::ranges::upper_bound(found->second, time, {}, &Life::begin);
    return next == found->second.begin() ? kNoThread : std::prev(next)->thread;
  }

  KernelRecords records_;
  std::unordered_map<uint32_t, std::vector<Life>> lives_;
  Stretches out_;
};

}  // namespace

std::vector<bool> Stretches::ThreadsBelow(uint32_t process) const {
  std::unordered_map<uint32_t, uint32_t> parents;
  for (const StretchThread& thread : threads) parents[thread.process] = thread.parent;
  std::vector<bool> below;
  for (const StretchThread& thread : threads) {
    uint32_t at = thread.process;
    // The limit ends the loop in damaged data.
    for (int steps = 0; at != process && at != 0 && steps < 1000; ++steps) at = parents[at];
    below.push_back(at == process);
  }
  return below;
}

bool HasKernelEvents(const std::string& directory) {
  std::error_code ignored;
  return fs::is_directory(FolderIn(directory), ignored);
}

Result<Stretches> LoadStretches(const std::string& directory) {
  const std::string folder = FolderIn(directory).string();
  auto trace = events::OpenTrace(folder);
  if (!trace) return std::unexpected(trace.error());
  KernelRecords records = ReadKernelRecords(*trace);
  if (records.first > records.last) return Fail("{}: has no events of the kernel", folder);
  if (records.misdated != 0)
    Complain(trace->damages, fmt::format("{}: {} records have times far from those of the others",
                                         folder, records.misdated));
  const events::TraceMetadata clock = events::ReadMetadata(folder);
  Stretches loaded = Loader(std::move(records), clock.counters).Load(clock);
  loaded.lost = trace->discarded;
  loaded.damages = trace->damages.what;
  return loaded;
}

}  // namespace jprof::model
