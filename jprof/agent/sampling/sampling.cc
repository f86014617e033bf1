#include "jprof/agent/sampling/sampling.h"

#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <new>
#include <thread>
#include <utility>

#include "jprof/agent/sampling/sample_reset.h"
#include "jprof/setup/print_message.h"
#include "ptm/tsc.h"

namespace jprof::agent {
namespace {

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

// Opens the timers. Even if this succeeds, a timer may be of another kind than requested.
void OpenTimers(SampleTimers& timers, engine::Thread& thread, SampledThread& sampled,
                uint32_t tid) {
  const int error = timers.Open(sampled, tid);
  if (error != 0) return Mark(thread, profile::kThreadNotSampled, error);
  for (const ptm::ThreadTimer& timer : sampled.timers)
    if (timer.limited_by() != 0)
      return Mark(thread, profile::kThreadOtherTimer, timer.limited_by());
}

// Notes the taken signal in the profile, if it is the first one.
void NoteTaken(const SampleSignals::Taken& taken, profile::ControlHeader& header) {
  if (header.signal_taken_ticks != 0) return;
  header.signal_taken = static_cast<uint32_t>(taken.signal);
  std::strncpy(header.signal_taken_by, taken.by.c_str(), sizeof header.signal_taken_by - 1);
  __atomic_store_n(&header.signal_taken_ticks, static_cast<uint64_t>(ptm::ReadTsc()),
                   __ATOMIC_RELEASE);
}

}  // namespace

Sampling::Sampling(const Setting& setting, std::unique_ptr<SampleRecorder> recorder,
                   std::vector<ptm::ThreadTimerSettings> timers)
    : options_(setting.options),
      session_(setting.session),
      timers_(std::move(timers), SampleTimers::TriggersOf(options_), session_),
      recorder_(std::move(recorder)),
      signals_(gate_, timers_, *recorder_, setting.threads),
      vm_(options_, setting.plan, setting.hotspot, recorder_->virtual_rows()),
      thread_(options_, *this, *recorder_, session_) {}

Result<std::unique_ptr<Sampling>> Sampling::Open(const Setting& setting) {
  auto timers = SampleTimers::SettingsOf(setting.options);
  if (!timers) return std::unexpected(timers.error());
  auto recorder = SampleRecorder::Open(setting.options, setting.hotspot, setting.session);
  if (!recorder) return std::unexpected(recorder.error());
  std::unique_ptr<Sampling> sampling(
      new Sampling(setting, *std::move(recorder), *std::move(timers)));
  if (auto opened = sampling->vm_.Open(setting.java, *sampling); !opened)
    return std::unexpected(opened.error());
  // Last: after this the signal handler may use the object, which then must not be freed here.
  if (auto opened = sampling->OpenSignals(); !opened) return std::unexpected(opened.error());
  return sampling;
}

// Makes the sampling state of a thread, with its timers. A `tid` of 0 means the calling thread.
SampledThread* Sampling::NewThread(engine::Thread& thread, const unwind::StackBounds& stack,
                                   uint64_t vm_thread, uint32_t tid) {
  void* memory = mmap(nullptr, sizeof(SampledThread), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    Mark(thread, profile::kThreadNotSampled, errno);
    return nullptr;
  }
  auto* sampled = new (memory) SampledThread;
  sampled->stack = stack;
  thread.vm_thread = vm_thread;
  OpenTimers(timers_, thread, *sampled, tid);
  return sampled;
}

Result<void> Sampling::OpenSignals() {
  const bool requests = std::ranges::any_of(options_.triggers, [](const options::Trigger& trigger) {
    return trigger.kind == options::TriggerKind::kIdle ||
           trigger.kind == options::TriggerKind::kWall;
  });
  return signals_.Open(timers_.count() != 0, requests);
}

void Sampling::AddThread(JNIEnv* jni) {
  engine::Thread* thread = engine::current_thread;
  if (thread == nullptr || thread->record == nullptr || thread->extension != nullptr) return;
  const ScopedSampleBlock guard;
  SampledThread* sampled =
      NewThread(*thread, StackOfThisThread(), recorder_->walker().VmThreadOf(jni), 0);
  if (sampled == nullptr) return;
  // Either Start sees this thread, or this thread sees that the gate is open.
  thread->extension = sampled;
  timers_.StartOrStop(gate_, *thread, *sampled);
}

bool Sampling::AddEarlyThread(engine::Thread& state, const ExistingThread& thread) {
  state.extension = NewThread(state, thread.native.stack, thread.vm_thread, thread.native.tid);
  return state.extension != nullptr;
}

void Sampling::RemoveThread() {
  SampledThread* sampled = CurrentThread();
  if (sampled == nullptr) return;
  const ScopedSampleBlock guard;
  timers_.Close(*engine::current_thread, *sampled);
  VirtualRows::End(*sampled);
}

void Sampling::Begin(JNIEnv* jni) {
  AddThread(jni);
  if (options_.start && options_.delay == 0) Start();
  if (!thread_.Begin())
    setup::PrintMessage(
        "cannot start the sampling thread: IDLE, WALL, DELAY and DURATION have no effect");
}

void Sampling::Start() {
  std::lock_guard guard(control_);
  ++run_;
  gate_.Open();  // first: a thread that is added from now on starts its own timers
  timers_.StartOrStopAll(gate_);
}

void Sampling::Stop() {
  LookAround();
  std::lock_guard guard(control_);
  gate_.Close();
  timers_.StartOrStopAll(gate_);
}

void Sampling::LookAround() {
  if (!running()) return;
  timers_.UpdateCoverage();
  if (const auto taken = signals_.TakenOver()) NoteTaken(*taken, *session_.writer().header());
}

void Sampling::End() {
  thread_.End();
  Stop();
  AwaitNoSample();
}

void Sampling::Close() {
  vm_.Close();
  signals_.Close();
}

bool Sampling::AwaitNoSample() {
  using namespace std::chrono_literals;
  const auto patience = std::chrono::steady_clock::now() + 1s;
  while (!NoSampleInProgress(session_) && std::chrono::steady_clock::now() < patience)
    std::this_thread::sleep_for(1ms);
  return NoSampleInProgress(session_);
}

Result<void> Sampling::Reset() {
  std::lock_guard guard(control_);
  const bool was_running = running();
  gate_.Close();  // the timers continue
  const bool none = AwaitNoSample();
  if (none) {
    ForgetSamples(session_, recorder_->metric_count());
    timers_.ForgetCoverage();
  }
  ++run_;
  if (was_running) gate_.Open();
  if (none) return {};
  return Fail("a sample has been in progress for 1 s; the samples were not reset; try again");
}

EventSink::ThreadEvents* Sampling::EventsOfThread() {
  SampledThread* const sampled = CurrentThread();
  return sampled != nullptr ? &sampled->events : nullptr;
}

void Sampling::AddEvent(size_t trigger, int64_t weight, const char* leaf) {
  SampledThread* sampled = CurrentThread();
  if (sampled == nullptr) return;
  const SampleScope scope(gate_, sampled->in_progress);
  if (!scope.allowed()) return;
  recorder_->TakeJavaStack(*engine::current_thread, *sampled, trigger, weight, leaf);
}

}  // namespace jprof::agent
