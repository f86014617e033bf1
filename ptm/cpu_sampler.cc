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
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <queue>
#include <utility>

#include "common/bytes.h"
#include "common/errno_text.h"
#include "common/monotonic.h"
#include "common/procfs.h"
#include "ptm/machine.h"
#include "ptm/open_event.h"

namespace jprof::ptm {
namespace {

constexpr uint64_t kMaxChain = 1024;

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

constexpr size_t kSampleIdBytes = 24;  // TID | TIME | CPU
// This is the size of a dispatch record: header and sample id.
constexpr size_t kSmallestRecord = sizeof(perf_event_header) + kSampleIdBytes;

// Returns a zero-padded text, which is before the sample id at the end of the record.
std::string_view TextOf(const ByteCursor& bytes) {
  const size_t behind = std::min(bytes.left(), kSampleIdBytes);
  const std::string_view padded = bytes.rest().substr(0, bytes.left() - behind);
  return padded.substr(0, padded.find('\0'));
}

// Represents the ring buffer of one CPU.
struct Ring {
  perf_event_mmap_page* page = nullptr;
  std::vector<int> descriptors;  // the first owns the mapping, the others write into it
  std::vector<int> counted;      // in the group of the first
  int cpu = 0;

  const std::byte* data() const { return reinterpret_cast<const std::byte*>(page) + 4096; }
};

}  // namespace

struct CpuSampler::State {
  std::vector<Ring> rings;
  std::vector<std::byte> copy;  // of a record that wraps around the end of the ring
  std::vector<uint64_t> chain;
  uint64_t unreadable = 0;  // estimated maximum number of records lost to unreadable data
  bool chains = false;
  bool counts = false;
  size_t ring_pages = 0;
  std::string note;

  ~State() {
    for (Ring& ring : rings) {
      if (ring.page != nullptr) munmap(ring.page, (ring_pages + 1) * 4096);
      for (const int descriptor : ring.counted) close(descriptor);
      for (const int descriptor : ring.descriptors) close(descriptor);
    }
  }

  void ForEach(unsigned long request) {
    for (Ring& ring : rings) {
      for (const int descriptor : ring.descriptors) ioctl(descriptor, request, 0);
    }
  }

  static CountedValues Values(ByteCursor& bytes) {
    CountedValues read;
    const auto events = bytes.Read<uint64_t>();
    read.enabled = bytes.Read<uint64_t>();
    read.running = bytes.Read<uint64_t>();
    read.size = std::min<size_t>(events, CountedValues::kMost);
    for (size_t i = 0; i < read.size; ++i) read.values[i] = bytes.Read<uint64_t>();
    return read;
  }

  void Sample(const perf_event_header& header, ByteCursor bytes, SampleRecord& record) {
    record.kind = SampleRecord::Kind::kSample;
    const unsigned mode = header.misc & PERF_RECORD_MISC_CPUMODE_MASK;
    record.kernel = mode == PERF_RECORD_MISC_KERNEL || mode == PERF_RECORD_MISC_GUEST_KERNEL;
    record.address = bytes.Read<uint64_t>();
    record.pid = bytes.Read<uint32_t>();
    record.tid = bytes.Read<uint32_t>();
    record.time = bytes.Read<uint64_t>();
    record.cpu = static_cast<uint16_t>(bytes.Read<uint32_t>());
    bytes.Skip(4);
    if (counts) record.counted = Values(bytes);
    if (!chains) return;
    chain.clear();
    const uint64_t count = std::min(bytes.Read<uint64_t>(), kMaxChain);
    for (uint64_t i = 0; i < count && bytes.ok(); ++i) {
      const auto address = bytes.Read<uint64_t>();
      if (address < PERF_CONTEXT_MAX) chain.push_back(address);
    }
    record.chain = chain;
  }

  // Reads the sample id, which ends every record except a sample.
  static void SampleId(ByteCursor bytes, SampleRecord& record) {
    if (bytes.left() < kSampleIdBytes) return;
    bytes.Skip(bytes.left() - kSampleIdBytes);
    const auto pid = bytes.Read<uint32_t>();
    const auto tid = bytes.Read<uint32_t>();
    if (record.kind == SampleRecord::Kind::kSwitch) {
      record.pid = pid;
      record.tid = tid;
    }
    record.time = bytes.Read<uint64_t>();
    record.cpu = static_cast<uint16_t>(bytes.Read<uint32_t>());
  }

