#include <cmath>
#include <optional>
#include <string_view>

#include "cli/commands/info_output.h"
#include "reports/print/json_writer.h"

namespace jprof::cli {
namespace {

class InfoJson {
 public:
  explicit InfoJson(reports::Output& out) : json_(out) {}

  void Print(const ProfileInfo& info) {
    const profile::Meta& meta = info.meta;
    json_.StartObject();
    json_.Member("profile", profile::ShownName(info.directory));
    json_.Member("mode", meta.mode);
    json_.Member("jprof", meta.jprof);
    json_.StringsMember("command", meta.command);
    json_.Member("pid", meta.pid);
    json_.Member("start", meta.start);
    if (info.calls) {
      Number("seconds", info.seconds);
      json_.Member("finished", info.finished);
    }
    json_.Member("jvm", meta.jvm.Title());
    if (!info.attributes.empty()) Published(info.attributes);
    if (info.calls) Probe(meta.probe);
    json_.Member("options", meta.options.text);
    if (info.calls) Calls(meta, *info.calls);
    Jitted(info.jitted);
    Events(info.events);
    if (info.series) Series(*info.series);
    if (meta.piece.number != 0) {
      json_.Key("piece");
      Piece(meta.piece, "of", meta.piece.of);
    }
    if (!info.pieces.empty()) Pieces(info.pieces);
    if (info.imported) Imported(*info.imported);
    if (info.merged) Merged(*info.merged);
    json_.Member("bytes", info.bytes);
    if (info.calls) Losses(info.calls->losses);
    json_.StringsMember("damages", info.damages);
    if (info.calls) Threads(info.calls->threads);
    json_.EndObject();
    json_.Finish();
  }

 private:
  void Number(std::string_view key, double value) {
    json_.Key(key);
    json_.Shortest(value);
  }

  void Series(const SeriesInfo& series) {
    json_.Key("series");
    json_.StartObject();
    json_.Member("snapshots", series.snapshots);
    json_.Member("missed", series.missed);
    json_.Member("bytes", series.bytes);
    Number("interval_s", series.interval_s);
    Number("longest_s", series.longest_s);
    Number("cost_s", series.cost_s);
    json_.Member("ended", series.ended);
    json_.EndObject();
  }

  // `key` says what else there is to say of the piece.
  void Piece(const profile::Piece& piece, std::string_view key, const std::string& value) {
    json_.StartObject();
    json_.Member("number", piece.number);
    json_.Member(key, value);
    Number("begin_s", piece.begin_s);
    Number("end_s", piece.end_s);
    json_.StringsMember("left_out", piece.left_out);
    json_.EndObject();
  }

  void Pieces(const std::vector<PieceInfo>& pieces) {
    json_.Key("pieces");
    json_.StartArray();
    for (const PieceInfo& piece : pieces) Piece(piece.piece, "directory", piece.directory);
    json_.EndArray();
  }

  void Merged(const profile::MergedMeta& merged) {
    json_.Key("merged");
    json_.StartObject();
    json_.Member("threads", merged.threads);
    json_.StringsMember("notices", merged.notices);
    json_.Key("profiles");
    json_.StartArray();
    for (const profile::MergedInput& input : merged.inputs) {
      json_.StartRow();
      json_.Member("path", input.path);
      json_.StringsMember("command", input.command);
      json_.Member("pid", input.pid);
      json_.Member("start", input.start);
      json_.Member("finished", input.finished);
      Number("cpu_seconds", input.cpu_seconds);
      json_.Member("calls", input.calls);
      json_.StringsMember("damages", input.damages);
      json_.EndObject();
    }
    json_.EndArray();
    json_.EndObject();
  }

  void Published(const model::ProcessAttributes& attributes) {
    json_.Key("published");
    json_.StartObject();
    for (const auto& [name, value] : attributes) json_.Member(name, value);
    json_.EndObject();
  }

