#include "ptm/cpu_sampler.h"

#include <linux/perf_event.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "common/bytes.h"
#include "common/errno_text.h"
#include "common/procfs.h"
#include "ptm/machine.h"
#include "ptm/open_event.h"
#include "ptm/sample_rings.h"

namespace jprof::ptm {
namespace {

int ParanoidLevel() { return procfs::KernelSetting("perf_event_paranoid").value_or(2); }

int OpenEvent(perf_event_attr& attr, int pid, int cpu, int leader = -1) {
  return static_cast<int>(
      syscall(SYS_perf_event_open, &attr, pid, cpu, leader, PERF_FLAG_FD_CLOEXEC));
}

constexpr uint64_t kReadFormat =
    PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;

perf_event_attr AttributesOf(const CpuSamplerOptions& options) {
  perf_event_attr attr = AttributesOf(options.event);
  attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
  if (options.switches) {
    attr.sample_type |= PERF_SAMPLE_READ;
    attr.read_format = kReadFormat;
  }
  if (options.chains) attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
  if (options.data) attr.sample_type |= PERF_SAMPLE_ADDR;
  attr.freq = options.rate != 0;
  if (options.rate != 0) {
    attr.sample_freq = options.rate;
  } else {
    attr.sample_period = options.period;
  }
  // A group with counted events must never give way to other users' events.
  attr.pinned = options.switches;
  attr.disabled = 1;
  attr.inherit = !options.pids.empty();
  attr.enable_on_exec = options.on_exec;
  // build_id stays unset: Linux (up to 6.18 at least) would then mark other tools' records of the
  // same mapping as if they had one, and perf 6.1 crashes on that.
  attr.mmap = attr.mmap2 = options.maps;
  attr.context_switch = options.switches;
  attr.comm = attr.comm_exec = 1;
  attr.task = 1;
  attr.sample_id_all = 1;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  attr.watermark = 1;
  attr.wakeup_watermark = static_cast<uint32_t>(options.ring_pages * 4096 / 4);
  return attr;
}

std::unexpected<Error> Refused(int error, const CpuSamplerOptions& options) {
  const Permission permission = SamplingPermission();
  if (error == EACCES || error == EPERM) {
    return Fail("the kernel forbids sampling {}: {}",
                options.pids.empty() ? "the whole machine" : "this process",
                permission.advice.empty()
                    ? "is it in a container without CAP_PERFMON, or under seccomp?"
                    : permission.advice);
  }
  if (error == ESRCH) return Fail("the process to be sampled has ended");
  if (error == EMFILE)
    return Fail("too many threads to sample at once: raise the limit of open files (ulimit -n)");
  if (error == ENOENT || error == ENODEV || error == EOPNOTSUPP) {
    return WrongUse(
        "event '{}' cannot be sampled on this machine; 'jprof metrics --events' lists the events",
        options.event.name);
  }
  return Fail("cannot sample with event '{}': {}", options.event.name, ErrnoText(error));
}

// Opens the event on this CPU for one thread, or for all if `tid` is -1, and lets it write into the
// CPU's ring.
int AddTo(SampleRing& ring, perf_event_attr& attr, int tid, int cpu, size_t ring_pages) {
  int descriptor = OpenEvent(attr, tid, cpu);
  if (descriptor < 0 && (errno == EACCES || errno == EPERM) && !attr.exclude_kernel) {
    attr.exclude_kernel = attr.exclude_hv = 1;
    descriptor = OpenEvent(attr, tid, cpu);
  }
  if (descriptor < 0) return errno;
  ring.descriptors.push_back(descriptor);
  if (ring.page != nullptr) {
    return ioctl(descriptor, PERF_EVENT_IOC_SET_OUTPUT, ring.descriptors.front()) == 0 ? 0 : errno;
  }
  void* page =
      mmap(nullptr, (ring_pages + 1) * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (page == MAP_FAILED) return errno;
  ring.page = static_cast<perf_event_mmap_page*>(page);
  return 0;
}

// Opens the additionally counted events in the group of the ring's own event. Returns an errno, and
// sets `refused` to the index of the event that failed.
int AddCounted(SampleRing& ring, const std::vector<EventSpec>& events, size_t& refused) {
  for (const EventSpec& event : events) {
    perf_event_attr attr = AttributesOf(event);
    attr.read_format = kReadFormat;
    attr.use_clockid = 1;  // one group, one clock
    attr.clockid = CLOCK_MONOTONIC;
    const int descriptor = OpenEvent(attr, -1, ring.cpu, ring.descriptors.front());
    refused = ring.counted.size();
    if (descriptor < 0) return errno;
    ring.counted.push_back(descriptor);
  }
  return 0;
}

std::unexpected<Error> NotCounted(const EventSpec& event, size_t place, int error) {
  if (error == EINVAL && place > 0) {
    return WrongUse(
        "'{}' does not fit on this CPU's counters together with the {} before it; specify fewer "
        "(`jprof events --together A,B,C` shows what fits)",
        event.name, place == 1 ? "one" : fmt::format("{}", place));
  }
  return WrongUse("metric '{}' cannot be counted: {}", event.name,
                  Explain(event, error, ReadMachine()));
}

}  // namespace

struct CpuSampler::State : SampleRings {
  using SampleRings::SampleRings;

