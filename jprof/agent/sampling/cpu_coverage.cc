#include "jprof/agent/sampling/cpu_coverage.h"

#include <utility>

#include "common/procfs.h"
#include "ptm/virtual_clock.h"

namespace jprof::agent {
namespace {

constexpr uint64_t kRanLongNs = 100'000'000;  // at the usual rates, ten periods or more

void AddTo(uint64_t& sum, uint64_t ns) { __atomic_fetch_add(&sum, ns, __ATOMIC_RELAXED); }

}  // namespace

void CpuCoverage::Update(profile::ControlHeader& header, profile::ThreadRecord& thread, bool on) {
  const auto cpu_ns = ptm::VirtualClock::CpuNanosOf(thread.tid);
  if (!cpu_ns) return;  // the thread has ended
  const uint64_t now_ns = static_cast<uint64_t>(*cpu_ns);
  const uint64_t signalled_ns = signalled_ns_.load(std::memory_order_relaxed);
  ran_ns_ = now_ns - std::exchange(cpu_ns_, now_ns);
  covered_ns_ = signalled_ns - std::exchange(added_ns_, signalled_ns);
  if (!std::exchange(on_, on) || (thread.flags & profile::kThreadFiltered) != 0) return;
  AddTo(header.sampled_cpu_ns, ran_ns_);
  AddTo(header.signalled_cpu_ns, covered_ns_);
}

void CpuCoverage::LookForBlocked(profile::ThreadRecord& thread, int signal) const {
  if (ran_ns_ < kRanLongNs || covered_ns_ != 0) return;
  if (procfs::ReadStatus(thread.tid).Blocks(signal))
    __atomic_fetch_or(&thread.flags, uint32_t{profile::kThreadBlocksSignal}, __ATOMIC_RELAXED);
}

}  // namespace jprof::agent
