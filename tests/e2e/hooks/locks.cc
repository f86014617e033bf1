// Takes locks of pthread_* a known number of times. Prints for each lock: name gets nonrec slow
// least most kind. `slow` is -1 if it is not known. `least` and `most` are the bounds of its hold
// time in ns by the program's clock, or 0 and 0.
#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace {

constexpr int kTimes = 20000;
constexpr int kWaits = 10;

void Check(bool expected) {
  if (!expected) abort();
}

long Now() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000L + now.tv_nsec;
}

void Expect(const char* name, const char* kind, long gets, long nonrec, long slow, long least = 0,
            long most = 0) {
  printf("%s %ld %ld %ld %ld %ld %s\n", name, gets, nonrec, slow, least, most, kind);
}

// Waits until the thread sleeps in the kernel.
void AwaitAsleep(pid_t thread) {
  char path[64], state = 'R';
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
  while (state != 'S') {
    FILE* const stat = fopen(path, "r");
    if (stat != nullptr && fscanf(stat, "%*d (%*[^)]) %c", &state) != 1) state = 'R';
    if (stat != nullptr) fclose(stat);
  }
}

}  // namespace

pthread_mutex_t plain_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t deep_mutex, lost_mutex;
pthread_mutex_t wanted_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t slept_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t paused_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t handed_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t left_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t first_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t tried_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t last_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_rwlock_t shared_lock = PTHREAD_RWLOCK_INITIALIZER;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

namespace {

void Plain() {
  for (int i = 0; i < kTimes; ++i) {
    Check(pthread_mutex_lock(&plain_mutex) == 0);
    Check(pthread_mutex_unlock(&plain_mutex) == 0);
  }
  Check(pthread_mutex_trylock(&plain_mutex) == 0);
  Check(pthread_mutex_trylock(&plain_mutex) != 0);
  pthread_mutex_unlock(&plain_mutex);
  Expect("plain_mutex", "mutex", kTimes + 1, kTimes + 1, 0);
}

void Deep() {
  pthread_mutexattr_t recursive;
  pthread_mutexattr_init(&recursive);
  pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&deep_mutex, &recursive);
  for (int i = 0; i < kTimes; ++i) {
    for (int level = 0; level < 3; ++level) pthread_mutex_lock(&deep_mutex);
    for (int level = 0; level < 3; ++level) pthread_mutex_unlock(&deep_mutex);
  }
  Expect("deep_mutex", "mutex", 3L * kTimes, kTimes, 0);
}

void WaitsForIt(std::atomic<pid_t>* thread) {
  *thread = gettid();
  pthread_mutex_lock(&wanted_mutex);
  pthread_mutex_unlock(&wanted_mutex);
}

void HasIt() {
  std::atomic<pid_t> thread = 0;
  pthread_mutex_lock(&wanted_mutex);
  std::thread waiter(WaitsForIt, &thread);
  while (thread == 0) sched_yield();
  AwaitAsleep(thread);
  pthread_mutex_unlock(&wanted_mutex);
  waiter.join();
}

void Wanted() {
  for (int i = 0; i < kWaits; ++i) HasIt();
  Expect("wanted_mutex", "mutex", 2 * kWaits, 2 * kWaits, kWaits);
}

