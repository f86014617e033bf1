#include "fleet/push/run_row.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <ctime>

#include "fleet/server/row_binary.h"

namespace jprof::fleet {

using profile::ControlHeader;
using profile::Meta;
using profile::Metric;

const char kThreadColumns[] =
    "day, push, name, state, flags, start_ticks, end_ticks, cpu_ns, own_ticks, dispatches, healed, "
    "unmatched, overflow, dropped, samples, samples_unknown, samples_truncated, samples_own, "
    "samples_lost, sampling_ticks";
const char kRunColumns[] =
    "day, run, content, push, pushed, rows, contexts, start, duration, service, version, host, "
    "label_names, label_values, mode, shape, metrics, sites, ticks_per_second, calls, cpu_seconds, "
    "finished, pid, path, command, damages, meta, calibration, control";

Fingerprint RunOf(profile::Reader& reader, const std::string& host) {
  const auto merged = ReadMerged(reader);
  Fingerprint run = Below({}, host);
  run = Below(run, ToJson(reader.meta()));
  run = Below(run, std::to_string(reader.header().start_unix_ns));
  return merged ? Below(run, ToJson(*merged)) : run;
}

void Redact(Meta& meta, profile::MergedInput& input) {
  meta.command.clear();
  meta.cwd.clear();
  meta.options.text.clear();
  meta.jvm.home.clear();
  meta.probe.note.clear();
  input.command.clear();
  input.path = "(redacted)";
}

namespace {

constexpr uint64_t kNanos = 1'000'000'000;

// Returns when the run started, in ns since 1970; meta.json states it to the second.
uint64_t StartOf(const RunFacts& facts) {
  if (facts.header.start_unix_ns != 0) return facts.header.start_unix_ns;
  std::tm time = {};
  if (strptime(facts.meta.start.c_str(), "%Y-%m-%dT%H:%M:%S", &time) == nullptr) return 0;
  return static_cast<uint64_t>(std::max<std::time_t>(timegm(&time), 0)) * kNanos;
}

}  // namespace

uint16_t DayOf(const RunFacts& facts) {
  return static_cast<uint16_t>(std::min(StartOf(facts) / (86400 * kNanos), kLastDay));
}

std::string ThreadRow(const profile::ThreadRecord& record) {
  std::string row;
  RowWriter out(row);
  out.Text(std::string_view(record.name, strnlen(record.name, sizeof record.name)));
  out.Put(record.state);
  out.Put(record.flags);
  out.Put(record.start_ticks);
  out.Put(record.end_ticks);
  out.Put(record.cpu_ns_end);
  out.Put(record.own_ticks);
  for (const uint64_t count :
       {record.dispatches, record.healed, record.unmatched, record.overflow, record.dropped,
        record.samples, record.samples_unknown, record.samples_truncated, record.samples_own,
        record.samples_lost, record.sampling_ticks})
    out.Put(count);
  return row;
}

std::string ShapeOf(const Meta& meta) {
  std::string shape = meta.mode;
  for (const Metric& metric : meta.metrics) {
    shape +=
        fmt::format("; {} in {}, kind {}", metric.name, metric.unit, static_cast<int>(metric.kind));
    if (!metric.is_time()) shape += fmt::format(", scale {}", metric.scale);
    if (metric.period.value != 0) {
      shape += fmt::format(", every {} {} {}", metric.period.value, metric.period.unit,
                           static_cast<int>(metric.period.clock));
    }
  }
  return shape;
}

std::string RunRow(const RunFacts& facts) {
  const auto& [meta, input, header, names, calibration, rows, contexts] = facts;
  const double ticks = static_cast<double>(header.end_ticks - header.start_ticks);
  const auto rate = static_cast<double>(header.ticks_per_second);
  std::string row, metrics;
  for (const Metric& metric : meta.metrics) metrics += (metrics.empty() ? "" : ",") + metric.name;
  RowWriter out(row);
  out.Put(rows);
  out.Put(contexts);
  out.Put(StartOf(facts));
  out.Put(static_cast<uint64_t>(rate > 0 ? std::min(ticks / rate * 1e9, 1e18) : 0));
  for (const std::string& text : {names.service, names.version, names.host}) out.Text(text);
  out.Length(names.labels.size());
  for (const auto& label : names.labels) out.Text(label.first);
  out.Length(names.labels.size());
  for (const auto& label : names.labels) out.Text(label.second);
  out.Text(meta.mode);
  out.Text(ShapeOf(meta));
  out.Text(metrics);
  out.Put(static_cast<uint8_t>(meta.options.sites));
  out.Put(rate);
  out.Put(input.calls);
  out.Put(input.cpu_seconds);
  out.Put(static_cast<uint8_t>(input.finished));
  out.Put(input.pid);
  out.Text(input.path);
  for (const auto* texts : {&input.command, &input.damages}) {
    out.Length(texts->size());
    for (const std::string& text : *texts) out.Text(text);
  }
  out.Text(ToJson(meta));
  out.Text(calibration);
  return row;
}

std::string Packed(const ControlHeader& header) {
  uLongf size = compressBound(sizeof header);
  std::string bytes(size, '\0');
  compress(reinterpret_cast<Bytef*>(bytes.data()), &size, reinterpret_cast<const Bytef*>(&header),
           sizeof header);
  bytes.resize(size);
  return bytes;
}

Result<ControlHeader> Unpacked(std::string_view bytes) {
  ControlHeader header;
  uLongf size = sizeof header;
  // Later versions may have appended fields, or this one may have.
  const int done = uncompress(reinterpret_cast<Bytef*>(&header), &size,
                              reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  if (done != Z_OK) return Fail("the database has a run whose header cannot be read");
  return header;
}

}  // namespace jprof::fleet