  // Only imported profiles have the member.
  void Imported(const profile::Imported& imported) {
    json_.Key("imported");
    json_.StartObject();
    json_.Member("format", imported.format);
    json_.Member("version", imported.version);
    json_.Member("file", imported.file);
    json_.Member("event", imported.event);
    json_.StringsMember("notes", imported.notes);
    json_.EndObject();
  }

  void Probe(const profile::Probe& probe) {
    json_.Key("probe");
    json_.StartObject();
    json_.Member("kind", probe.kind);
    json_.Member("note", probe.note);
    json_.EndObject();
  }

  void Calls(const profile::Meta& meta, const CallInfo& calls) {
    Metrics(meta.metrics);
    json_.Member("calibrated", calls.calibrated);
    json_.Key("fingerprint");
    json_.StartObject();
    for (const auto& [part, value] : meta.fingerprint) json_.Member(part, value);
    json_.EndObject();
    json_.Member("contexts", calls.contexts);
    // JSON has only finite numbers, so NaN is printed as null.
    Number("folded_from_s", calls.folded_from_s.value_or(std::nan("")));
    json_.Member("calls", calls.calls);
    json_.Member("exits", calls.exits);
    json_.Member("trace_events", calls.trace_events);
    json_.Member("methods", calls.methods);
    if (!calls.limits_text.empty()) json_.Member("limited", calls.limits_text);
    if (!calls.slow_text.empty()) json_.Member("slow", calls.slow_text);
    Focus(calls.focus);
  }

  void Metrics(const std::vector<profile::Metric>& metrics) {
    json_.Key("metrics");
    json_.StartArray();
    for (const profile::Metric& metric : metrics) {
      json_.StartObject();
      json_.Member("name", metric.name);
      json_.Member("unit", metric.unit);
      json_.EndObject();
    }
    json_.EndArray();
  }

  void Focus(const FocusInfo& focus) {
    json_.Key("focus");
    json_.StartObject();
    json_.Member("probed", focus.probed);
    json_.Member("unprobed", focus.unprobed);
    json_.Member("undecided", focus.undecided);
    json_.StringsMember("intrinsics", focus.intrinsics);
    json_.EndObject();
  }

  // Profiles without events of the kernel lack the member.
  void Events(const std::optional<KernelEventInfo>& events) {
    if (!events) return;
    json_.Key("kernel_events");
    json_.StartObject();
    json_.Member("records", events->records);
    json_.Member("lost", events->lost);
    json_.EndObject();
  }

  void Jitted(const std::optional<JittedInfo>& jitted) {
    json_.Key("jitted");
    if (!jitted) {
      json_.Null();
      return;
    }
    json_.StartObject();
    json_.Member("methods", jitted->methods);
    json_.Member("unloaded", jitted->unloaded);
    json_.Member("stubs", jitted->stubs);
    json_.Member("lost", jitted->lost);
    json_.Member("finished", jitted->finished);
    Number("seconds", jitted->seconds);
    json_.EndObject();
  }

  void Losses(const std::vector<profile::Loss>& losses) {
    json_.Key("losses");
    json_.StartObject();
    for (const profile::Loss& loss : losses) json_.Member(loss.name, loss.count);
    json_.EndObject();
  }

  void Threads(const std::vector<ThreadInfo>& threads) {
    json_.Key("threads");
    json_.StartArray();
    for (const ThreadInfo& thread : threads) {
      json_.StartRow();
      json_.Member("tid", thread.tid);
      json_.Member("name", thread.name);
      json_.Member("ended", thread.ended);
      json_.Member("cpu_ns", thread.cpu_ns);
      json_.Member("dispatches", thread.dispatches);
      json_.EndObject();
    }
    json_.EndArray();
  }

  reports::JsonWriter json_;
};

}  // namespace

void PrintInfoJson(const ProfileInfo& info, reports::Output& out) { InfoJson(out).Print(info); }

}  // namespace jprof::cli
