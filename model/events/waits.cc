#include "model/events/waits.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace jprof::model {
namespace {

struct NamedCall {
  int32_t number;
  std::string_view name;
};
constexpr NamedCall kCalls[] = {
#include <system_calls.inc>
};

struct CallReason {
  std::string_view name;
  WaitReason reason;
};
// The system calls in which threads wait.
constexpr CallReason kCallReasons[] = {
    {"futex", WaitReason::kFutex},
    {"futex_waitv", WaitReason::kFutex},
    {"nanosleep", WaitReason::kSleep},
    {"clock_nanosleep", WaitReason::kSleep},
    {"pause", WaitReason::kSleep},
    {"read", WaitReason::kInput},
    {"readv", WaitReason::kInput},
    {"pread64", WaitReason::kInput},
    {"preadv", WaitReason::kInput},
    {"preadv2", WaitReason::kInput},
    {"write", WaitReason::kInput},
    {"writev", WaitReason::kInput},
    {"pwrite64", WaitReason::kInput},
    {"pwritev", WaitReason::kInput},
    {"pwritev2", WaitReason::kInput},
    {"recvfrom", WaitReason::kInput},
    {"recvmsg", WaitReason::kInput},
    {"recvmmsg", WaitReason::kInput},
    {"sendto", WaitReason::kInput},
    {"sendmsg", WaitReason::kInput},
    {"sendmmsg", WaitReason::kInput},
    {"sendfile", WaitReason::kInput},
    {"splice", WaitReason::kInput},
    {"accept", WaitReason::kInput},
    {"accept4", WaitReason::kInput},
    {"connect", WaitReason::kInput},
    {"fsync", WaitReason::kInput},
    {"fdatasync", WaitReason::kInput},
    {"openat", WaitReason::kInput},
    {"flock", WaitReason::kInput},
    {"poll", WaitReason::kPoll},
    {"ppoll", WaitReason::kPoll},
    {"select", WaitReason::kPoll},
    {"pselect6", WaitReason::kPoll},
    {"epoll_wait", WaitReason::kPoll},
    {"epoll_pwait", WaitReason::kPoll},
    {"epoll_pwait2", WaitReason::kPoll},
    {"io_uring_enter", WaitReason::kPoll},
    {"rt_sigtimedwait", WaitReason::kSleep},
    {"rt_sigsuspend", WaitReason::kSleep},
    {"wait4", WaitReason::kChild},
    {"waitid", WaitReason::kChild},
    {"vfork", WaitReason::kChild},
};

// The methods of the JDK in which a thread waits: all below these is the same.
constexpr CallReason kMethodReasons[] = {
    {"java/lang/Thread.sleep", WaitReason::kSleep},
    {"java/lang/Thread.sleep0", WaitReason::kSleep},
    {"java/lang/Thread.sleepNanos0", WaitReason::kSleep},
    {"jdk/internal/misc/Unsafe.park", WaitReason::kPark},
    {"java/lang/Object.wait", WaitReason::kMonitorWait},
    {"java/lang/Object.wait0", WaitReason::kMonitorWait},
};

WaitReason ReasonOf(JvmWait::Kind kind) {
  switch (kind) {
    case JvmWait::Kind::kContended:
      return WaitReason::kLock;
    case JvmWait::Kind::kWaits:
      return WaitReason::kMonitorWait;
    case JvmWait::Kind::kParks:
      return WaitReason::kPark;
  }
  return WaitReason::kOther;
}

WaitReason OfCall(int32_t number) {
  static const std::unordered_map<int32_t, WaitReason> reasons = [] {
    std::unordered_map<int32_t, WaitReason> by_number;
    for (const NamedCall& call : kCalls) {
      const auto found = std::ranges::find(kCallReasons, call.name, &CallReason::name);
      if (found != std::end(kCallReasons)) by_number[call.number] = found->reason;
    }
    return by_number;
  }();
  const auto found = reasons.find(number);
  return found != reasons.end() ? found->second : WaitReason::kOther;
}

}  // namespace

std::string SystemCallName(int32_t number) {
  const auto found = std::ranges::find(kCalls, number, &NamedCall::number);
  return found != std::end(kCalls) ? std::string(found->name) : fmt::format("call {}", number);
}

WaitReason WaitReasons::OfContext(uint32_t process, uint64_t context) {
  const auto [known, added] = known_.try_emplace({process, context}, WaitReason::kFutex);
  if (!added) return known->second;
  const std::string leaf = names_.LeafOf(process, context);
  const auto found = std::ranges::find(kMethodReasons, leaf, &CallReason::name);
  if (found != std::end(kMethodReasons)) known->second = found->reason;
  return known->second;
}

const JvmEvents* WaitReasons::JvmOf(const Stretch& stretch) const {
  const auto found = jvms_.find(stretches_.threads[stretch.thread].process);
  return found != jvms_.end() ? &found->second : nullptr;
}

WaitReason WaitReasons::Of(const Stretch& stretch) {
  if (stretch.state == StopState::kRunnable) return WaitReason::kPreempted;
  if (stretch.state == StopState::kStopped) return WaitReason::kStopped;
  // Threads of the kernel itself come from no instruction of a program.
  if (stretch.call < 0) return stretch.instruction == 0 ? WaitReason::kOther : WaitReason::kDisk;
  const WaitReason of_call = OfCall(stretch.call);
  if (of_call != WaitReason::kFutex) return of_call;
  const StretchThread& thread = stretches_.threads[stretch.thread];
  // Where the method says it, that is right; times of the JVM's clock are some us off.
  const WaitReason reason = OfContext(thread.process, stretch.context);
  const JvmEvents* jvm = JvmOf(stretch);
  if (reason != WaitReason::kFutex || jvm == nullptr) return reason;
  const auto end = static_cast<int64_t>(stretch.end);
  const JvmWait* wait = jvm->WaitAt(thread.thread, end);
  if (wait != nullptr) return ReasonOf(wait->kind);
  // A thread of the program that waits in the middle of a method for the JVM.
  const bool stops = stretch.context != 0 && jvm->CollectionAt(end) != nullptr;
  return stops ? WaitReason::kCollection : reason;
}

std::string WaitReasons::DetailOf(const Stretch& stretch) {
  const JvmEvents* jvm = JvmOf(stretch);
  if (jvm == nullptr || stretch.state == StopState::kRunnable) return "";
  const auto end = static_cast<int64_t>(stretch.end);
  if (Of(stretch) == WaitReason::kCollection) return jvm->CollectionAt(end)->cause;
  const JvmWait* wait = jvm->WaitAt(stretches_.threads[stretch.thread].thread, end);
  if (wait == nullptr || ReasonOf(wait->kind) != Of(stretch)) return "";
  std::string text = wait->class_name;
  if (wait->owner == 0) return text;
  const auto owner = std::ranges::find(stretches_.threads, wait->owner, &StretchThread::thread);
  return text + (owner != stretches_.threads.end() ? " of " + owner->name : "");
}

}  // namespace jprof::model
