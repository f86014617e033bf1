#include "jprof/agent/sampling.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <ranges>
#include <utility>

#include "common/blocked_signals.h"
#include "common/errno_text.h"
#include "common/monotonic.h"
#include "jprof/agent/flush.h"
#include "jprof/agent/frame_names.h"
#include "jprof/agent/sampled_thread.h"
#include "jprof/agent/say.h"
#include "jprof/engine/samples.h"
#include "ptm/sampler.h"

namespace jprof::agent {
namespace {

constexpr int kTimerSignal = SIGPROF;
constexpr int kAskSignal = SIGVTALRM;     // sent by the sampling thread
constexpr uint32_t kMostAskedATick = 32;  // so that many idle threads do not cost more than few
constexpr int kTickMs = 10;  // of the sampling thread, when nothing asks for a shorter one
constexpr uint64_t kRefreshNs = 200'000'000;  // new modules are looked for at most so often

Sampling* sampling = nullptr;

uint64_t Now() { return static_cast<uint64_t>(MonotonicNanos()); }

constexpr uint64_t kSecond = 1'000'000'000, kNever = ~uint64_t{0};

void SleepUntil(uint64_t ns) {
  const timespec until = {static_cast<time_t>(ns / kSecond), static_cast<long>(ns % kSecond)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
  }
}
void Sleep(uint64_t milliseconds) { SleepUntil(Now() + milliseconds * 1'000'000); }

unwind::StackBounds StackOfThisThread() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return {};
  void* low = nullptr;
  size_t bytes = 0;
  pthread_attr_getstack(&attributes, &low, &bytes);
  pthread_attr_destroy(&attributes);
  const auto start = reinterpret_cast<uint64_t>(low);
  return {start, start + bytes};
}

// The executable part of the module that `address` lies in.
struct CodeRange {
  uint64_t address, start = 0, end = 0;
};
CodeRange CodeAround(uint64_t address) {
  CodeRange range{address};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto* wanted = static_cast<CodeRange*>(data);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& part = info->dlpi_phdr[i];
          const uint64_t start = info->dlpi_addr + part.p_vaddr, end = start + part.p_memsz;
          if (part.p_type != PT_LOAD || !(part.p_flags & PF_X)) continue;
          if (wanted->address < start || wanted->address >= end) continue;
          wanted->start = start;
          wanted->end = end;
          return 1;
        }
        return 0;
      },
      &range);
  return range;
}

// While it is held no sample interrupts the calling thread.
struct NoSamples : BlockedSignals {
  NoSamples() : BlockedSignals({kTimerSignal, kAskSignal}) {}
};

Result<void> Install(int number, void (*handler)(int, siginfo_t*, void*)) {
  struct sigaction old = {}, action = {};
  sigaction(number, nullptr, &old);
  if ((old.sa_flags & SA_SIGINFO) != 0 ||
      (old.sa_handler != SIG_DFL && old.sa_handler != SIG_IGN)) {
    return Fail("something else in this process uses signal {} already: only one profiler can",
                number);
  }
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigfillset(&action.sa_mask);
  for (const int fault : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP})
    sigdelset(&action.sa_mask, fault);
  if (sigaction(number, &action, nullptr) != 0)
    return Fail("cannot handle signal {}: {}", number, ErrnoText());
  return {};
}

// A thread of the profiler's own, which no signal of the program's is for.
bool StartThread(const char* name, void* (*run)(void*), void* argument) {
  pthread_t thread;
  const BlockedSignals blocked;
  const bool started = pthread_create(&thread, nullptr, run, argument) == 0;
  if (!started) return false;
  pthread_setname_np(thread, name);
  pthread_detach(thread);
  return true;
}

// Null: it is not sampled, or not any more.
SampledThread* Of(const engine::Thread& thread) {
  auto* sampled = static_cast<SampledThread*>(thread.extension.load());
  return sampled != nullptr && !sampled->ended ? sampled : nullptr;
}

