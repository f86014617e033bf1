#include "model/events/stretches.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "events/read/clock.h"
#include "events/read/trace.h"
#include "profile/files/printable_text.h"

namespace jprof::model {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostCounters = 4;
constexpr int64_t kMostDecision = 100'000;     // ns from a decision to the dispatch
constexpr uint64_t kClockWindow = 20'000'000;  // ns in which two clocks go alike
constexpr std::string_view kFolder = "events/kernel";

enum class Kind : uint8_t {
  kOther,
  kDispatch,
  kCounters,
  kInterruptBegin,
  kInterruptEnd,
  kWakeup,
  kFork,
  kName,
  kExit,
  kCallBegin,
  kCallEnd
};

struct KindRow {
  std::string_view name;
  Kind kind;
  std::vector<std::string_view> fields;  // what is read of it, in this order
};

const std::vector<KindRow>& KindRows() {
  static const std::vector<KindRow> rows = {
      {"kernel::processor::dispatch",
       Kind::kDispatch,
       {"processor", "previous_process", "previous_thread", "previous_state", "previous_context",
        "previous_instruction", "previous_call", "next_process", "next_thread", "decided"}},
      {"kernel::processor::counters",
       Kind::kCounters,
       {"processor", "counter_0", "counter_1", "counter_2", "counter_3"}},
      {"kernel::processor::interrupt_begin",
       Kind::kInterruptBegin,
       {"processor", "calling_context", "kind", "number"}},
      {"kernel::processor::interrupt_end", Kind::kInterruptEnd, {"processor"}},
      {"kernel::threads::wakeup", Kind::kWakeup, {"processor", "woken_thread", "by"}},
      {"kernel::threads::fork",
       Kind::kFork,
       {"processor", "new_process", "new_thread", "title", "process"}},
      {"kernel::threads::exec", Kind::kName, {"processor", "process", "thread", "title"}},
      {"kernel::threads::renamed", Kind::kName, {"processor", "process", "thread", "title"}},
      {"kernel::threads::exit", Kind::kExit, {"processor", "process", "thread", "title"}},
      {"kernel::calls::system_call_begin", Kind::kCallBegin, {"processor", "thread"}},
      {"kernel::calls::system_call_end", Kind::kCallEnd, {"processor", "thread"}},
  };
  return rows;
}

// How the fields of one event are found in its records, by the specification in the trace.
struct Decoder {
  Kind kind = Kind::kOther;
  std::array<int, 10> places = {};  // -1: a version without the field
};

Decoder DecoderOf(const events::KnownEvent& event) {
  const auto row = std::ranges::find(KindRows(), event.full_name, &KindRow::name);
  if (row == KindRows().end()) return {};
  Decoder decoder{.kind = row->kind};
  for (size_t i = 0; i < row->fields.size(); ++i) {
    const auto field = std::ranges::find(event.fields, row->fields[i], &events::Field::name);
    decoder.places[i] =
        field == event.fields.end() ? -1 : static_cast<int>(field - event.fields.begin());
  }
  return decoder;
}

// A thread that is ready to run.
struct Wakeup {
  uint64_t time;
  uint32_t waker;  // the kernel's id; kInterrupt
};

// What a thread id meant from a time on.
struct Life {
  uint64_t begin = 0;
  uint32_t thread = 0;  // index
};

struct PendingStretch {
  Stretch stretch;
  uint32_t process = 0, tid = 0;
  uint64_t first_end = 0;    // of a system call that had begun before it
  bool has_calls = false;    // a call began or ended in it
  uint64_t decided = 0;      // of its begin, by the kernel's own clock; 0 if it is not known
  size_t before = SIZE_MAX;  // the stretch before it on this processor
};

class Loader {
 public:
  Loader(events::Trace& trace, const events::TraceMetadata& clock) : trace_(trace), clock_(clock) {
    out_.counters = clock.counters;
    out_.counters.resize(std::min<size_t>(out_.counters.size(), kMostCounters));
    for (const auto& [id, event] : trace.events) decoders_[id] = DecoderOf(event);
  }

