#include "record/count/thread_counting.h"

#include <sched.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <map>
#include <set>

#include "common/monotonic.h"
#include "record/run/print_error.h"

namespace jprof::record {
namespace {

constexpr size_t kRingPages = 1024;  // per CPU: 20,000 dispatches

uint64_t Now() { return static_cast<uint64_t>(MonotonicNanos()); }

// Runs on every CPU, one after the other, so that the thread that ran there is dispatched and
// thereby identified. Otherwise a thread that does not share its CPU would be unknown until it
// sleeps.
void VisitCpus() {
  cpu_set_t before;
  if (sched_getaffinity(0, sizeof(before), &before) != 0) return;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &before)) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof(one), &one);
  }
  sched_setaffinity(0, sizeof(before), &before);
}

ptm::CpuSamplerOptions DispatchSampling(const std::vector<ptm::CheckedMetric>& metrics) {
  ptm::CpuSamplerOptions sampling = {.event = ptm::DispatchEvent(), .rate = 0, .period = 1};
  sampling.maps = false;
  sampling.switches = true;
  sampling.ring_pages = kRingPages;
  for (const ptm::CheckedMetric& metric : metrics) {
    if (metric.event) sampling.counted.push_back(*metric.event);
  }
  return sampling;
}

bool Differ(const ptm::ThreadAccount& before, const ptm::ThreadAccount& now) {
  return now.dispatches != before.dispatches || now.nanos != before.nanos;
}

const std::vector<std::string> kDefaultMetrics = {"time",         "dispatches",  "PAPI_TOT_INS",
                                                  "PAPI_TOT_CYC", "page-faults", "cpu-migrations"};

}  // namespace

std::set<uint32_t> ProcessTree(uint32_t root, const std::string& proc) {
  std::multimap<uint32_t, uint32_t> children;
  for (const uint32_t pid : procfs::Processes(proc))
    children.emplace(procfs::ReadStatus(pid, proc).parent, pid);
  std::set<uint32_t> tree;
  std::vector<uint32_t> open = {root};
  while (!open.empty()) {
    const uint32_t pid = open.back();
    open.pop_back();
    if (!tree.insert(pid).second) continue;
    const auto [first, last] = children.equal_range(pid);
    for (auto child = first; child != last; ++child) open.push_back(child->second);
  }
  return tree;
}

std::string PrintableName(std::string name) {
  std::ranges::replace_if(
      name, [](unsigned char c) { return c < ' ' || c > '~'; }, '?');
  return name.empty() ? "?" : name;
}

std::vector<double> CountsBetween(const std::vector<ptm::CheckedMetric>& metrics,
                                  const ptm::ThreadAccount& before, const ptm::ThreadAccount& now) {
  std::vector<double> counts;
  size_t event = 0;
  for (const ptm::CheckedMetric& metric : metrics) {
    uint64_t count = metric.name == "time"        ? now.nanos - before.nanos
                     : metric.name == kInterrupts ? now.interrupts - before.interrupts
                                                  : now.dispatches - before.dispatches;
    if (metric.event) {
      count = now.counts[event] - before.counts[event];
      ++event;
    }
    counts.push_back(static_cast<double>(count));
  }
  return counts;
}

Result<ptm::CheckedMetrics> ChooseMetrics(const std::vector<std::string>& names) {
  if (!names.empty()) return ptm::CheckMetrics(names);
  ptm::CheckedMetrics chosen;
  for (const std::string& name : kDefaultMetrics) {
    auto one = ptm::CheckMetrics({&name, 1});
    if (!one) {
      if (chosen.notes.empty()) chosen.notes.push_back(one.error().message);
      continue;
    }
    chosen.metrics.push_back(one->metrics.front());
    std::ranges::move(one->notes, std::back_inserter(chosen.notes));
  }
  return chosen;
}

ThreadCounting::ThreadCounting(std::vector<ptm::CheckedMetric> metrics, ptm::CpuSampler sampler)
    : metrics_(std::move(metrics)), sampler_(std::move(sampler)), start_(Now()) {}