// Its samples, or some of them, do not come: the report says so, and why.
void NotSampled(engine::Thread& thread, int error) {
  const uint32_t flags = profile::kThreadNotSampled | profile::FlagsOfError(error);
  __atomic_fetch_or(&thread.record->flags, flags, __ATOMIC_RELAXED);
}

}  // namespace

Result<Sampling*> Sampling::Open(const AgentOptions& options, const hotspot::VmStructs& structs,
                                 engine::Session* session) {
  auto* made = new Sampling;
  made->options_ = options;
  made->triggers_ = options.triggers;
  made->session_ = session;
  made->in_tree_ = options.mode == Mode::kCalltree;
  for (const Trigger& trigger : made->triggers_) {
    const auto metrics = MetricsOf(trigger);
    made->metric_of_.push_back(made->metric_count_);
    made->weighted_.push_back(metrics.front().is_weighted());
    made->metric_count_ += static_cast<uint32_t>(metrics.size());
    ptm::ThreadSampling timer = {ptm::CpuClock(), trigger.every, kTimerSignal,
                                 !options.java_only && !made->in_tree_, options.timer};
    if (trigger.kind == TriggerKind::kEvent) {
      auto event = ptm::DecodeMetric(trigger.event);
      if (!event) return std::unexpected(event.error());
      timer.event = *std::move(event);
    } else if (trigger.kind != TriggerKind::kTime) {
      continue;
    }
    if (options.timer == ptm::TimerSource::kPerf && trigger.kind == TriggerKind::kTime) {
      if (const auto there = ptm::CheckThreadSampling(timer); !there)
        return WrongUse("TIMER=PERF: {}; or use TIMER=POSIX", there.error().message);
    }
    made->trigger_of_timer_.push_back(static_cast<uint32_t>(made->metric_of_.size() - 1));
    made->timers_.push_back(std::move(timer));
  }
  if (auto read = made->unwinder_.Refresh(); !read && !options.java_only)
    return std::unexpected(read.error());
  auto walker = hotspot::StackWalker::Open(structs, made->unwinder_);
  if (!walker) return std::unexpected(walker.error());
  made->walker_ = std::make_unique<hotspot::StackWalker>(*walker);
  const CodeRange own = CodeAround(reinterpret_cast<uint64_t>(&Sampling::OnSignal));
  made->own_start_ = own.start;
  made->own_end_ = own.end;
  for (const int number : {kTimerSignal, kAskSignal}) {
    if (auto installed = Install(number, OnSignal); !installed)
      return std::unexpected(installed.error());
  }
  sampling = made;
  return made;
}

SampledThread* Sampling::Here() const {
  const engine::Thread* thread = engine::current_thread;
  return thread != nullptr ? Of(*thread) : nullptr;
}

