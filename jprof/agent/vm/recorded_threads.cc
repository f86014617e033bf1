#include "jprof/agent/vm/recorded_threads.h"

#include <algorithm>

#include "jprof/agent/vm/in_use.h"
#include "jprof/agent/vm/native_threads.h"
#include "jprof/engine/thread_record.h"

namespace jprof::agent {
namespace {

engine::Thread* ThreadIn(uintptr_t value) { return reinterpret_cast<engine::Thread*>(value); }
uintptr_t ValueOf(const engine::Thread* thread) { return reinterpret_cast<uintptr_t>(thread); }

}  // namespace

void RecordedThreads::AddTo(JvmtiEvents& events) {
  Publish(*this);
  using Slots = jvmtiEventCallbacks;
  events.Add(JVMTI_EVENT_THREAD_START, &Slots::ThreadStart, kGuarded<OnThreadStart>);
  events.Add(JVMTI_EVENT_THREAD_END, &Slots::ThreadEnd, kGuarded<OnThreadEnd>);
}

void RecordedThreads::SetEarlyNames(std::span<const ExistingThread> threads) {
  for (const ExistingThread& thread : threads) early_names_[thread.native.tid] = thread.name;
}

std::function<std::string_view(uint32_t)> RecordedThreads::EarlyNames() const {
  return [this](uint32_t tid) {
    const auto found = early_names_.find(tid);
    return found != early_names_.end() ? std::string_view(found->second) : std::string_view();
  };
}

void RecordedThreads::AddToFollowers(JNIEnv* jni) {
  for (ThreadFollower* const follower : followers_) follower->AddThread(jni);
}

void JNICALL RecordedThreads::OnThreadStart(jvmtiEnv*, JNIEnv* jni, jthread thread) {
  if (const InUse<RecordedThreads> threads; threads) threads->Start(jni, thread);
}

void JNICALL RecordedThreads::OnThreadEnd(jvmtiEnv*, JNIEnv*, jthread thread) {
  if (const InUse<RecordedThreads> threads; threads) threads->Stop(thread);
}

// Makes the state before the first event of the thread, because its name is known here.
void RecordedThreads::Start(JNIEnv* jni, jthread thread) {
  AdoptCurrent();
  engine::Thread* const state = session_.threads().CurrentThreadUntilExit();
  if (state == nullptr) return;
  if (whole_) state->joined_late = false;
  engine::NameThread(*state, java_threads_.NameOf(thread));
  java_threads_.Keep(thread, ValueOf(state));
  AddToFollowers(jni);
}

void RecordedThreads::Stop(jthread thread) {
  for (ThreadFollower* const follower : followers_) follower->RemoveThread();
  if (engine::Thread* const state = engine::current_thread) {
    engine::NameThread(*state, java_threads_.NameOf(thread));  // the name may have changed
    java_threads_.Forget(thread);
    session_.threads().DetachAtExit();
  }
  engine::ThreadRegistry::End();
}

void RecordedThreads::Begin(JNIEnv* jni, std::span<const ExistingThread> threads) {
  if (attached_) return Join(threads);
  const ExistingThread& main = threads.front();
  engine::Thread* state = engine::current_thread;
  if (state == nullptr && !followers_.empty()) state = session_.threads().CurrentThread();
  if (state != nullptr) {
    engine::NameThread(*state, main.name);
    java_threads_.Keep(main.java, ValueOf(state));
  }
  NameEarlyThreads(jni);
}

// Adds the threads to the followers of early threads. Events are enabled already, so that threads
// are not missed: a thread may have begun, or ended, since the list was made.
void RecordedThreads::Join(std::span<const ExistingThread> threads) {
  if (std::ranges::none_of(followers_, &ThreadFollower::FollowsEarlyThreads)) return;
  early_.Reserve(threads.size());
  for (const ExistingThread& thread : threads) JoinOne(thread);
}

void RecordedThreads::JoinOne(const ExistingThread& thread) {
  engine::Thread* const state = session_.threads().ThreadOf(thread.native.tid);
  if (state == nullptr) return;
  engine::NameThread(*state, thread.name);
  java_threads_.Keep(thread.java, ValueOf(state));
  bool needed = false;
  for (ThreadFollower* const follower : followers_)
    needed |= follower->AddEarlyThread(*state, thread);
  if (needed) early_.Add(thread.native.tid, state);
}

// Names threads that were recorded before JVMTI reported threads.
void RecordedThreads::NameEarlyThreads(JNIEnv* jni) {
  const engine::ThreadRegistry::Hold hold(session_.threads());
  std::vector<UnnamedThread> early;
  session_.threads().ForEach([&](engine::Thread& thread) {
    if (!thread.named) early.push_back({KernelName(thread.record->tid), ValueOf(&thread)});
  });
  java_threads_.MatchEarly(jni, early, [&](uintptr_t thread, const std::string& name) {
    engine::NameThread(*ThreadIn(thread), name);
  });
}

// A thread that ends in the meantime is not freed.
void RecordedThreads::End(JNIEnv* jni) {
  const engine::ThreadRegistry::Hold hold(session_.threads());
  java_threads_.ForEachKept(jni, [&](uintptr_t thread, const std::string& name) {
    engine::NameThread(*ThreadIn(thread), name);
  });
}

}  // namespace jprof::agent
