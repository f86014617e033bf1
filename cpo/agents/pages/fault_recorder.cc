#include "cpo/agents/pages/fault_recorder.h"

#include <utility>

#include "common/blocked_signals.h"

namespace jprof::cpo {
namespace {

// The first size that the kernel grants. Users other than root have half a MiB for each processor.
constexpr size_t kRingPages[] = {1024, 128, 32};
constexpr int kBetweenReads = 5;                 // ms
constexpr size_t kMostFaults = size_t{1} << 25;  // 800 MiB
constexpr uint64_t kKernelHalf = uint64_t{1} << 63;

}  // namespace

Result<std::unique_ptr<FaultRecorder>> FaultRecorder::Start(uint32_t pid) {
  Result<ptm::CpuSampler> sampler = Fail("no ring");
  for (const size_t pages : kRingPages) {
    sampler = ptm::CpuSampler::Open({.event = ptm::PageFaults(),
                                     .rate = 0,
                                     .period = 1,
                                     .pids = {pid},
                                     .on_exec = true,
                                     .data = true,
                                     .maps = false,
                                     .ring_pages = pages});
    if (sampler) break;
  }
  if (!sampler) return std::unexpected(sampler.error());
  return std::unique_ptr<FaultRecorder>(new FaultRecorder(pid, *std::move(sampler)));
}

FaultRecorder::FaultRecorder(uint32_t pid, ptm::CpuSampler sampler)
    : pid_(pid), sampler_(std::move(sampler)) {
  const BlockedSignals none_for_the_thread;
  thread_ = std::thread([this] {
    while (!ends_.load(std::memory_order_relaxed)) Read(kBetweenReads);
  });
}

FaultRecorder::~FaultRecorder() {
  if (thread_.joinable()) Finish();
}

void FaultRecorder::Read(int milliseconds) {
  sampler_.Drain(milliseconds, [this](const ptm::SampleRecord& record) {
    using Kind = ptm::SampleRecord::Kind;
    if (record.kind == Kind::kLost) lost_ += record.lost;
    if (record.kind != Kind::kSample || record.pid != pid_ || record.data >= kKernelHalf) return;
    if (faults_.size() == kMostFaults) {
      ++lost_;
    } else {
      faults_.push_back({.address = record.data, .time_ns = record.time});
    }
  });
}

std::vector<Reference> FaultRecorder::Finish() {
  sampler_.Stop();
  ends_ = true;
  if (thread_.joinable()) thread_.join();
  Read(0);
  return std::move(faults_);
}

}  // namespace jprof::cpo
