// Writes chrome: the JSON of trace events, B and E pairs by thread, in microseconds.
#include <fmt/ranges.h>

#include "model/tree/run_description.h"
#include "profile/files/printable_text.h"
#include "reports/export/export_list.h"
#include "reports/export/trace_slices.h"
#include "reports/print/json_writer.h"

namespace jprof::reports {
namespace {

class ChromeWriter {
 public:
  ChromeWriter(model::Source& source, Output& out)
      : source_(source), out_(out), json_(out), pid_(source.reader.meta().pid) {}

  Result<void> Write() {
    bool begun = false;  // nothing is written where there is no trace
    const auto totals = VisitSlices(source_, [&](const Slice& slice) {
      if (!begun) Begin();
      begun = true;
      WriteSlice(slice);
      return out_.ok();
    });
    if (!totals) return std::unexpected(totals.error());
    if (!begun) Begin();
    End(*totals);
    return {};
  }

 private:
  void Begin() {
    json_.StartObject();
    json_.Member("displayTimeUnit", "ns");
    json_.Key("traceEvents");
    json_.StartArray();
    Name("process_name", 0, model::CommandText(source_.reader.meta().command));
    for (uint32_t i = 0; i < source_.reader.threads().size(); ++i)
      Name("thread_name", i + 1, profile::CleanText(source_.reader.threads()[i].name));
  }

  void End(const SliceTotals& totals) {
    const model::RunDescription run = DescribeRun(source_);
    json_.EndArray();
    json_.Key("otherData");
    json_.StartObject();
    json_.Member("exporter", "jprof " + run.jprof);
    json_.Member("jvm", run.jvm);
    json_.Member("start", run.start);
    json_.Key("notes");
    json_.String(fmt::format("{}", fmt::join(SliceNotes(source_, totals), "; ")));
    json_.EndObject();
    json_.EndObject();
    json_.Finish();
  }

  void Place(uint32_t tid) {
    json_.Member("pid", pid_);
    json_.Member("tid", tid);
  }

  void Name(const char* what, uint32_t tid, const std::string& name) {
    json_.StartRow();
    json_.Member("ph", "M");
    Place(tid);
    json_.Member("name", what);
    json_.Key("args");
    json_.StartObject();
    json_.Member("name", name);
    json_.EndObject();
    json_.EndObject();
  }

  // Threads are numbered from 1, because the kernel may give two of them the same id, one after the
  // other.
  void WriteSlice(const Slice& slice) {
    json_.StartRow();
    json_.Member("ph", slice.kind == Slice::Kind::kBegin ? "B"
                       : slice.kind == Slice::Kind::kEnd ? "E"
                                                         : "i");
    Place(slice.thread + 1);
    json_.Key("ts");
    json_.Fixed(static_cast<double>(slice.ns) / 1e3, 3);
    if (slice.kind == Slice::Kind::kBegin) {
      json_.Member("name", slice.name);
      json_.Member("cat", std::string_view(&slice.type, 1));
    } else if (slice.kind == Slice::Kind::kGap) {
      json_.Member("s", "t");
      json_.Member("name", fmt::format("{} events are missing", slice.missing));
    }
    json_.EndObject();
  }

  model::Source& source_;
  Output& out_;
  JsonWriter json_;
  uint64_t pid_;
};

}  // namespace

Result<void> WriteChrome(model::Source& source, Output& out) {
  return ChromeWriter(source, out).Write();
}

}  // namespace jprof::reports
