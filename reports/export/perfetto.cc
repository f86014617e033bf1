// Writes perfetto: a protobuf of TracePackets with TrackEvents, one track for each thread. The
// numbers of fields are those of the published protos of google/perfetto.
#include <protozero/pbf_writer.hpp>
#include <vector>

#include "model/tree/run_description.h"
#include "profile/files/printable_text.h"
#include "reports/export/export_list.h"
#include "reports/export/trace_slices.h"

namespace jprof::reports {
namespace {

using protozero::pbf_writer;

enum PacketField : uint32_t {
  kTimestamp = 8,
  kSequenceId = 10,
  kTrackEvent = 11,
  kInternedData = 12,
  kSequenceFlags = 13,
  kTrackDescriptor = 60,
};
enum EventField : uint32_t {
  kDebugAnnotation = 4,
  kEventType = 9,
  kNameIid = 10,
  kTrackUuid = 11,
  kCategory = 22,
  kEventName = 23,
};
enum EventType : int32_t { kSliceBegin = 1, kSliceEnd = 2, kInstant = 3 };
enum SequenceFlag : uint32_t { kStateCleared = 1, kNeedsState = 2 };

constexpr uint32_t kSequence = 1;
constexpr uint64_t kProcessTrack = 1;

class PerfettoWriter {
 public:
  PerfettoWriter(model::Source& source, Output& out)
      : source_(source), out_(out), trace_(buffer_), pid_(source.reader.meta().pid) {}

  Result<void> Write() {
    bool begun = false;  // nothing is written where there is no trace
    const auto totals = VisitSlices(source_, [&](const Slice& slice) {
      if (!begun) WriteTracks();
      begun = true;
      WriteSlice(slice);
      return out_.ok();
    });
    if (!totals) return std::unexpected(totals.error());
    if (!begun) WriteTracks();
    WriteNotes(*totals);
    return {};
  }

 private:
  // Nested messages have no length until they end, so each packet must be complete when it is
  // written.
  void Flush() {
    out_.Text(buffer_);
    buffer_.clear();
  }

  static uint64_t TrackOf(uint32_t thread) { return kProcessTrack + 1 + thread; }

  void Sequence(pbf_writer& packet) {
    packet.add_uint32(kSequenceId, kSequence);
    packet.add_uint32(kSequenceFlags, first_ ? kStateCleared : kNeedsState);
    first_ = false;
  }

  void WriteTracks() {
    {
      pbf_writer packet(trace_, 1);
      Sequence(packet);
      pbf_writer track(packet, kTrackDescriptor);
      track.add_uint64(1, kProcessTrack);
      pbf_writer process(track, 3);
      process.add_int32(1, static_cast<int32_t>(pid_));
      process.add_string(6, model::CommandText(source_.reader.meta().command));
    }
    for (uint32_t i = 0; i < source_.reader.threads().size(); ++i) WriteThread(i);
    Flush();
  }

  // Threads are numbered from 1, because the kernel may give two of them the same id, one after the
  // other.
  void WriteThread(uint32_t index) {
    pbf_writer packet(trace_, 1);
    Sequence(packet);
    pbf_writer track(packet, kTrackDescriptor);
    track.add_uint64(1, TrackOf(index));
    track.add_uint64(5, kProcessTrack);
    pbf_writer thread(track, 4);
    thread.add_int32(1, static_cast<int32_t>(pid_));
    thread.add_int32(2, static_cast<int32_t>(index + 1));
    thread.add_string(5, profile::CleanText(source_.reader.threads()[index].name));
  }

  void WriteSlice(const Slice& slice) {
    {
      pbf_writer packet(trace_, 1);
      packet.add_uint64(kTimestamp, slice.ns);
      Sequence(packet);
      if (slice.kind == Slice::Kind::kBegin) Intern(packet, slice);
      pbf_writer event(packet, kTrackEvent);
      event.add_uint64(kTrackUuid, TrackOf(slice.thread));
      WriteEvent(event, slice);
    }
    Flush();
  }

  // Writes the name before its first use.
  void Intern(pbf_writer& packet, const Slice& slice) {
    if (slice.method >= interned_.size()) interned_.resize(size_t{slice.method} + 1);
    if (interned_[slice.method]) return;
    interned_[slice.method] = true;
    pbf_writer interned(packet, kInternedData);
    pbf_writer name(interned, 2);
    name.add_uint64(1, uint64_t{slice.method} + 1);
    name.add_string(2, slice.name.data(), slice.name.size());
  }

  static void WriteEvent(pbf_writer& event, const Slice& slice) {
    switch (slice.kind) {
      case Slice::Kind::kBegin:
        event.add_enum(kEventType, kSliceBegin);
        event.add_uint64(kNameIid, uint64_t{slice.method} + 1);
        event.add_string(kCategory, &slice.type, 1);
        break;
      case Slice::Kind::kEnd:
        event.add_enum(kEventType, kSliceEnd);
        break;
      case Slice::Kind::kGap:
        event.add_enum(kEventType, kInstant);
        event.add_string(kEventName, fmt::format("{} events are missing", slice.missing));
        break;
    }
  }

  // Writes the notes as an instant of the process.
  void WriteNotes(const SliceTotals& totals) {
    {
      pbf_writer packet(trace_, 1);
      packet.add_uint64(kTimestamp, 0);
      Sequence(packet);
      pbf_writer event(packet, kTrackEvent);
      event.add_enum(kEventType, kInstant);
      event.add_uint64(kTrackUuid, kProcessTrack);
      event.add_string(kEventName, "jprof");
      for (const std::string& note : SliceNotes(source_, totals)) {
        pbf_writer annotation(event, kDebugAnnotation);
        annotation.add_string(10, "note");
        annotation.add_string(6, note);
      }
    }
    Flush();
  }

  model::Source& source_;
  Output& out_;
  std::string buffer_;
  pbf_writer trace_;
  uint64_t pid_;
  bool first_ = true;
  std::vector<bool> interned_;  // by method
};

}  // namespace

Result<void> WritePerfetto(model::Source& source, Output& out) {
  return PerfettoWriter(source, out).Write();
}

}  // namespace jprof::reports
