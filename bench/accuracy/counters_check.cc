// Compares virtual time, dispatches and software events with the kernel's figures, thread by
// thread: one thread that alternates between 2 CPUs, then 8 threads on 2 CPUs that spin, sleep,
// yield, touch new pages and change CPUs, for --seconds (60) each.
//   time                          between the readings of CLOCK_THREAD_CPUTIME_ID before and after
//                                 it: within 0.5 %, and above them by at most the time that a
//                                 hypervisor stole (/proc/stat): the time stamp counter continues
//                                 then, the kernel's figure excludes it
//   dispatches, context-switches  equal to voluntary_ctxt_switches + nonvoluntary_ctxt_switches of
//                                 /proc/self/task/TID/status
//   page-faults                   equal to /proc/self/task/TID/stat
//   cpu-migrations                at most the number in /proc/self/task/TID/sched, and at least the
//                                 changes of CPU that the thread itself observed; equal to /proc
//                                 for the alternating thread
// A thread also fails if its figures always change while they are read.
// Exit status 1 if a comparison fails.
#include <jprof_counters.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kThreads = 8;
constexpr int kMetrics = 5;
constexpr const char* kNames[kMetrics] = {"dispatches", "time", "page-faults", "context-switches",
                                          "cpu-migrations"};
constexpr int kTime = 1;
constexpr double kTimeBound = 0.005;

struct Figures {
  int64_t values[kMetrics] = {};
};

// The number after "key" in a /proc file of this thread; -1 if there is none.
int64_t Field(const char* file, const std::string& key) {
  std::ifstream lines("/proc/thread-self/" + std::string(file));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(key)) return std::stoll(line.substr(line.find(':') + 1));
  }
  return -1;
}

int64_t Faults() {
  std::ifstream file("/proc/thread-self/stat");
  std::string line;
  std::getline(file, line);
  std::istringstream words(line.substr(line.rfind(')') + 2));
  std::vector<int64_t> fields(10);
  std::string state;
  words >> state;
  for (size_t i = 1; i < fields.size(); ++i) words >> fields[i];
  return fields[7] + fields[9];  // minflt, majflt
}

int64_t CpuNanos() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

Figures Kernel() {
  const int64_t switches =
      Field("status", "voluntary_ctxt_switches") + Field("status", "nonvoluntary_ctxt_switches");
  return {{switches, CpuNanos(), Faults(), switches, Field("sched", "se.nr_migrations")}};
}

bool Same(const Figures& a, const Figures& b) {
  for (const int i : {0, 2, 3, 4}) {
    if (a.values[i] != b.values[i]) return false;
  }
  return true;
}

// Both sets of figures at one moment. Time passes while they are read, and much of it if a
// hypervisor stops the CPU then; so the kernel's time has two readings.
struct Moment {
  Figures ours, kernel;
  int64_t kernel_time_after = 0;
};

// Repeats if the counts changed meanwhile. Returns false if they always did.
bool ReadBoth(jprof_thread_counters* counters, Moment& moment) {
  for (int tries = 0; tries < 200; ++tries) {
    moment.kernel = Kernel();
    jprof_read_all(counters, moment.ours.values);
    const Figures after = Kernel();
    moment.kernel_time_after = after.values[kTime];
    if (Same(moment.kernel, after)) return true;
  }
  return false;
}

void TouchPages(int pages) {
  const size_t bytes = static_cast<size_t>(pages) * 4096;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  madvise(memory, bytes, MADV_NOHUGEPAGE);
  std::memset(memory, 1, bytes);
  munmap(memory, bytes);
}

void Pin(const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof(set), &set);
}