  Result<Stretches> Load() {
    events::VisitRecords(trace_, [this](const events::Record& record) { Add(record); });
    if (first_ > last_) return Fail("{}: has no events of the kernel", trace_.directory);
    for (uint32_t i = 0; i < processors_.size(); ++i) EndProcessor(i);
    MakeThreads();
    Sort();
    Wake();
    out_.start_ns = first_;
    const events::UnixTime unix_time = events::TimeOf(clock_, first_);
    out_.start_unix_ns = static_cast<uint64_t>(unix_time.seconds) * 1'000'000'000 + unix_time.nanos;
    out_.duration = last_ - first_;
    out_.processors = static_cast<uint32_t>(processors_.size());
    out_.lost = trace_.discarded;
    out_.damages = trace_.damages.what;
    return std::move(out_);
  }

 private:
  // The state of a processor while its records are read.
  struct Processor {
    bool known = false;  // whether it is known what runs
    uint64_t begin = 0;  // of the current stretch
    uint64_t first = 0, last = 0;
    uint32_t process = 0, tid = 0;
    uint64_t interrupts = 0;  // in the current stretch
    // System calls in it: of the current one and the sum; the end of one that had begun before.
    uint64_t call_since = 0, kernel = 0, first_end = 0;
    bool has_calls = false;
    uint64_t decided = 0;
    size_t before = SIZE_MAX;  // index of its last stretch
    int depth = 0;
    Interrupt interrupt;  // the outermost one
    std::array<uint64_t, kMostCounters> counted = {};
    // Interrupts of the stretches so far, and those before the first dispatch.
    std::vector<size_t> own_interrupts;
  };

  uint64_t Number(size_t field) const {
    const int place = decoder_->places[field];
    if (place < 0) return 0;
    const events::FieldValue& value = record_->values[static_cast<size_t>(place)];
    if (const auto* number = std::get_if<uint64_t>(&value)) return *number;
    if (const auto* number = std::get_if<int64_t>(&value)) return static_cast<uint64_t>(*number);
    return 0;
  }
  uint32_t Small(size_t field) const { return static_cast<uint32_t>(Number(field)); }
  std::string_view Text(size_t field) const {
    const int place = decoder_->places[field];
    if (place < 0) return {};
    const auto* text = std::get_if<std::string_view>(&record_->values[static_cast<size_t>(place)]);
    return text != nullptr ? *text : std::string_view();
  }

  void Add(const events::Record& record) {
    ++out_.records;
    const auto known = decoders_.find(record.event.id);
    if (known == decoders_.end() || known->second.kind == Kind::kOther) return;
    record_ = &record;
    decoder_ = &known->second;
    const uint32_t number = Small(0);
    constexpr uint32_t kMostProcessors = 1 << 16;  // what is more is damage
    if (number >= kMostProcessors) return;
    if (number >= processors_.size()) processors_.resize(number + 1);
    Processor& processor = processors_[number];
    const uint64_t time = record.ticks;
    if (processor.first == 0) processor.first = time;
    processor.last = std::max(processor.last, time);
    first_ = std::min(first_, time);
    last_ = std::max(last_, time);
    switch (decoder_->kind) {
      case Kind::kDispatch:
        return Dispatch(number, processor, time);
      case Kind::kCounters:
        for (size_t i = 0; i < processor.counted.size(); ++i) processor.counted[i] = Number(i + 1);
        return;
      case Kind::kInterruptBegin:
        return InterruptBegin(number, processor, time);
      case Kind::kInterruptEnd:
        return InterruptEnd(processor, time);
      case Kind::kWakeup:
        wakeups_[Small(1)].push_back({time, Small(2) != 0     ? kInterrupt
                                            : processor.known ? processor.tid
                                                              : kNoThread});
        return;
      case Kind::kFork:
        lives_[Small(2)].push_back({.begin = time});
        Name(Small(1), Small(2), time);
        if (Small(1) != Small(4)) parents_[Small(1)] = Small(4);
        return;
      case Kind::kExit:
        exits_[Small(2)].push_back(time);
        Name(Small(1), Small(2), time);
        return;
      case Kind::kName:
        Name(Small(1), Small(2), time);
        return;
      case Kind::kCallBegin:
        out_.has_calls = processor.has_calls = true;
        processor.call_since = time;
        return;
      case Kind::kCallEnd:
        // The first end without a begin is that of a call that began in an earlier stretch.
        if (processor.call_since == 0 && !processor.has_calls) processor.first_end = time;
        processor.has_calls = true;
        EndCall(processor, time);
        return;
      case Kind::kOther:
        return;
    }
  }