Result<ThreadCounting> ThreadCounting::Start(std::vector<ptm::CheckedMetric> metrics) {
  auto sampler = ptm::CpuSampler::Open(DispatchSampling(metrics));
  if (!sampler) return std::unexpected(Error{sampler.error().message, Error::Kind::kWrongUse});
  sampler->Start();
  uint32_t counting = 0;
  sampler->ReadCounted([&counting](const ptm::SampleRecord&) { ++counting; });
  if (counting != sampler->cpus()) {
    return WrongUse(
        "another program uses this CPU's counters; stop it (or the NMI watchdog: `sudo sysctl "
        "kernel.nmi_watchdog=0`), or request only software events");
  }
  ThreadCounting started(std::move(metrics), *std::move(sampler));
  VisitCpus();
  return started;
}

void ThreadCounting::AddExisting(uint32_t root) {
  all_processes_ = root == 0;
  const std::set<uint32_t> tree = all_processes_ ? std::set<uint32_t>() : ProcessTree(root);
  for (const uint32_t pid : procfs::Processes()) {
    for (const uint32_t tid : procfs::Threads(pid))
      accounts_.AddThread(pid, tid, procfs::ThreadName(pid, tid), tree.contains(pid));
  }
  accounts_.AddThread(0, 0, "(idle)", false);
}

void ThreadCounting::AddFamily(uint32_t pid) { accounts_.AddThread(pid, pid, "", true); }

void ThreadCounting::RaisePriority() {
  signal(SIGXCPU, [](int) {
    const sched_param none = {};
    sched_setscheduler(0, SCHED_OTHER, &none);
  });
  const rlimit time = {kPriorityMilliseconds * 1000, RLIM_INFINITY};
  const sched_param least = {.sched_priority = sched_get_priority_min(SCHED_RR)};
  if (setrlimit(RLIMIT_RTTIME, &time) == 0 &&
      sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &least) == 0)
    return;
  PrintError(
      "--hurry has no effect: real-time priority needs root, CAP_SYS_NICE or a limit (ulimit -r)");
}

void ThreadCounting::Drain() {
  sampler_.Drain(0, [this](const ptm::SampleRecord& record) { accounts_.Add(record); });
}

void ThreadCounting::Sync() {
  now_ = Now();
  sampler_.ReadCounted([this](const ptm::SampleRecord& record) { accounts_.AddReading(record); });
  Drain();
  accounts_.SettleReadings();
  if (!kernel_) return;
  kernel_->ReadInterrupts(
      [this](uint32_t tid, uint64_t count) { accounts_.SetInterrupts(tid, count); });
}

void ThreadCounting::StartTable() {
  before_.assign(accounts_.threads().begin(), accounts_.threads().end());
  lost_before_ = accounts_.lost();
  start_ = now_;
}

CountTable ThreadCounting::Table() const {
  CountTable table = {.seconds = static_cast<double>(now_ - start_) / 1e9, .metrics = metrics_};
  table.total = {.name = "(all)", .threads = 0, .counts = std::vector<double>(metrics_.size(), 0)};
  const ptm::ThreadAccount nothing;
  for (size_t i = 0; i < accounts_.threads().size(); ++i) {
    const ptm::ThreadAccount& now = accounts_.threads()[i];
    const ptm::ThreadAccount& before = i < before_.size() ? before_[i] : nothing;
    if ((!all_processes_ && !now.family) || !Differ(before, now)) continue;
    CountRow row = {.pid = now.pid, .tid = now.tid, .name = PrintableName(now.name)};
    row.ended = now.ended != 0;
    row.counts = CountsBetween(metrics_, before, now);
    ++table.total.threads;
    for (size_t k = 0; k < row.counts.size(); ++k) table.total.counts[k] += row.counts[k];
    table.rows.push_back(std::move(row));
  }
  if (Differ(lost_before_, accounts_.lost()))
    table.lost = CountsBetween(metrics_, lost_before_, accounts_.lost());
  SortByTime(table);
  return table;
}

}  // namespace jprof::record
