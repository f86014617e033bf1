#include "jprof/agent/sampling/sample_reset.h"

#include <algorithm>

#include "jprof/agent/sampling/sampled_thread.h"

namespace jprof::agent {
namespace {

void ForgetRequests(engine::Session& session) {
  session.threads().ForEach([](engine::Thread& thread) {
    SampledThread* sampled = SampledThreadOf(thread);
    if (sampled == nullptr) return;
    for (auto& requested : sampled->requested) requested = 0;
    std::ranges::fill(sampled->deferred, 0);
  });
}

void ForgetMetrics(profile::Writer& writer, uint32_t metric_count) {
  const uint64_t nodes = writer.header()->node_count;
  for (uint64_t i = 0; i < nodes; ++i) {
    profile::Node& node = writer.nodes()[i];
    if (node.ref != profile::kNoMethodRef && profile::TypeOf(node.ref) != FrameKind::kBlock)
      node.self = 0;
  }
  std::fill_n(writer.extra(), nodes * (metric_count - 1), 0);
}

void ForgetCounters(profile::ThreadRecord& record) {
  record.samples = record.samples_unknown = record.samples_truncated = 0;
  record.samples_own = record.samples_lost = 0;
  record.sampling_ticks = 0;
}

}  // namespace

bool NoSampleInProgress(engine::Session& session) {
  bool none = true;
  session.threads().ForEach([&](engine::Thread& thread) {
    const SampledThread* sampled = SampledThreadOf(thread);
    none = none && (sampled == nullptr || sampled->in_progress.Empty());
  });
  return none;
}

void ForgetSamples(engine::Session& session, uint32_t metric_count) {
  ForgetRequests(session);
  profile::Writer& writer = session.writer();
  ForgetMetrics(writer, metric_count);
  for (uint32_t i = 0; i < writer.header()->thread_count; ++i) ForgetCounters(*writer.ThreadAt(i));
}

}  // namespace jprof::agent
