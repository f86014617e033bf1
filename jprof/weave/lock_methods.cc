#include "jprof/weave/lock_methods.h"

#include <span>

namespace jprof::weave {
namespace {

struct NamedUse {
  std::string_view name;
  LockUse use;
  LockKind kind;
  uint32_t more = 0;
};

struct LockClass {
  std::string_view name;
  std::span<const NamedUse> methods;
};

template <LockKind kKind>
constexpr NamedUse kOfLock[] = {{"lock", LockUse::kTake, kKind},
                                {"lockInterruptibly", LockUse::kTake, kKind},
                                {"tryLock", LockUse::kTake, kKind},
                                {"unlock", LockUse::kRelease, kKind}};

constexpr NamedUse kOfStampedLock[] = {
    {"readLock", LockUse::kTake, LockKind::kReadLock},
    {"readLockInterruptibly", LockUse::kTake, LockKind::kReadLock},
    {"tryReadLock", LockUse::kTake, LockKind::kReadLock},
    {"tryConvertToReadLock", LockUse::kTake, LockKind::kReadLock, kConverts},
    {"unlockRead", LockUse::kRelease, LockKind::kReadLock},
    {"tryUnlockRead", LockUse::kRelease, LockKind::kReadLock},
    {"unstampedUnlockRead", LockUse::kRelease, LockKind::kReadLock},
    {"writeLock", LockUse::kTake, LockKind::kWriteLock},
    {"writeLockInterruptibly", LockUse::kTake, LockKind::kWriteLock},
    {"tryWriteLock", LockUse::kTake, LockKind::kWriteLock},
    {"tryConvertToWriteLock", LockUse::kTake, LockKind::kWriteLock, kConverts},
    {"unlockWrite", LockUse::kRelease, LockKind::kWriteLock},
    {"tryUnlockWrite", LockUse::kRelease, LockKind::kWriteLock},
    {"unstampedUnlockWrite", LockUse::kRelease, LockKind::kWriteLock},
    {"tryConvertToOptimisticRead", LockUse::kRelease, LockKind::kMonitor, kAnyKind}};

constexpr NamedUse kOfSemaphore[] = {
    {"acquire", LockUse::kTake, LockKind::kSemaphore},
    {"acquireUninterruptibly", LockUse::kTake, LockKind::kSemaphore},
    {"tryAcquire", LockUse::kTake, LockKind::kSemaphore}};

constexpr NamedUse kOfLatch[] = {{"await", LockUse::kTake, LockKind::kLatch}};

constexpr NamedUse kOfCondition[] = {{"await", LockUse::kTake, LockKind::kCondition},
                                     {"awaitNanos", LockUse::kTake, LockKind::kCondition},
                                     {"awaitUninterruptibly", LockUse::kTake, LockKind::kCondition},
                                     {"awaitUntil", LockUse::kTake, LockKind::kCondition}};

constexpr NamedUse kOfSupport[] = {{"park", LockUse::kPark, LockKind::kMonitor},
                                   {"parkNanos", LockUse::kPark, LockKind::kMonitor},
                                   {"parkUntil", LockUse::kPark, LockKind::kMonitor}};

constexpr NamedUse kOfSynchronizer[] = {{"acquire", LockUse::kReacquire, LockKind::kMonitor}};
constexpr std::string_view kReacquire =
    "(Ljava/util/concurrent/locks/AbstractQueuedSynchronizer$Node;IZZZJ)I";

constexpr NamedUse kOfThread[] = {{"exit", LockUse::kEnd, LockKind::kMonitor}};

#define JPROF_CONCURRENT "java/util/concurrent/"
constexpr LockClass kClasses[] = {
    {"java/lang/Thread", kOfThread},
    {JPROF_CONCURRENT "CountDownLatch", kOfLatch},
    {JPROF_CONCURRENT "Semaphore", kOfSemaphore},
    {JPROF_CONCURRENT "locks/AbstractQueuedSynchronizer", kOfSynchronizer},
    {JPROF_CONCURRENT "locks/AbstractQueuedSynchronizer$ConditionObject", kOfCondition},
    {JPROF_CONCURRENT "locks/LockSupport", kOfSupport},
    {JPROF_CONCURRENT "locks/ReentrantLock", kOfLock<LockKind::kLock>},
    {JPROF_CONCURRENT "locks/ReentrantReadWriteLock$ReadLock", kOfLock<LockKind::kReadLock>},
    {JPROF_CONCURRENT "locks/ReentrantReadWriteLock$WriteLock", kOfLock<LockKind::kWriteLock>},
    {JPROF_CONCURRENT "locks/StampedLock", kOfStampedLock}};
#undef JPROF_CONCURRENT

bool Waits(std::string_view name, std::string_view descriptor) {
  return !name.starts_with("try") || descriptor.find("TimeUnit") != descriptor.npos;
}

LockMethod FindIn(const LockClass& type, std::string_view name, std::string_view descriptor) {
  for (const NamedUse& one : type.methods) {
    if (one.name != name || (one.use == LockUse::kReacquire && descriptor != kReacquire)) continue;
    const uint32_t tries = one.use == LockUse::kTake && !Waits(name, descriptor) ? kTries : 0;
    return {one.use, static_cast<uint32_t>(one.kind) | one.more | tries};
  }
  return {};
}

}  // namespace

LockMethod FindLockMethod(std::string_view class_name, std::string_view name,
                          std::string_view descriptor) {
  if (!class_name.starts_with("java/")) return {};
  for (const LockClass& type : kClasses) {
    if (type.name == class_name) return FindIn(type, name, descriptor);
  }
  return {};
}

}  // namespace jprof::weave
