// Writes chrome: the JSON of trace events, B and E pairs by thread, in microseconds.
#include <fmt/ranges.h>

#include "reports/export/export_list.h"
#include "reports/print/json_writer.h"

namespace jprof::reports {
namespace {

using model::Track;

class ChromeWriter {
 public:
  ChromeWriter(model::Timeline& timeline, Output& out)
      : timeline_(timeline), out_(out), json_(out) {}

  Result<void> Write() {
    Begin();
    const auto visited = timeline_.Visit([&](const model::TimelineEvent& event) {
      WriteEvent(event);
      return out_.ok();
    });
    if (!visited) return std::unexpected(visited.error());
    End(*visited);
    return {};
  }

 private:
  void Begin() {
    json_.StartObject();
    json_.Member("displayTimeUnit", "ns");
    json_.Key("traceEvents");
    json_.StartArray();
    for (const Track& track : timeline_.tracks()) {
      if (track.kind == Track::Kind::kProcess) WriteName("process_name", track);
      if (track.kind == Track::Kind::kThread) WriteName("thread_name", track);
    }
  }

  void End(const model::Visited& visited) {
    json_.EndArray();
    json_.Key("otherData");
    json_.StartObject();
    json_.Member("exporter", "jprof " + visited.run.jprof);
    json_.Member("jvm", visited.run.jvm);
    json_.Member("start", visited.run.start);
    json_.Key("notes");
    json_.String(fmt::format("{}", fmt::join(visited.AllNotes(), "; ")));
    json_.EndObject();
    json_.EndObject();
    json_.Finish();
  }

  void StartRow(const char* phase, const Track& track) {
    json_.StartRow();
    json_.Member("ph", phase);
    json_.Member("pid", track.pid);
    json_.Member("tid", track.tid);
  }

  void WriteName(const char* what, const Track& track) {
    StartRow("M", track);
    json_.Member("name", what);
    json_.Key("args");
    json_.StartObject();
    json_.Member("name", track.name);
    json_.EndObject();
    json_.EndObject();
  }

  void WriteEvent(const model::TimelineEvent& event) {
    const Track& track = timeline_.tracks()[event.track];
    std::visit(
        [&](const auto& what) {
          StartRow(PhaseOf(what), track);
          json_.Key("ts");
          json_.Fixed(static_cast<double>(event.ns) / 1e3, 3);
          WriteFields(what, track);
          json_.EndObject();
        },
        event.what);
  }

  static const char* PhaseOf(const model::SliceBegin&) { return "B"; }
  static const char* PhaseOf(const model::SliceEnd&) { return "E"; }
  static const char* PhaseOf(const model::Instant&) { return "i"; }
  static const char* PhaseOf(const model::CounterValue&) { return "C"; }

  void WriteFields(const model::SliceBegin& slice, const Track&) {
    json_.Member("name", slice.text);
    if (slice.counts_call) return json_.Member("cat", std::string_view(&slice.type, 1));
    json_.Member("cat", fmt::format("{},no-call", slice.type));
  }
  void WriteFields(const model::SliceEnd&, const Track&) {}
  void WriteFields(const model::Instant& instant, const Track&) {
    json_.Member("s", "t");
    json_.Member("name", instant.name);
  }
  // Readers distinguish the counters of a process by name and id.
  void WriteFields(const model::CounterValue& counter, const Track& track) {
    json_.Member("name", track.name);
    json_.Member("id", track.tid);
    json_.Key("args");
    json_.StartObject();
    json_.Member("value", counter.value);
    json_.EndObject();
  }

  model::Timeline& timeline_;
  Output& out_;
  JsonWriter json_;
};

}  // namespace

Result<void> WriteChrome(model::Timeline& timeline, Output& out) {
  return ChromeWriter(timeline, out).Write();
}

}  // namespace jprof::reports
