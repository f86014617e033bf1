#include "jprof/agent/sampling_commands.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "common/errno_text.h"
#include "jprof/agent/gate_commands.h"

namespace jprof::agent {
namespace {

// Contains the sums of the threads' records.
struct Totals {
  int64_t samples = 0, unknown = 0, own = 0, lost = 0;
  uint64_t live = 0, not_sampled = 0;
  int error = 0;  // the errno of a thread that is not sampled
};

Totals TotalsOf(profile::Writer& writer) {
  Totals totals;
  for (uint32_t i = 0; i < writer.header()->thread_count; ++i) {
    const profile::ThreadRecord& record = *writer.ThreadAt(i);
    totals.samples += static_cast<int64_t>(record.samples);
    totals.unknown += static_cast<int64_t>(record.samples_unknown);
    totals.own += static_cast<int64_t>(record.samples_own);
    totals.lost += static_cast<int64_t>(record.samples_lost);
    totals.live += record.state == profile::kThreadLive;
    if ((record.flags & profile::kThreadNotSampled) == 0) continue;
    ++totals.not_sampled;
    totals.error = profile::ErrorOfFlags(record.flags);
  }
  return totals;
}

std::vector<control::Field> Status(const options::AgentOptions& options, const Sampling& sampling,
                                   engine::Session& session, const std::string& out) {
  const Totals totals = TotalsOf(session.writer());
  std::string not_sampled = fmt::format("{} threads", totals.not_sampled);
  if (totals.not_sampled != 0) not_sampled += fmt::format(": {}", ErrnoText(totals.error));
  return {
      {"mode", std::string(NameOf(options.mode))}, {"recording", sampling.running() ? "yes" : "no"},
      {"samples", std::to_string(totals.samples)}, {"unknown", std::to_string(totals.unknown)},
      {"own", std::to_string(totals.own)},         {"lost", std::to_string(totals.lost)},
      {"threads", std::to_string(totals.live)},    {"not_sampled", not_sampled},
      {"events", ToString(options.triggers)},      {"out", out}};
}

Result<std::string> Reply(Result<void> done, const char* text) {
  if (!done) return std::unexpected(std::move(done).error());
  return text;
}

}  // namespace

Control::Handlers SamplingCommands(const options::AgentOptions& options, Sampling& sampling,
                                   engine::Session& session, const std::string& out) {
  Control::Handlers handlers;
  handlers.start = [&sampling]() -> Result<std::string> {
    sampling.Start();
    return "started";
  };
  handlers.stop = [&sampling]() -> Result<std::string> {
    sampling.Stop();
    return "stopped";
  };
  handlers.reset = [&sampling] { return Reply(sampling.Reset(), "all samples were discarded"); };
  handlers.flush = [&sampling, &session]() -> Result<int> {
    sampling.LookAround();
    return FolderOf(session);
  };
  handlers.status = [&options, &sampling, &session, out] {
    return Status(options, sampling, session, out);
  };
  return handlers;
}

}  // namespace jprof::agent
