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
  std::string_view name;  // without kPackage
  std::span<const NamedUse> methods;
};

constexpr std::string_view kPackage = "java/util/concurrent/";

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

constexpr LockClass kClasses[] = {
    {"CountDownLatch", kOfLatch},
    {"Semaphore", kOfSemaphore},
    {"locks/AbstractQueuedSynchronizer", kOfSynchronizer},
    {"locks/AbstractQueuedSynchronizer$ConditionObject", kOfCondition},
    {"locks/LockSupport", kOfSupport},
    {"locks/ReentrantLock", kOfLock<LockKind::kLock>},
    {"locks/ReentrantReadWriteLock$ReadLock", kOfLock<LockKind::kReadLock>},
    {"locks/ReentrantReadWriteLock$WriteLock", kOfLock<LockKind::kWriteLock>},
    {"locks/StampedLock", kOfStampedLock}};

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
  if (!class_name.starts_with(kPackage)) return {};
  for (const LockClass& type : kClasses) {
    if (type.name == class_name.substr(kPackage.size())) return FindIn(type, name, descriptor);
  }
  return {};
}

}  // namespace jprof::weave
