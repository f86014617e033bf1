// Threads: joined, detached and ended by pthread_exit, with names, and with destructors of
// thread-local variables that call hooked functions.
#include <pthread.h>
#include <semaphore.h>

#include <thread>
#include <vector>

#include "expect.h"

namespace {

constexpr int kThreads = 20, kCalls = 1000;
sem_t detached_done;

OUT_OF_LINE void Work(int n) {
  if (n > 0) Work(n - 1);
  KEEP;
}
OUT_OF_LINE void InDestructor() { KEEP; }
OUT_OF_LINE void Exits() { pthread_exit(nullptr); }

struct Local {
  int used = 0;
  OUT_OF_LINE ~Local() { InDestructor(); }
};
thread_local Local local;

PLAIN void* Named(void*) {
  pthread_setname_np(pthread_self(), "hooked worker");
  for (int i = 0; i < kCalls; ++i) Work(2);
  return nullptr;
}
PLAIN void* Detached(void*) {
  pthread_setname_np(pthread_self(), "detached");
  pthread_detach(pthread_self());
  Work(4);
  sem_post(&detached_done);
  return nullptr;
}
PLAIN void* Exiting(void*) {
  pthread_setname_np(pthread_self(), "exiting");
  local.used = 1;
  Exits();
  return nullptr;
}

}  // namespace

int main() {
  sem_init(&detached_done, 0, 0);
  pthread_t named, detached, exiting;
  pthread_create(&named, nullptr, Named, nullptr);
  pthread_create(&detached, nullptr, Detached, nullptr);
  pthread_create(&exiting, nullptr, Exiting, nullptr);
  pthread_join(named, nullptr);
  pthread_join(exiting, nullptr);
  sem_wait(&detached_done);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([] {
      local.used = 1;
      for (int call = 0; call < kCalls; ++call) Work(1);
    });
  }
  for (std::thread& thread : threads) thread.join();
  const char* const kWork = "(anonymous namespace)::Work(int)";
  ExpectOn("hooked worker", kWork, 3 * kCalls);
  ExpectOn("detached", kWork, 5);
  ExpectOn("exiting", "(anonymous namespace)::Exits()", 1);
  ExpectOn("exiting", "(anonymous namespace)::InDestructor()", 1);
  Expect(kWork, 3 * kCalls + 5 + kThreads * 2 * kCalls);
  ExpectPath("(anonymous namespace)::Local::~Local()", "(anonymous namespace)::InDestructor()",
             kThreads + 1);
  ExpectOn("main", "main", 1);
  return 0;
}