void Slept() {
  const long before = Now();
  pthread_mutex_lock(&slept_mutex);
  const long from = Now();
  usleep(50'000);
  const long to = Now();
  pthread_mutex_unlock(&slept_mutex);
  Expect("slept_mutex", "mutex", 1, 1, 0, to - from, Now() - before);
}

// While it waits for the condition, it does not hold the mutex.
void Paused() {
  const long before = Now();
  pthread_mutex_lock(&paused_mutex);
  timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += 1;
  const long from = Now();
  while (pthread_cond_timedwait(&condition, &paused_mutex, &until) == 0) {
  }
  const long waited = Now() - from;
  pthread_mutex_unlock(&paused_mutex);
  Expect("paused_mutex", "mutex", 1, 1, 0, 0, Now() - before - waited * 95 / 100);
}

void HandsOver(bool* handed) {
  pthread_mutex_lock(&handed_mutex);
  *handed = true;
  pthread_cond_signal(&condition);
  pthread_mutex_unlock(&handed_mutex);
}

void WaitsForHanded(std::atomic<pid_t>* thread) {
  *thread = gettid();
  pthread_mutex_lock(&handed_mutex);
  pthread_mutex_unlock(&handed_mutex);
}

// This thread has the mutex again when it has waited for the condition.
void Handed() {
  bool handed = false;
  std::atomic<pid_t> thread = 0;
  pthread_mutex_lock(&handed_mutex);
  std::thread other(HandsOver, &handed);
  while (!handed) pthread_cond_wait(&condition, &handed_mutex);
  other.join();
  std::thread waiter(WaitsForHanded, &thread);
  while (thread == 0) sched_yield();
  AwaitAsleep(thread);
  pthread_mutex_unlock(&handed_mutex);
  waiter.join();
  Expect("handed_mutex", "mutex", 3, 3, -1);
}

void Shared() {
  for (int i = 0; i < kTimes; ++i) {
    pthread_rwlock_rdlock(&shared_lock);
    Check(pthread_rwlock_tryrdlock(&shared_lock) == 0);
    Check(pthread_rwlock_trywrlock(&shared_lock) != 0);
    pthread_rwlock_unlock(&shared_lock);
    pthread_rwlock_unlock(&shared_lock);
    pthread_rwlock_wrlock(&shared_lock);
    pthread_rwlock_unlock(&shared_lock);
  }
  Expect("shared_lock", "read lock", 2L * kTimes, kTimes, 0);
  Expect("shared_lock", "write lock", kTimes, kTimes, 0);
}

void LeftThenRight(pthread_mutex_t* right) {
  pthread_mutex_lock(&left_mutex);
  pthread_mutex_lock(right);
  pthread_mutex_unlock(right);
  pthread_mutex_unlock(&left_mutex);
}

void RightThenLeft(pthread_mutex_t* right) {
  pthread_mutex_lock(right);
  pthread_mutex_lock(&left_mutex);
  pthread_mutex_unlock(&left_mutex);
  pthread_mutex_unlock(right);
}

// One of the two has no name. They are never taken at the same time.
void Inversion() {
  auto* const right = new pthread_mutex_t(PTHREAD_MUTEX_INITIALIZER);
  std::thread(LeftThenRight, right).join();
  std::thread(RightThenLeft, right).join();
  Expect("left_mutex", "mutex", 2, 2, 0);
}

void BehindTried() {
  pthread_mutex_lock(&first_mutex);
  Check(pthread_mutex_trylock(&tried_mutex) == 0);
  pthread_mutex_lock(&last_mutex);
  pthread_mutex_unlock(&last_mutex);
  pthread_mutex_unlock(&tried_mutex);
  pthread_mutex_unlock(&first_mutex);
}

void BackAgain() {
  pthread_mutex_lock(&last_mutex);
  pthread_mutex_lock(&first_mutex);
  pthread_mutex_unlock(&first_mutex);
  pthread_mutex_unlock(&last_mutex);
}

// The same where a lock is tried in between.
void InversionBehindTried() {
  std::thread(BehindTried).join();
  std::thread(BackAgain).join();
  Expect("first_mutex", "mutex", 2, 2, 0);
}

// A child counts nothing here, and must not wait for a thread that it does not have.
void Forks() {
  std::atomic<bool> ends = false;
  std::thread other([&] {
    while (!ends) {
      pthread_rwlock_rdlock(&shared_lock);
      pthread_rwlock_unlock(&shared_lock);
    }
  });
  for (int i = 0; i < kWaits; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      pthread_mutex_lock(&plain_mutex);
      pthread_mutex_unlock(&plain_mutex);
      _exit(0);
    }
    int status = 1;
    Check(child > 0);
    waitpid(child, &status, 0);
    Check(status == 0);
  }
  ends = true;
  other.join();
}

// A robust mutex that nobody can take any more, which a call must not wait for.
void Lost() {
  pthread_mutexattr_t robust;
  pthread_mutexattr_init(&robust);
  pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&lost_mutex, &robust);
  std::thread([] { Check(pthread_mutex_lock(&lost_mutex) == 0); }).join();
  Check(pthread_mutex_lock(&lost_mutex) == EOWNERDEAD);
  Check(pthread_mutex_unlock(&lost_mutex) == 0);  // without pthread_mutex_consistent
  Check(pthread_mutex_lock(&lost_mutex) == ENOTRECOVERABLE);
  Expect("lost_mutex", "mutex", 2, 2, 0);
}

}  // namespace

int main(int count, char**) {
  Plain();
  Lost();
  Deep();
  Wanted();
  Slept();
  Paused();
  Handed();
  Inversion();
  InversionBehindTried();
  if (count > 1) {
    Forks();
  } else {
    Shared();
  }
}