  void EndCall(Processor& processor, uint64_t time) {
    if (processor.call_since != 0) processor.kernel += time - processor.call_since;
    processor.call_since = 0;
  }

  void Name(uint32_t process, uint32_t tid, uint64_t time) {
    names_.emplace_back(tid, time, process, profile::CleanText(std::string(Text(3))));
  }

  void Dispatch(uint32_t number, Processor& processor, uint64_t time) {
    EndCall(processor, time);
    Stretch stretch = {.begin = processor.known ? processor.begin : 0,
                       .end = time,
                       .instruction = Number(5),
                       .interrupts = processor.interrupts,
                       .kernel = processor.kernel,
                       .context = Number(4),
                       .processor = number,
                       .call = static_cast<int32_t>(Number(6)),
                       .state = static_cast<StopState>(Number(3))};
    Finish(processor, stretch, Small(1), Small(2));
    processor.decided = Number(9);
    processor.known = true;
    processor.begin = time;
    processor.kernel = processor.first_end = 0;
    processor.has_calls = false;
  }

  // Adds a stretch, whose begin is 0 if it had begun before the recording.
  void Finish(Processor& processor, const Stretch& stretch, uint32_t process, uint32_t tid) {
    pending_.push_back({.stretch = stretch,
                        .process = process,
                        .tid = tid,
                        .first_end = processor.first_end,
                        .has_calls = processor.has_calls,
                        .decided = processor.decided,
                        .before = processor.before});
    processor.before = pending_.size() - 1;
    for (const size_t i : processor.own_interrupts) interrupts_of_[i] = tid;
    counted_.push_back(processor.counted);
    processor.own_interrupts.clear();
    processor.interrupts = 0;
    processor.depth = 0;
    processor.counted = {};
  }

  void InterruptBegin(uint32_t number, Processor& processor, uint64_t time) {
    if (processor.depth++ != 0) return;
    processor.interrupt = {.begin = time,
                           .context = Number(1),
                           .processor = number,
                           .number = Small(3),
                           .kind = static_cast<uint8_t>(Number(2))};
  }

  void InterruptEnd(Processor& processor, uint64_t time) {
    if (processor.depth == 0 || --processor.depth != 0) return;
    processor.interrupt.duration = time - processor.interrupt.begin;
    processor.interrupts += processor.interrupt.duration;
    processor.own_interrupts.push_back(out_.interrupts.size());
    out_.interrupts.push_back(processor.interrupt);
    interrupts_of_.push_back(0);
  }

