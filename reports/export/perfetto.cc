// Writes perfetto: a protobuf of TracePackets with TrackDescriptors and TrackEvents. The numbers of
// fields are those of the published protos of google/perfetto.
#include <protozero/pbf_writer.hpp>
#include <vector>

#include "reports/export/export_list.h"

namespace jprof::reports {
namespace {

using model::Track;
using protozero::pbf_writer;

enum PacketField : uint32_t {
  kClockSnapshot = 6,
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
  kCounterValue = 30,
};
enum EventType : int32_t { kSliceBegin = 1, kSliceEnd = 2, kInstant = 3, kCounter = 4 };
enum Clock : uint32_t { kRealtime = 1, kMonotonic = 3 };
enum SequenceFlag : uint32_t { kStateCleared = 1, kNeedsState = 2 };

constexpr uint32_t kSequence = 1;
constexpr int32_t kCount = 2;  // the unit of a counter

class PerfettoWriter {
 public:
  PerfettoWriter(model::Timeline& timeline, Output& out)
      : timeline_(timeline), out_(out), trace_(buffer_) {}

  Result<void> Write() {
    if (timeline_.clock() == model::ClockId::kMonotonic) WriteClock();
    for (uint32_t i = 0; i < timeline_.tracks().size(); ++i) WriteTrack(i);
    const auto visited = timeline_.Visit([&](const model::TimelineEvent& event) {
      WriteEvent(event);
      return out_.ok();
    });
    if (!visited) return std::unexpected(visited.error());
    WriteNotes(visited->AllNotes());
    return {};
  }

 private:
  // Nested messages have no length until they end, so each packet must be complete when it is
  // written.
  void Flush() {
    out_.Text(buffer_);
    buffer_.clear();
  }

  static uint64_t IdOf(uint32_t track) { return uint64_t{track} + 1; }

  void Sequence(pbf_writer& packet) {
    packet.add_uint32(kSequenceId, kSequence);
    packet.add_uint32(kSequenceFlags, first_ ? kStateCleared : kNeedsState);
    first_ = false;
  }

  // Makes CLOCK_MONOTONIC the clock of all packets, and relates it to the calendar.
  void WriteClock() {
    {
      pbf_writer packet(trace_, 1);
      Sequence(packet);
      pbf_writer snapshot(packet, kClockSnapshot);
      WriteReading(snapshot, kMonotonic, timeline_.start_ns());
      WriteReading(snapshot, kRealtime, timeline_.start_unix_ns());
      snapshot.add_uint32(2, kMonotonic);
    }
    Flush();
  }
  static void WriteReading(pbf_writer& snapshot, Clock clock, uint64_t ns) {
    pbf_writer reading(snapshot, 1);
    reading.add_uint32(1, clock);
    reading.add_uint64(2, ns);
  }

  void WriteTrack(uint32_t index) {
    {
      const Track& track = timeline_.tracks()[index];
      pbf_writer packet(trace_, 1);
      Sequence(packet);
      pbf_writer descriptor(packet, kTrackDescriptor);
      descriptor.add_uint64(1, IdOf(index));
      if (track.kind != Track::Kind::kProcess) descriptor.add_uint64(5, IdOf(track.parent));
      Describe(descriptor, track);
    }
    Flush();
  }

  static void Describe(pbf_writer& descriptor, const Track& track) {
    if (track.kind == Track::Kind::kProcess) {
      pbf_writer process(descriptor, 3);
      process.add_int32(1, static_cast<int32_t>(track.pid));
      process.add_string(6, track.name);
    } else if (track.kind == Track::Kind::kThread) {
      pbf_writer thread(descriptor, 4);
      thread.add_int32(1, static_cast<int32_t>(track.pid));
      thread.add_int32(2, static_cast<int32_t>(track.tid));
      thread.add_string(5, track.name);
    } else {
      descriptor.add_string(2, track.name);
      pbf_writer counter(descriptor, 8);
      counter.add_enum(3, kCount);
    }
  }

  void WriteEvent(const model::TimelineEvent& event) {
    {
      pbf_writer packet(trace_, 1);
      packet.add_uint64(kTimestamp, event.ns);
      Sequence(packet);
      if (const auto* slice = std::get_if<model::SliceBegin>(&event.what)) Intern(packet, *slice);
      pbf_writer written(packet, kTrackEvent);
      written.add_uint64(kTrackUuid, IdOf(event.track));
      std::visit([&](const auto& what) { WriteFields(written, what); }, event.what);
    }
    Flush();
  }

  // Writes the name before its first use.
  void Intern(pbf_writer& packet, const model::SliceBegin& slice) {
    if (slice.name >= interned_.size()) interned_.resize(size_t{slice.name} + 1);
    if (interned_[slice.name]) return;
    interned_[slice.name] = true;
    pbf_writer interned(packet, kInternedData);
    pbf_writer name(interned, 2);
    name.add_uint64(1, uint64_t{slice.name} + 1);
    name.add_string(2, slice.text.data(), slice.text.size());
  }

  static void WriteFields(pbf_writer& event, const model::SliceBegin& slice) {
    event.add_enum(kEventType, kSliceBegin);
    event.add_uint64(kNameIid, uint64_t{slice.name} + 1);
    event.add_string(kCategory, &slice.type, 1);
    if (!slice.counts_call) event.add_string(kCategory, "no-call");
  }
  static void WriteFields(pbf_writer& event, const model::SliceEnd&) {
    event.add_enum(kEventType, kSliceEnd);
  }
  static void WriteFields(pbf_writer& event, const model::Instant& instant) {
    event.add_enum(kEventType, kInstant);
    event.add_string(kEventName, instant.name.data(), instant.name.size());
  }
  static void WriteFields(pbf_writer& event, const model::CounterValue& counter) {
    event.add_enum(kEventType, kCounter);
    event.add_int64(kCounterValue, static_cast<int64_t>(counter.value));
  }

  // Writes the notes as an instant of the first process.
  void WriteNotes(const std::vector<std::string>& notes) {
    {
      pbf_writer packet(trace_, 1);
      packet.add_uint64(kTimestamp, timeline_.start_ns());
      Sequence(packet);
      pbf_writer event(packet, kTrackEvent);
      event.add_enum(kEventType, kInstant);
      event.add_uint64(kTrackUuid, IdOf(0));
      event.add_string(kEventName, "jprof");
      for (const std::string& note : notes) {
        pbf_writer annotation(event, kDebugAnnotation);
        annotation.add_string(10, "note");
        annotation.add_string(6, note);
      }
    }
    Flush();
  }

  model::Timeline& timeline_;
  Output& out_;
  std::string buffer_;
  pbf_writer trace_;
  bool first_ = true;
  std::vector<bool> interned_;  // by number of the name
};

}  // namespace

Result<void> WritePerfetto(model::Timeline& timeline, Output& out) {
  return PerfettoWriter(timeline, out).Write();
}

}  // namespace jprof::reports
