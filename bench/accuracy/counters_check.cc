// Compares virtual time, dispatches and software events with the kernel's figures, thread by
// thread: one thread that alternates between 2 CPUs, then 8 threads on 2 CPUs that spin, sleep,
// yield, touch new pages and change CPUs, for --seconds (60) each.
//   time                          against CLOCK_THREAD_CPUTIME_ID: within 0.5 %, and above it by at
//                                 most the time that a hypervisor stole (/proc/stat): the time
//                                 stamp counter continues then, the kernel's figure excludes it
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

// Reads both sets of figures at one moment: repeats if they changed meanwhile. Returns false if
// they always did.
bool ReadBoth(jprof_thread_counters* counters, Figures& ours, Figures& kernel) {
  for (int tries = 0; tries < 200; ++tries) {
    kernel = Kernel();
    jprof_read_all(counters, ours.values);
    if (Same(kernel, Kernel())) return true;
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
  Figures ours, kernel;
};

// Seed 0: the alternating thread.
void Run(const jprof_counters* set, const std::vector<int>& cpus, double seconds, unsigned seed,
         Outcome& outcome) {
  jprof_thread_counters* counters = jprof_thread_start(set);
  if (counters == nullptr) return;
  outcome.tid = syscall(SYS_gettid);
  std::mt19937 random(seed);
  Figures ours, kernel;
  (void)ReadBoth(counters, ours, kernel);  // touches the memory that reading needs
  outcome.at_one_moment = ReadBoth(counters, ours, kernel);
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
  outcome.at_one_moment &= ReadBoth(counters, outcome.ours, outcome.kernel);
  for (int i = 0; i < kMetrics; ++i) {
    outcome.ours.values[i] -= ours.values[i];
    outcome.kernel.values[i] -= kernel.values[i];
  }
  jprof_thread_stop(counters);
}

// The time that the hypervisor has stolen from this machine's CPUs so far, in ns: the eighth number
// of the first line of /proc/stat.
int64_t StolenNanos() {
  std::ifstream file("/proc/stat");
  std::string cpu;
  int64_t ticks = 0;
  file >> cpu;
  for (int i = 0; i < 8; ++i) file >> ticks;
  return ticks * 1'000'000'000 / sysconf(_SC_CLK_TCK);
}

// Whether a time agrees with the kernel's figure for the same period.
bool TimeHolds(int64_t ours, int64_t kernel, int64_t stolen) {
  const double bound = kTimeBound * static_cast<double>(kernel),
               off = static_cast<double>(ours - kernel);
  return off >= -bound && off <= bound + static_cast<double>(stolen);
}

// The event counts when a thread starts to run on another CPU, the kernel's figure every move: a
// waiting thread may be moved twice. The alternating thread is moved only while it runs.
bool MigrationsHold(const Outcome& outcome, bool hops, bool known) {
  const int64_t ours = outcome.ours.values[4], kernel = outcome.kernel.values[4];
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
    const auto ours = outcome.ours.values[i], kernel = outcome.kernel.values[i];
    const double off =
        kernel == 0 ? 0 : static_cast<double>(ours - kernel) / static_cast<double>(kernel);
    const bool holds = i == 1   ? TimeHolds(ours, kernel, stolen)
                       : i == 4 ? MigrationsHold(outcome, hops, known)
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
  const int64_t stolen_before = StolenNanos();
  Run(set, cpus, seconds, 0, outcomes[0]);
  Pin(cpus);
  std::vector<std::thread> threads;
  for (unsigned i = 1; i <= kThreads; ++i)
    threads.emplace_back(Run, set, std::cref(cpus), seconds, i, std::ref(outcomes[i]));
  for (std::thread& thread : threads) thread.join();
  const int64_t stolen = StolenNanos() - stolen_before;
  std::printf("stolen by the hypervisor meanwhile: %.0f ms\n", static_cast<double>(stolen) / 1e6);
  std::printf("%7s  %-16s %14s %14s  %10s\n", "TID", "METRIC", "JPROF", "KERNEL", "OFF");
  bool good = true;
  for (const Outcome& outcome : outcomes)
    good &= Judge(outcome, &outcome == outcomes.data(), stolen);
  jprof_counters_terminate(set);
  return good ? 0 : 1;
}