  // Adds what still ran at the end.
  void EndProcessor(uint32_t number) {
    Processor& processor = processors_[number];
    if (!processor.known) return;
    const Stretch stretch = {.begin = processor.begin,
                             .end = last_,
                             .interrupts = processor.interrupts,
                             .processor = number,
                             .state = StopState::kRuns};
    Finish(processor, stretch, processor.process, processor.tid);
  }

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
                              .began = next->begin == 0 ? 0 : next->begin - first_,
                              .ended = last_ - first_});
    }
    StretchThread& thread = out_.threads[next->thread];
    if (process != 0) thread.process = process;
    return next->thread;
  }

  void MakeThreads() {
    for (auto& [tid, lives] : lives_) {
      std::ranges::sort(lives, {}, &Life::begin);
      for (Life& life : lives) life.thread = kNoThread;
    }
    BeginAtDecisions();
    for (PendingStretch& one : pending_) {
      Stretch& stretch = one.stretch;
      if (stretch.begin == 0) stretch.begin = first_;
      // The begin may be before the record of the thread's making; its end is not.
      stretch.thread = one.tid == 0 ? kNoThread : ThreadAt(one.tid, one.process, stretch.end);
      stretch.begin -= first_;
      stretch.end -= first_;
      stretch.ready = stretch.begin;
    }
    std::ranges::stable_sort(names_, {}, [](const auto& name) { return std::get<1>(name); });
    for (auto& [tid, time, process, text] : names_) {
      if (tid != 0) out_.threads[ThreadAt(tid, process, time)].name = std::move(text);
    }
    for (const auto& [tid, times] : exits_) {
      for (const uint64_t time : times) out_.threads[ThreadAt(tid, 0, time)].ended = time - first_;
    }
    NameProcesses();
  }

  void NameProcesses() {
    std::unordered_map<uint32_t, std::string> names;
    for (const StretchThread& thread : out_.threads) {
      if (thread.thread == thread.process) names[thread.process] = thread.name;
    }
    for (StretchThread& thread : out_.threads) {
      thread.process_name = names[thread.process];
      if (const auto found = parents_.find(thread.process); found != parents_.end())
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
    for (Interrupt& interrupt : out_.interrupts) {
      const uint32_t tid = interrupts_of_[static_cast<size_t>(&interrupt - out_.interrupts.data())];
      if (tid != 0) interrupt.thread = rank[ThreadAt(tid, 0, interrupt.begin)];
      interrupt.begin -= first_;
    }
    for (auto& [tid, lives] : lives_) {
      for (Life& life : lives) {
        if (life.thread != kNoThread) life.thread = rank[life.thread];
      }
    }
    std::vector<size_t> by_thread(pending_.size());
    for (size_t i = 0; i < by_thread.size(); ++i) by_thread[i] = i;
    for (PendingStretch& one : pending_) {
      if (one.stretch.thread != kNoThread) one.stretch.thread = rank[one.stretch.thread];
    }
    std::ranges::stable_sort(by_thread, {}, [&](size_t i) {
      const Stretch& stretch = pending_[i].stretch;
      return std::tuple(stretch.thread, stretch.thread == kNoThread ? stretch.processor : 0,
                        stretch.begin);
    });
    for (const size_t i : by_thread) {
      const Stretch& stretch = pending_[i].stretch;
      if (stretch.thread == kNoThread) {
        out_.idle.push_back(stretch);
        continue;
      }
      StretchThread& thread = out_.threads[stretch.thread];
      if (thread.count++ == 0) thread.first = out_.stretches.size();
      out_.stretches.push_back(stretch);
      if (thread.count > 1 && out_.has_calls) ContinueCall(pending_[i]);
      const auto counted = counted_[i].begin();
      out_.counted.insert(out_.counted.end(), counted,
                          counted + static_cast<ptrdiff_t>(out_.counters.size()));
    }
    pending_ = {};
  }

  // Moves the begin of each stretch, and the end of the one before it, to the kernel's decision,
  // from which on the kernel accounts the time: it is some microseconds before the dispatch. The
  // kernel's clock differs from that of the trace by the least difference of both nearby.
  void BeginAtDecisions() {
    std::vector<size_t> order;
    for (size_t i = 0; i < pending_.size(); ++i) {
      if (pending_[i].decided != 0) order.push_back(i);
    }
    std::ranges::sort(order, {}, [&](size_t i) { return pending_[i].stretch.begin; });
    const auto difference = [&](size_t i) {
      return static_cast<int64_t>(pending_[i].stretch.begin - pending_[i].decided);
    };
    std::vector<int64_t> moves(pending_.size(), 0);
    for (size_t first = 0; first < order.size();) {
      size_t end = first;
      const uint64_t until = pending_[order[first]].stretch.begin + kClockWindow;
      int64_t least = std::numeric_limits<int64_t>::max();
      for (; end < order.size() && pending_[order[end]].stretch.begin < until; ++end)
        least = std::min(least, difference(order[end]));
      for (; first < end; ++first) moves[order[first]] = difference(order[first]) - least;
    }
    for (const size_t i : order) {
      if (moves[i] > kMostDecision) continue;  // of an earlier dispatch
      const auto move = static_cast<uint64_t>(moves[i]);
      const size_t before = pending_[i].before;
      if (before == SIZE_MAX || pending_[before].stretch.duration() < move) continue;
      pending_[i].stretch.begin -= move;
      pending_[before].stretch.end -= move;
    }
  }

  // Adds the time of a system call in which the thread's stretch before the last one ended.
  void ContinueCall(const PendingStretch& pending) {
    Stretch& last = out_.stretches.back();
    if (out_.stretches[out_.stretches.size() - 2].call < 0) return;
    const uint64_t end = pending.first_end != 0 ? pending.first_end - first_ : last.end;
    if (pending.first_end != 0 || !pending.has_calls) last.kernel += end - last.begin;
  }

  // Finds, for each stretch, when its thread became ready: at the end of the one before if it was
  // preempted, else at the first wakeup in between.
  void Wake() {
    for (auto& [tid, wakeups] : wakeups_) std::ranges::stable_sort(wakeups, {}, &Wakeup::time);
    for (const StretchThread& thread : out_.threads) {
      const auto found = wakeups_.find(thread.thread);
      for (size_t i = thread.first; i < thread.first + thread.count; ++i) {
        Stretch& stretch = out_.stretches[i];
        const Stretch* before = i > thread.first ? &out_.stretches[i - 1] : nullptr;
        if (before != nullptr && before->state == StopState::kRunnable) {
          stretch.ready = before->end;
          continue;
        }
        if (found == wakeups_.end()) continue;
        const uint64_t since = first_ + (before != nullptr ? before->end : thread.began);
        // A thread may be woken before it is off the processor.
        const auto wakeup = std::ranges::lower_bound(
            found->second, before != nullptr ? first_ + before->begin : since, {}, &Wakeup::time);
        const auto in_between = std::find_if(wakeup, found->second.end(),
                                             [&](const Wakeup& one) { return one.time >= since; });
        const auto used =
            in_between != found->second.end() && in_between->time <= first_ + stretch.begin
                ? in_between
                : wakeup;
        if (used == found->second.end() || used->time > first_ + stretch.begin) continue;
        stretch.ready = std::max(used->time, since) - first_;
        stretch.waker = used->waker == kInterrupt || used->waker == kNoThread
                            ? used->waker
                            : WakerAt(used->waker, used->time);
      }
    }
  }

  uint32_t WakerAt(uint32_t tid, uint64_t time) const {
    const auto found = lives_.find(tid);
    if (found == lives_.end()) return kNoThread;
    auto next = std::ranges::upper_bound(found->second, time, {}, &Life::begin);
    return next == found->second.begin() ? kNoThread : std::prev(next)->thread;
  }

  events::Trace& trace_;
  const events::TraceMetadata& clock_;
  std::unordered_map<uint32_t, Decoder> decoders_;
  const events::Record* record_ = nullptr;
  const Decoder* decoder_ = nullptr;
  std::vector<Processor> processors_;
  std::vector<PendingStretch> pending_;
  std::vector<std::array<uint64_t, kMostCounters>> counted_;
  std::vector<uint32_t> interrupts_of_;  // the kernel's id of the thread, for each interrupt
  std::unordered_map<uint32_t, std::vector<Wakeup>> wakeups_;
  std::unordered_map<uint32_t, std::vector<Life>> lives_;
  std::unordered_map<uint32_t, std::vector<uint64_t>> exits_;
  std::unordered_map<uint32_t, uint32_t> parents_;  // of processes
  std::vector<std::tuple<uint32_t, uint64_t, uint32_t, std::string>> names_;
  uint64_t first_ = std::numeric_limits<uint64_t>::max(), last_ = 0;
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
  return fs::exists(fs::path(directory) / kFolder / "metadata", ignored);
}

Result<Stretches> LoadStretches(const std::string& directory) {
  const std::string folder = (fs::path(directory) / kFolder).string();
  auto trace = events::OpenTrace(folder);
  if (!trace) return std::unexpected(trace.error());
  const events::TraceMetadata clock = events::ReadMetadata(folder);
  return Loader(*trace, clock).Load();
}

}  // namespace jprof::model