std::vector<int> TwoCpus() {
  cpu_set_t set;
  sched_getaffinity(0, sizeof(set), &set);
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE && cpus.size() < 2; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

void Spin(unsigned turns) {
  volatile unsigned left = turns;
  while (left > 0) left = left - 1;
}

// A mix of all kinds of work, about 100 us on average.
void Work(std::mt19937& random, const std::vector<int>& cpus) {
  const auto what = static_cast<unsigned>(random() % 64);
  Spin(static_cast<unsigned>(random() % 100'000));
  const timespec nap = {0, 20'000};
  if (what == 0) {
    TouchPages(20);
  } else if (what == 1) {
    Pin({cpus[random() % cpus.size()]});
  } else if (what == 2) {
    Pin(cpus);
  } else if (what < 20) {
    sched_yield();
  } else if (what < 40) {
    nanosleep(&nap, nullptr);
  }
}

// Alternates between the CPUs; the kernel moves the thread only while it runs.
void Hop(std::mt19937& random, const std::vector<int>& cpus) {
  Pin({cpus[sched_getcpu() == cpus[0] ? cpus.size() - 1 : 0]});
  Spin(static_cast<unsigned>(random() % 1'000'000));
}

struct Outcome {
  long tid = 0;
  bool at_one_moment = false;
  int64_t seen = 0;  // changes of CPU that the thread observed
  Moment begin, end;

  int64_t Ours(int metric) const { return end.ours.values[metric] - begin.ours.values[metric]; }
  int64_t Kernel(int metric) const {
    return end.kernel.values[metric] - begin.kernel.values[metric];
  }
  // The least and the most time that may have passed for the kernel between the two readings of
  // ours.
  int64_t LeastTime() const { return end.kernel.values[kTime] - begin.kernel_time_after; }
  int64_t MostTime() const { return end.kernel_time_after - begin.kernel.values[kTime]; }
};

// Seed 0: the alternating thread.
void Run(const jprof_counters* set, const std::vector<int>& cpus, double seconds, unsigned seed,
         Outcome& outcome) {
  jprof_thread_counters* counters = jprof_thread_start(set);
  if (counters == nullptr) return;
  outcome.tid = syscall(SYS_gettid);
  std::mt19937 random(seed);
  (void)ReadBoth(counters, outcome.begin);  // touches the memory that reading needs
  outcome.at_one_moment = ReadBoth(counters, outcome.begin);
  int last = sched_getcpu();
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (std::chrono::steady_clock::now() < end) {
    if (seed == 0) {
      Hop(random, cpus);
    } else {
      Work(random, cpus);
    }
    (void)jprof_read_one(counters);
    const int cpu = sched_getcpu();
    outcome.seen += cpu != last;
    last = cpu;
  }
  outcome.at_one_moment &= ReadBoth(counters, outcome.end);
  jprof_thread_stop(counters);
}

// Returns the time that the hypervisor has stolen from this machine's CPUs so far, in clock ticks:
// the eighth number of the first line of /proc/stat.
int64_t StolenTicks() {
  std::ifstream file("/proc/stat");
  std::string cpu;
  int64_t ticks = 0;
  file >> cpu;
  for (int i = 0; i < 8; ++i) file >> ticks;
  return ticks;
}

// Returns the most that the hypervisor can have stolen since StolenTicks() returned `before`, in
// ns. The kernel notes stolen time at timer interrupts, and /proc/stat drops a part of a tick.
int64_t StolenNanosSince(int64_t before) {
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const int64_t now = StolenTicks();
  return now == 0 ? 0 : (now - before + 1) * 1'000'000'000 / sysconf(_SC_CLK_TCK);
}

// Whether our time agrees with the kernel's time of the same period.
bool TimeHolds(const Outcome& outcome, int64_t stolen) {
  const double ours = static_cast<double>(outcome.Ours(kTime));
  return ours >= (1 - kTimeBound) * static_cast<double>(outcome.LeastTime()) &&
         ours <= (1 + kTimeBound) * static_cast<double>(outcome.MostTime() + stolen);
}

// The event counts when a thread starts to run on another CPU, the kernel's figure every move: a
// waiting thread may be moved twice. The alternating thread is moved only while it runs.
bool MigrationsHold(const Outcome& outcome, bool hops, bool known) {
  const int64_t ours = outcome.Ours(4), kernel = outcome.Kernel(4);
  if (ours < outcome.seen) return false;
  return !known || (hops ? ours == kernel : ours <= kernel);
}

// Prints a row for each metric; returns whether all comparisons hold.
bool Judge(const Outcome& outcome, bool hops, int64_t stolen) {
  const bool known = Field("sched", "se.nr_migrations") >= 0;
  if (outcome.tid == 0 || !outcome.at_one_moment) {
    std::printf("%7ld  %s  FAILS\n", outcome.tid,
                outcome.tid == 0 ? "was not counted" : "could not be read at one moment");
    return false;
  }
  bool good = true;
  for (int i = 0; i < kMetrics; ++i) {
    const int64_t ours = outcome.Ours(i), kernel = outcome.Kernel(i);
    const double off =
        kernel == 0 ? 0 : static_cast<double>(ours - kernel) / static_cast<double>(kernel);
    const bool holds = i == kTime ? TimeHolds(outcome, stolen)
                       : i == 4   ? MigrationsHold(outcome, hops, known)
                                  : ours == kernel;
    std::printf("%7ld  %-16s %14ld %14ld  %+8.4f %%  %s", outcome.tid, kNames[i], ours, kernel,
                100 * off, holds ? "holds" : "FAILS");
    if (i == 4) std::printf(", %ld seen%s", outcome.seen, known ? "" : "; not in /proc");
    std::printf("\n");
    good &= holds;
  }
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds =
      argc == 3 && std::strcmp(argv[1], "--seconds") == 0 ? std::atof(argv[2]) : 60;
  jprof_counters* set = nullptr;
  if (jprof_counters_init(&set, kNames, kMetrics) != 0) {
    std::printf("skipped: %s\n", jprof_counters_error());
    return 77;
  }
  std::vector<Outcome> outcomes(kThreads + 1);
  const std::vector<int> cpus = TwoCpus();
  const int64_t stolen_before = StolenTicks();
  Run(set, cpus, seconds, 0, outcomes[0]);
  Pin(cpus);
  std::vector<std::thread> threads;
  for (unsigned i = 1; i <= kThreads; ++i)
    threads.emplace_back(Run, set, std::cref(cpus), seconds, i, std::ref(outcomes[i]));
  for (std::thread& thread : threads) thread.join();
  const int64_t stolen = StolenNanosSince(stolen_before);
  std::printf("stolen by the hypervisor meanwhile: at most %.0f ms\n",
              static_cast<double>(stolen) / 1e6);
  std::printf("%7s  %-16s %14s %14s  %10s\n", "TID", "METRIC", "JPROF", "KERNEL", "OFF");
  bool good = true;
  for (const Outcome& outcome : outcomes)
    good &= Judge(outcome, &outcome == outcomes.data(), stolen);
  jprof_counters_terminate(set);
  return good ? 0 : 1;
}