  std::string note;
};

EventSpec CpuClock() {
  return {.name = "cpu-clock", .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK};
}

EventSpec TaskClock() {
  return {.name = "time", .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_TASK_CLOCK};
}

EventSpec PageFaults() {
  return {.name = "page-faults", .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_PAGE_FAULTS};
}

CpuSampler::CpuSampler(std::unique_ptr<State> state) : state_(std::move(state)) {}
CpuSampler::CpuSampler(CpuSampler&&) noexcept = default;
CpuSampler& CpuSampler::operator=(CpuSampler&&) noexcept = default;
CpuSampler::~CpuSampler() = default;

Result<CpuSampler> CpuSampler::Open(const CpuSamplerOptions& options) {
  auto state = std::make_unique<State>(
      options.ring_pages,
      RecordParser({.chains = options.chains, .counts = options.switches, .data = options.data}));
  perf_event_attr attr = AttributesOf(options);
  const bool wanted_kernel = !attr.exclude_kernel;
  std::vector<int> targets;
  int not_listed = ESRCH;
  for (const uint32_t pid : options.pids) {
    errno = 0;
    const auto threads = procfs::Threads(pid);
    if (threads.empty() && errno != 0 && errno != ENOENT) not_listed = errno;
    for (const uint32_t tid : threads) targets.push_back(static_cast<int>(tid));
  }
  if (options.pids.empty()) targets.push_back(-1);
  if (targets.empty()) return Refused(not_listed, options);
  for (const int cpu : OnlineCpus()) {
    SampleRing ring;
    ring.cpu = cpu;
    for (const int target : targets) {
      const int error = AddTo(ring, attr, target, cpu, options.ring_pages);
      if (error == ESRCH && targets.size() > 1) continue;  // a thread ended meanwhile
      if (error != 0) {
        state->rings.push_back(std::move(ring));  // closes what was opened
        return Refused(error, options);
      }
    }
    if (ring.page == nullptr) continue;
    state->rings.push_back(std::move(ring));
    size_t refused = 0;
    if (const int error = AddCounted(state->rings.back(), options.counted, refused))
      return NotCounted(options.counted[refused], refused, error);
  }
  if (state->rings.empty()) return Refused(ESRCH, options);
  if (wanted_kernel && attr.exclude_kernel) {
    state->note = "only user mode is sampled: " + SamplingPermission().advice;
  }
  return CpuSampler(std::move(state));
}

CpuSampler CpuSampler::FromRing(int descriptor, void* ring, size_t ring_pages) {
  auto state = std::make_unique<State>(ring_pages, RecordParser({}));
  state->rings.emplace_back().page = static_cast<perf_event_mmap_page*>(ring);
  state->rings.back().descriptors = {descriptor};
  return CpuSampler(std::move(state));
}

void CpuSampler::Start() { state_->Control(PERF_EVENT_IOC_ENABLE); }
void CpuSampler::Stop() { state_->Control(PERF_EVENT_IOC_DISABLE); }

void CpuSampler::Drain(int milliseconds, const SampleVisitor& visit) {
  std::vector<pollfd> ready;
  for (const SampleRing& ring : state_->rings)
    ready.push_back({ring.descriptors.front(), POLLIN, 0});
  // poll returns at once for the events of an ended process; sleep in any case.
  const int woken = milliseconds > 0 ? poll(ready.data(), ready.size(), milliseconds) : 0;
  if (woken > 0) {
    bool only_hung_up = true;
    for (const pollfd& one : ready) only_hung_up &= (one.revents & POLLIN) == 0;
    if (only_hung_up) poll(nullptr, 0, std::min(milliseconds, 50));
  }
  state_->Drain(visit);
}

void CpuSampler::ReadCounted(const SampleVisitor& visit) {
  for (const SampleRing& ring : state_->rings) {
    std::array<std::byte, (3 + CountedValues::kMost) * sizeof(uint64_t)> raw;
    const ssize_t got = read(ring.descriptors.front(), raw.data(), raw.size());
    if (got <= 0) continue;
    ByteCursor bytes(std::span<const std::byte>(raw).first(static_cast<size_t>(got)));
    SampleRecord record = {.cpu = static_cast<uint16_t>(ring.cpu)};
    record.counted = ReadCountedValues(bytes);
    visit(record);
  }
}

const std::string& CpuSampler::note() const { return state_->note; }
uint32_t CpuSampler::cpus() const { return static_cast<uint32_t>(state_->rings.size()); }

Permission SamplingPermission() {
  Permission permission;
  perf_event_attr attr = AttributesOf(CpuSamplerOptions());
  const auto can = [&attr](int pid) {
    const int descriptor = OpenEvent(attr, pid, pid < 0 ? 0 : -1);
    if (descriptor >= 0) close(descriptor);
    return descriptor >= 0;
  };
  permission.kernel = can(0);
  const int error = errno;
  permission.whole_machine = can(-1);
  if (permission.whole_machine && permission.kernel) return permission;
  if (!permission.kernel && error != EACCES) {
    permission.advice = Explain(CpuClock(), error, ReadMachine());
    return permission;
  }
  permission.advice = fmt::format(
      "perf_event_paranoid is {}; run as root, give jprof CAP_PERFMON, or as root: sysctl "
      "kernel.perf_event_paranoid={}",
      ParanoidLevel(), permission.kernel ? 0 : -1);
  return permission;
}

}  // namespace jprof::ptm