  // Reads a mapping. PERF_RECORD_MISC_MMAP_BUILD_ID is ignored, because another tool may have
  // caused it, and jprof never requests build ids.
  static bool Map(ByteCursor bytes, SampleRecord& record) {
    record.kind = SampleRecord::Kind::kMap;
    record.pid = bytes.Read<uint32_t>();
    record.tid = bytes.Read<uint32_t>();
    record.address = bytes.Read<uint64_t>();
    record.length = bytes.Read<uint64_t>();
    record.offset = bytes.Read<uint64_t>();
    bytes.Skip(8);  // device
    record.inode = bytes.Read<uint64_t>();
    bytes.Skip(8);  // generation
    const auto protection = bytes.Read<uint32_t>();
    bytes.Skip(4);
    record.text = TextOf(bytes);
    return (protection & PROT_EXEC) != 0;
  }

  void Record(std::span<const std::byte> raw,
              const std::function<void(const SampleRecord&)>& visit) {
    ByteCursor bytes(raw);
    const auto header = bytes.Read<perf_event_header>();
    SampleRecord record;
    bool wanted = true;
    switch (header.type) {
      case PERF_RECORD_SAMPLE:
        Sample(header, bytes, record);
        break;
      case PERF_RECORD_MMAP2:
        wanted = Map(bytes, record);
        break;
      case PERF_RECORD_COMM:
        record.kind = SampleRecord::Kind::kComm;
        record.exec = (header.misc & PERF_RECORD_MISC_COMM_EXEC) != 0;
        record.pid = bytes.Read<uint32_t>();
        record.tid = bytes.Read<uint32_t>();
        record.text = TextOf(bytes);
        break;
      case PERF_RECORD_FORK:
      case PERF_RECORD_EXIT:
        record.kind =
            header.type == PERF_RECORD_FORK ? SampleRecord::Kind::kFork : SampleRecord::Kind::kExit;
        record.pid = bytes.Read<uint32_t>();
        record.parent_pid = bytes.Read<uint32_t>();
        record.tid = bytes.Read<uint32_t>();
        record.parent_tid = bytes.Read<uint32_t>();
        break;
      case PERF_RECORD_SWITCH_CPU_WIDE:  // one record as a thread leaves, one as the next arrives
        record.kind = SampleRecord::Kind::kSwitch;
        wanted = (header.misc & PERF_RECORD_MISC_SWITCH_OUT) == 0;
        break;
      case PERF_RECORD_LOST:
        bytes.Skip(8);
        [[fallthrough]];
      case PERF_RECORD_LOST_SAMPLES:
        record.kind = SampleRecord::Kind::kLost;
        record.lost = bytes.Read<uint64_t>();
        break;
      default:
        wanted = false;
    }
    if (!wanted || !bytes.ok()) return;
    if (record.kind != SampleRecord::Kind::kSample) SampleId(bytes, record);
    visit(record);
  }

  // Represents the next record of a ring that the kernel has written up to `head`. It is not
  // consumed.
  struct Front {
    uint64_t time;
    Ring* ring;
    uint64_t head;
    uint32_t bytes;
    bool operator>(const Front& other) const { return time > other.time; }
  };

  bool Next(Ring& ring, uint64_t head, Front* front) {
    if (ring.page->data_tail >= head) return false;
    const uint64_t at = ring.page->data_tail % (ring_pages * 4096);
    perf_event_header header;  // 8 bytes, and records are multiples of 8: it never wraps
    std::memcpy(&header, ring.data() + at, sizeof(header));
    const uint64_t left = head - ring.page->data_tail;
    if (header.size < kSmallestRecord ||
        header.size > left) {  // the position of the next record is unknown too
      unreadable += (left + kSmallestRecord - 1) / kSmallestRecord;
      __atomic_store_n(&ring.page->data_tail, head, __ATOMIC_RELEASE);
      return false;
    }
    // In samples, the time follows the address and the thread id; in other records it is in the
    // sample id.
    const uint64_t time_at = header.type == PERF_RECORD_SAMPLE ? at + 24 : at + header.size - 16;
    *front = {0, &ring, head, header.size};
    std::memcpy(&front->time, ring.data() + time_at % (ring_pages * 4096), sizeof(front->time));
    return true;
  }