void Sampling::AddThread(JNIEnv* jni) {
  engine::Thread* thread = engine::current_thread;
  if (thread == nullptr || thread->record == nullptr || thread->extension != nullptr) return;
  void* memory = mmap(nullptr, sizeof(SampledThread), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return NotSampled(*thread, errno);
  const NoSamples guard;
  auto* sampled = new (memory) SampledThread;
  sampled->stack = StackOfThisThread();
  thread->vm_thread = walker_->VmThreadOf(jni);
  if (const int error = OpenTimers(*sampled); error != 0) NotSampled(*thread, error);
  // Start sees it, or we see that it began.
  thread->extension = sampled;
  SetTimers(*sampled);
}

// Answers an errno; 0: all are open.
int Sampling::OpenTimers(SampledThread& sampled) {
  const uint64_t random = static_cast<uint64_t>(ptm::ReadTsc()) * 0x9e3779b97f4a7c15ull >> 20;
  int failed = 0;
  for (size_t i = 0; i < timers_.size(); ++i) {
    const int error = sampled.timers[i].Open(timers_[i], random);
    if (error == 0) continue;
    failed = error;
    if (!timers_failed_.exchange(true)) {
      Say(fmt::format("cannot sample by {}: {}", timers_[i].event.name, ErrnoText(error)));
    }
  }
  return failed;
}

// They run while samples are taken.
void Sampling::SetTimers(SampledThread& sampled) {
  std::lock_guard guard(sampled.timers_lock);
  if (sampled.ended) return;
  for (ptm::ThreadSampler& timer : sampled.timers) running() ? timer.Start() : timer.Stop();
}

void Sampling::SetAllTimers() {
  session_->ForEachThread([&](engine::Thread& thread) {
    if (SampledThread* sampled = Of(thread)) SetTimers(*sampled);
  });
}

void Sampling::RemoveThread() {
  SampledThread* sampled = Here();
  if (sampled == nullptr) return;
  const NoSamples guard;
  std::lock_guard timers(sampled->timers_lock);
  sampled->ended = true;
  for (ptm::ThreadSampler& timer : sampled->timers) timer.Close();
  for (const SampledThread::VirtualRow& row : sampled->virtual_rows) {
    if (row.timeline.record != nullptr) row.timeline.record->state = profile::kThreadEnded;
  }
}

void Sampling::Start() {
  std::lock_guard guard(control_);
  ++starts_;
  gate_.Open();  // first: a thread that comes now starts its own timers
  SetAllTimers();
}

void Sampling::Stop() {
  std::lock_guard guard(control_);
  gate_.Close();
  SetAllTimers();
}

uint64_t Sampling::samples() const {
  uint64_t sum = 0;
  const profile::ControlHeader* header = session_->writer().header();
  for (uint32_t i = 0; i < header->thread_count; ++i)
    sum += session_->writer().ThreadAt(i)->samples;
  return sum;
}

void Sampling::OnSignal(int number, siginfo_t* info, void* context) {
  const int saved = errno;
  sampling->Handle(number, *info, context);
  errno = saved;
}

void Sampling::Handle(int number, const siginfo_t& info, const void* context) {
  engine::Thread* thread = engine::current_thread;
  SampledThread* sampled = thread != nullptr ? Of(*thread) : nullptr;
  if (sampled == nullptr) return;
  const SampleGate::Pass pass(gate_, sampled->passage);
  const int64_t begin = ptm::ReadTsc();
  if (number == kAskSignal) {
    if (info.si_code == SI_QUEUE && pass.allowed()) TakeDue(*thread, context);
  } else {
    TakeTicks(*thread, info, context, pass.allowed());
  }
  if (!pass.allowed()) return;
  thread->record->sampling_ticks += static_cast<uint64_t>(ptm::ReadTsc() - begin);
}

// What events of the JVM asked for.
void Sampling::TakeDue(engine::Thread& thread, const void* context) {
  SampledThread& sampled = *Of(thread);
  for (size_t i = 0; i < triggers_.size(); ++i) {
    if (const uint32_t due = sampled.due[i].exchange(0))
      TakeStack(thread, i, due, context, nullptr);
  }
}

void Sampling::TakeTicks(engine::Thread& thread, const siginfo_t& info, const void* context,
                         bool allowed) {
  SampledThread& sampled = *Of(thread);
  for (size_t i = 0; i < timers_.size(); ++i) {
    const int64_t periods = sampled.timers[i].Take(info);
    if (periods == 0 || !allowed) continue;
    if (in_tree_) {
      ChargeCurrent(thread, trigger_of_timer_[i], periods, unwind::OfSignal(context).pc);
    } else {
      TakeTimed(thread, i, periods, context);
    }
  }
}

// Where a walk takes longer than a period, the next signal waits when the handler returns, and the
// program would never get on. So it gets as long as the last walk took; what falls due meanwhile is
// added to the sample after it.
void Sampling::TakeTimed(engine::Thread& thread, size_t timer, int64_t periods,
                         const void* context) {
  SampledThread& sampled = *Of(thread);
  sampled.put_off[timer] += periods;
  const int64_t begin = ptm::ReadTsc();
  if (begin < sampled.rest_until) return;
  TakeStack(thread, trigger_of_timer_[timer], std::exchange(sampled.put_off[timer], 0), context,
            &sampled.timers[timer]);
  const int64_t end = ptm::ReadTsc();
  sampled.rest_until = end + (end - begin);
}

// The time goes to the method that the recorded tree says is running; what the probes themselves
// took is dropped.
void Sampling::ChargeCurrent(engine::Thread& thread, size_t index, int64_t weight, uint64_t pc) {
  if (IsOwn(pc) || thread.cursor.top == nullptr) {
    thread.record->samples_own += weight;
    return;
  }
  engine::AddToMetric(thread, thread.cursor.top[-1].node, metric_of_[index], weight, metric_count_);
  thread.record->samples += weight;
}

void Sampling::TakeStack(engine::Thread& thread, size_t index, int64_t weight, const void* context,
                         ptm::ThreadSampler* timer) {
  const engine::TreeInUse tree(thread);
  profile::ThreadRecord& record = *thread.record;
  if (!tree.Outermost()) {
    record.samples_lost += weight;
    return;
  }
  SampledThread& sampled = *Of(thread);
  if (!session_->HandleAttention(thread)) return;
  if (std::exchange(sampled.last_forgets, thread.forgets) != thread.forgets) sampled.last.Forget();
  if (IsOwn(unwind::OfSignal(context).pc)) {
    record.samples_own += weight;
    return;
  }
  size_t used = 0;
  if (timer != nullptr && !options_.java_only) {
    const size_t frames = timer->KernelFrames(sampled.kernel, kMostKernelFrames);
    if (frames != 0) kernel_wanted_.store(true, std::memory_order_relaxed);
    for (size_t i = 0; i < frames; ++i) {
      if (const uint32_t word = KernelWord(thread, kernel_, sampled.kernel[i]); word != 0)
        sampled.words[used++] = word;
    }
  }
  ThreadNames names(thread, session_->source(), unwinder_);
  const hotspot::StackWalk walk =
      walker_->WalkSignal(context, sampled.stack, thread.vm_thread, names, sampled.last);
  engine::Timeline& timeline = walk.is_virtual ? VirtualRow(thread) : thread.timeline;
  const bool same = sampled.last_timeline == &timeline && sampled.last_folded == timeline.folded;
  const uint32_t kept = same && engine::MayGoOn(thread, timeline) ? walk.kept : 0;
  profile::Node* node =
      ContextOf(thread, timeline, walk.in_heap, sampled.last.frames(), kept, used);
  sampled.last_timeline = &timeline;
  sampled.last_folded = timeline.folded;
  Add(thread, timeline, walk, node, index, weight);
}

void Sampling::TakeHere(size_t index, int64_t weight, const char* class_signature) {
  engine::Thread* thread = engine::current_thread;
  SampledThread* here = Here();
  if (here == nullptr) return;
  SampledThread& sampled = *here;
  const SampleGate::Pass pass(gate_, sampled.passage);
  if (!pass.allowed()) return;
  const engine::TreeInUse tree(*thread);
  if (!tree.Outermost() || !session_->HandleAttention(*thread)) return;
  size_t used = 0;
  if (class_signature != nullptr) sampled.words[used++] = ClassWord(*thread, class_signature);
  ThreadNames names(*thread, session_->source(), unwinder_);
  const hotspot::StackWalk walk =
      walker_->WalkJava(sampled.stack, thread->vm_thread, sampled.frames, kMostFrames, &names);
  engine::Timeline& timeline = walk.is_virtual ? VirtualRow(*thread) : thread->timeline;
  profile::Node* node =
      ContextOf(*thread, timeline, walk.in_heap, {sampled.frames, walk.depth}, 0, used);
  Add(*thread, timeline, walk, node, index, weight);
}

// The row of the virtual thread that is mounted: of its name, shared by all that have it and ran
// here.
engine::Timeline& Sampling::VirtualRow(engine::Thread& thread) {
  const char* name = virtual_names_.Of(session_->source().VirtualThreadId(thread.vm_thread));
  SampledThread& sampled = *Of(thread);
  size_t at = 0;
  while (at + 1 < kMostVirtualRows && sampled.virtual_rows[at].used &&
         sampled.virtual_rows[at].name != name)
    ++at;
  SampledThread::VirtualRow& row = sampled.virtual_rows[at];
  if (!row.used) {
    row.used = true;
    row.name = at + 1 < kMostVirtualRows ? name : nullptr;
    if (!session_->AddRow(row.name != nullptr ? row.name : "virtual threads", &row.timeline))
      row.timeline.record = nullptr;
  }
  return row.timeline.record != nullptr ? row.timeline : thread.timeline;
}

void Sampling::VirtualThreadStarted(std::string_view name) {
  const engine::Thread* thread = engine::current_thread;
  if (thread == nullptr || thread->vm_thread == 0) return;
  virtual_names_.Started(session_->source().VirtualThreadId(thread->vm_thread), name);
}

void Sampling::VirtualThreadEnded() {
  const engine::Thread* thread = engine::current_thread;
  if (thread == nullptr || thread->vm_thread == 0) return;
  virtual_names_.Ended(session_->source().VirtualThreadId(thread->vm_thread));
}

// The node of a stack; `kept`: so many of the outermost frames know theirs. `used`: words below the
// frames.
profile::Node* Sampling::ContextOf(engine::Thread& thread, engine::Timeline& timeline, bool in_heap,
                                   std::span<hotspot::StackFrame> frames, uint32_t kept,
                                   size_t used) {
  const size_t fresh = frames.size() - kept;
  engine::Path path(thread, timeline, kept != 0 ? frames[fresh].context : 0);
  if (kept == 0 && in_heap)
    path.Step(NoteWord(thread, "(outer frames of the virtual thread are still in the heap)"));
  for (hotspot::StackFrame& frame : frames.first(fresh) | std::views::reverse) {
    if (!options_.java_only || IsJava(frame.type)) path.Step(frame.word);
    frame.context = path.index();
  }
  for (const uint32_t word : std::span(Of(thread)->words, used) | std::views::reverse)
    path.Step(word);
  return path.node();
}

void Sampling::Add(engine::Thread& thread, engine::Timeline& timeline,
                   const hotspot::StackWalk& walk, profile::Node* node, size_t index,
                   int64_t weight) {
  engine::AddToMetric(thread, node, metric_of_[index], weight, metric_count_);
  if (weighted_[index]) engine::AddToMetric(thread, node, metric_of_[index] + 1, 1, metric_count_);
  const int64_t count = weighted_[index] ? 1 : weight;
  timeline.record->samples += count;
  timeline.record->samples_unknown += walk.unknown ? count : 0;
  timeline.record->samples_truncated += walk.truncated ? count : 0;
}

Control::Handlers Sampling::ControlHandlers(const std::string& out) {
  const auto done = [](const char* text) -> Result<std::string> { return text; };
  Control::Handlers handlers;
  handlers.start = [=, this] { return Start(), done("started"); };
  handlers.stop = [=, this] { return Stop(), done("stopped"); };
  handlers.reset = [=, this]() -> Result<std::string> {
    if (auto reset = Reset(); !reset) return std::unexpected(reset.error());
    return done("all samples are forgotten");
  };
  handlers.flush = [=, this]() -> Result<std::string> {
    if (auto flushed = FlushFolder(session_->writer().directory_fd()); !flushed)
      return std::unexpected(flushed.error());
    return done("all that was recorded is on the disk");
  };
  handlers.status = [=, this] {
    uint64_t unknown = 0, own = 0, lost = 0, threads = 0, not_sampled = 0;
    int why_not = 0;
    const uint32_t count = session_->writer().header()->thread_count;
    for (uint32_t i = 0; i < count; ++i) {
      const profile::ThreadRecord& record = *session_->writer().ThreadAt(i);
      unknown += record.samples_unknown;
      own += record.samples_own;
      lost += record.samples_lost;
      threads += record.state == profile::kThreadLive;
      if ((record.flags & profile::kThreadNotSampled) == 0) continue;
      ++not_sampled;
      why_not = profile::ErrorOfFlags(record.flags);
    }
    const std::string why = not_sampled != 0 ? fmt::format(": {}", ErrnoText(why_not)) : "";
    return std::vector<control::Fact>{
        {"mode", in_tree_ ? "calltree" : "scs"},
        {"recording", running() ? "yes" : "no"},
        {"samples", std::to_string(samples())},
        {"unknown", std::to_string(unknown)},
        {"own", std::to_string(own)},
        {"lost", std::to_string(lost)},
        {"threads", std::to_string(threads)},
        {"not_sampled", std::to_string(not_sampled) + " threads" + why},
        {"events", ToString(triggers_)},
        {"out", out}};
  };
  return handlers;
}

// Whether no sample is being taken any more; the gate is closed.
bool Sampling::Quiet() {
  bool quiet = true;
  session_->ForEachThread([&](engine::Thread& thread) {
    const SampledThread* sampled = Of(thread);
    quiet = quiet && (sampled == nullptr || sampled->passage.Empty());
  });
  return quiet;
}

Result<void> Sampling::Reset() {
  std::lock_guard guard(control_);
  const bool was_running = running();
  gate_.Close();  // the timers may go on
  const uint64_t patience = Now() + kSecond;
  while (!Quiet() && Now() < patience) Sleep(1);
  const bool quiet = Quiet();
  if (quiet) Forget();
  ++starts_;
  if (was_running) gate_.Open();
  if (quiet) return {};
  return Fail("a thread has been taking a sample for 1 s: nothing is forgotten; try again");
}

// What samples have written, by all threads, and what is owed to those that come next.
void Sampling::Forget() {
  session_->ForEachThread([](engine::Thread& thread) {
    SampledThread* sampled = Of(thread);
    if (sampled == nullptr) return;
    for (auto& due : sampled->due) due = 0;
    std::ranges::fill(sampled->put_off, 0);
  });
  profile::Writer& writer = session_->writer();
  const profile::ControlHeader& header = *writer.header();
  for (uint64_t i = 0; i < header.node_count; ++i) {
    profile::Node& node = writer.nodes()[i];
    if (node.word != 0 && profile::TypeOf(node.word) != MethodType::kBlock) node.self = 0;
  }
  std::fill_n(writer.extra(), header.node_count * (metric_count_ - 1), 0);
  for (uint32_t i = 0; i < header.thread_count; ++i) {
    profile::ThreadRecord& record = *writer.ThreadAt(i);
    record.samples = record.samples_unknown = record.samples_truncated = 0;
    record.samples_own = record.samples_lost = 0;
    record.sampling_ticks = 0;
  }
}

void Sampling::Begin() {
  if (options_.start && options_.delay == 0) Start();
  const auto loop = [](void* self) -> void* {
    return static_cast<Sampling*>(self)->Loop(), nullptr;
  };
  if (!StartThread("jprof sampling", loop, this)) {
    Say("cannot start the sampling thread: no IDLE, WALL, DELAY, DURATION");
  }
}

// Beside the sampled threads: idle ones are asked for their stacks, new modules' unwind tables are
// read.
void Sampling::Loop() {
  struct Due {
    size_t index;
    bool also_running;
    uint64_t period_ns, at;
  };
  std::vector<Due> asks;
  const uint64_t begin = Now();
  for (size_t i = 0; i < triggers_.size(); ++i) {
    const TriggerKind kind = triggers_[i].kind;
    if (kind != TriggerKind::kIdle && kind != TriggerKind::kWall) continue;
    asks.push_back({i, kind == TriggerKind::kWall, triggers_[i].every * 1'000'000, begin});
  }
  uint64_t starts =
      options_.start && options_.delay != 0 ? begin + options_.delay * kSecond : kNever;
  uint64_t ends = kNever, refreshed = begin;
  bool kernel_read = false;
  for (;;) {
    uint64_t next = Now() + kTickMs * 1'000'000;
    for (const Due& due : asks) next = std::min(next, due.at);
    SleepUntil(next);
    const uint64_t now = Now();
    if (now >= starts) {
      starts = kNever;
      Start();
    }
    if (running() && ends == kNever && options_.duration != 0)
      ends = now + options_.duration * kSecond;
    if (now >= ends) {
      ends = kNever;
      options_.duration = 0;
      Stop();
    }
    if (!kernel_read &&
        kernel_wanted_.load(std::memory_order_relaxed)) {  // a long list: not for nothing
      kernel_read = true;
      const auto read = [](void* self) -> void* {
        return static_cast<Sampling*>(self)->kernel_.Read(), nullptr;
      };
      StartThread("jprof kernel", read, this);
    }
    if (now >= refreshed + kRefreshNs && !options_.java_only && !in_tree_ && unwinder_.Stale()) {
      refreshed = now;
      (void)unwinder_.Refresh();
    }
    for (Due& due : asks) {
      if (now < due.at) continue;
      const uint64_t ticks = (now - due.at) / due.period_ns + 1;
      due.at += ticks * due.period_ns;
      if (running()) AskThreads(due.index, due.also_running, static_cast<uint32_t>(ticks));
    }
  }
}

// Every thread owes its ticks, for IDLE less its CPU time; a few at a time, in turn, are asked to
// pay, for IDLE those that look idle. What a sample stands for is kept beside the signal: signals
// that meet on their way become one.
void Sampling::AskThreads(size_t index, bool also_running, uint32_t ticks) {
  const pid_t pid = getpid();
  const int64_t period_ns = triggers_[index].every * 1'000'000, passed_ns = ticks * period_ns;
  const uint32_t start = starts_;
  uint32_t asked = 0, place = 0, count = 0;
  session_->ForEachThread([&](engine::Thread& thread) {
    SampledThread* sampled = Of(thread);
    if (sampled == nullptr || (thread.attention & engine::kNotRecorded) != 0) return;
    const auto asked_cpu_ns = ptm::VirtualClock::CpuNanosOf(thread.record->tid);
    if (!asked_cpu_ns) return;  // it is gone: there is nobody to owe anything
    ++count;
    const auto cpu_ns = static_cast<uint64_t>(*asked_cpu_ns);
    int64_t ran_ns = also_running ? 0 : static_cast<int64_t>(cpu_ns - sampled->cpu_ns[index]);
    sampled->cpu_ns[index] = cpu_ns;
    if (std::exchange(sampled->start[index], start) != start) {  // what it ran before is not ours
      ran_ns = std::min(ran_ns, passed_ns);
      sampled->owed_ns[index] = 0;
    }
    // Ticks come late and early: what it ran too much in one was too little in another.
    sampled->owed_ns[index] += passed_ns - ran_ns;
    const int64_t due = std::max(int64_t{0}, sampled->owed_ns[index]) / period_ns;
    if (place++ < next_asked_ || asked == kMostAskedATick || due == 0 || ran_ns > passed_ns / 2)
      return;
    sampled->owed_ns[index] -= due * period_ns;
    sampled->due[index] += static_cast<uint32_t>(due);
    siginfo_t info = {};
    info.si_code = SI_QUEUE;
    info.si_pid = pid;
    info.si_uid = getuid();
    syscall(SYS_rt_tgsigqueueinfo, pid, thread.record->tid, kAskSignal, &info);
    ++asked;
    last_asked_ = place;
  });
  next_asked_ = asked == kMostAskedATick && last_asked_ < count ? last_asked_ : 0;
}

}  // namespace jprof::agent
