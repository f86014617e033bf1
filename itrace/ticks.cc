#include "itrace/ticks.h"

#include <sys/syscall.h>
#include <unistd.h>

namespace jprof::itrace {
namespace {

constexpr long kTickNanos = 20'000'000;

volatile sig_atomic_t passed = 0;

void Note(int) { passed = 1; }

}  // namespace

Ticks::Ticks() {
  struct sigaction action = {};
  action.sa_handler = Note;
  sigaction(SIGALRM, &action, &before_);
  sigset_t alarm;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  pthread_sigmask(SIG_UNBLOCK, &alarm, &mask_before_);
  sigevent event = {};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGALRM;
  event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
  made_ = timer_create(CLOCK_MONOTONIC, &event, &timer_) == 0;
  const itimerspec every = {{0, kTickNanos}, {0, kTickNanos}};
  if (made_) timer_settime(timer_, 0, &every, nullptr);
}

bool Ticks::Passed() {
  const bool was = passed != 0;
  passed = 0;
  return was;
}

Ticks::~Ticks() {
  if (made_) timer_delete(timer_);
  pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
  sigaction(SIGALRM, &before_, nullptr);
}

}  // namespace jprof::itrace