  std::span<const std::byte> RawOf(const Front& front) {
    const uint64_t size = ring_pages * 4096, at = front.ring->page->data_tail % size;
    const std::byte* data = front.ring->data();
    if (at + front.bytes <= size) return {data + at, front.bytes};
    copy.assign(data + at, data + size);
    copy.insert(copy.end(), data, data + (front.bytes - (size - at)));
    return copy;
  }

  // Visits the current records of all rings in order of time. Records that arrive meanwhile wait
  // for the next call: one ring's might be visible while older ones of another ring are not.
  void DrainRings(const std::function<void(const SampleRecord&)>& visit) {
    std::priority_queue<Front, std::vector<Front>, std::greater<>> fronts;
    const auto now = static_cast<uint64_t>(MonotonicNanos());
    Front front;
    for (Ring& ring : rings) {
      const uint64_t head = __atomic_load_n(&ring.page->data_head, __ATOMIC_ACQUIRE);
      if (Next(ring, head, &front)) fronts.push(front);
    }
    while (!fronts.empty() && fronts.top().time <= now) {
      front = fronts.top();
      fronts.pop();
      Record(RawOf(front), visit);
      Ring& ring = *front.ring;
      __atomic_store_n(&ring.page->data_tail, ring.page->data_tail + front.bytes, __ATOMIC_RELEASE);
      if (Next(ring, front.head, &front)) fronts.push(front);
    }
    if (unreadable == 0) return;
    visit({.kind = SampleRecord::Kind::kLost, .time = now, .lost = std::exchange(unreadable, 0)});
  }
};

namespace {

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
int AddTo(Ring& ring, perf_event_attr& attr, int tid, int cpu, size_t ring_pages) {
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
int AddCounted(Ring& ring, const std::vector<EventSpec>& events, size_t& refused) {
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

EventSpec CpuClock() {
  return {.name = "cpu-clock", .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK};
}

EventSpec TaskClock() {
  return {.name = "time", .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_TASK_CLOCK};
}

CpuSampler::CpuSampler(std::unique_ptr<State> state) : state_(std::move(state)) {}
CpuSampler::CpuSampler(CpuSampler&&) noexcept = default;
CpuSampler& CpuSampler::operator=(CpuSampler&&) noexcept = default;
CpuSampler::~CpuSampler() = default;

Result<CpuSampler> CpuSampler::Open(const CpuSamplerOptions& options) {
  auto state = std::make_unique<State>();
  state->chains = options.chains;
  state->counts = options.switches;
  state->ring_pages = options.ring_pages;
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
    Ring ring;
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
  auto state = std::make_unique<State>();
  state->ring_pages = ring_pages;
  state->rings.emplace_back().page = static_cast<perf_event_mmap_page*>(ring);
  state->rings.back().descriptors = {descriptor};
  return CpuSampler(std::move(state));
}

void CpuSampler::Start() { state_->ForEach(PERF_EVENT_IOC_ENABLE); }
void CpuSampler::Stop() { state_->ForEach(PERF_EVENT_IOC_DISABLE); }

void CpuSampler::Drain(int milliseconds, const std::function<void(const SampleRecord&)>& visit) {
  std::vector<pollfd> ready;
  for (const Ring& ring : state_->rings) ready.push_back({ring.descriptors.front(), POLLIN, 0});
  // poll returns at once for the events of an ended process; sleep in any case.
  const int woken = milliseconds > 0 ? poll(ready.data(), ready.size(), milliseconds) : 0;
  if (woken > 0) {
    bool only_hung_up = true;
    for (const pollfd& one : ready) only_hung_up &= (one.revents & POLLIN) == 0;
    if (only_hung_up) poll(nullptr, 0, std::min(milliseconds, 50));
  }
  state_->DrainRings(visit);
}

void CpuSampler::ReadCounted(const std::function<void(const SampleRecord&)>& visit) {
  for (const Ring& ring : state_->rings) {
    std::array<std::byte, (3 + CountedValues::kMost) * sizeof(uint64_t)> raw;
    const ssize_t got = read(ring.descriptors.front(), raw.data(), raw.size());
    if (got <= 0) continue;
    ByteCursor bytes(std::span<const std::byte>(raw).first(static_cast<size_t>(got)));
    SampleRecord record = {.cpu = static_cast<uint16_t>(ring.cpu)};
    record.counted = State::Values(bytes);
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
