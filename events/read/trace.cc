#include "events/read/trace.h"

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "common/bytes.h"
#include "events/read/file_bytes.h"
#include "events/read/statistics.h"
#include "events/runtime/ctf.h"
#include "events/runtime/jprof-events.h"
#include "events/spec/identity.h"
#include "events/spec/read_specification.h"

namespace jprof::events {
namespace {

constexpr uint64_t kMostPacketBytes = uint64_t{1} << 30;

// Returns the head of a packet; magic is 0 if it is none.
jprof_events_packet HeadOf(std::string_view bytes) {
  const auto head = ByteCursor(bytes).Read<jprof_events_packet>();
  return head.magic == JPROF_EVENTS_MAGIC && head.stream == JPROF_EVENTS_STREAM
             ? head
             : jprof_events_packet{};
}

void AddEvents(const Specification& specification, Trace& trace) {
  for (const EventClass& of : specification.classes) {
    for (const Event& event : of.events) {
      const std::string name = FullName(specification, of, event);
      const uint32_t id = EventId(name, event.version);
      trace.events.insert(
          {id, {.full_name = name, .id = id, .event = event, .fields = RecordFields(event)}});
    }
  }
}

Result<void> ReadSpecifications(Trace& trace) {
  const std::filesystem::path folder = std::filesystem::path(trace.directory) / "specifications";
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const auto read = ReadSpecification(entry.path());
    if (!read) return std::unexpected(read.error());
    AddEvents(*read, trace);
  }
  if (error)
    return Fail("{} is not a trace of events: {}: {}", trace.directory, folder.string(),
                error.message());
  return {};
}

void FindPackets(Trace& trace) {
  std::vector<std::tuple<uint64_t, uint64_t, std::string>> found;  // thread, begin, path
  std::map<uint64_t, uint64_t> discarded;                          // by thread
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(trace.directory, error)) {
    const std::string name = entry.path().filename();
    const bool is_packet = name.starts_with("thread-") || name.starts_with("processor-");
    if (!is_packet || !entry.is_regular_file(error)) continue;
    const jprof_events_packet head = HeadOf(ReadBytes(entry.path(), sizeof(jprof_events_packet)));
    if (head.magic == 0) {
      Complain(trace.damages, entry.path(), "is not a packet of events");
      continue;
    }
    uint64_t& of_thread = discarded[head.stream_instance];
    of_thread = std::max(of_thread, head.events_discarded);
    found.emplace_back(head.stream_instance, head.timestamp_begin, entry.path());
  }
  std::ranges::sort(found);
  for (auto& [thread, begin, path] : found) trace.packets.push_back(std::move(path));
  for (const auto& [thread, count] : discarded) trace.discarded += count;
}

FieldValue ReadValue(FieldType type, ByteCursor& bytes) {
  switch (type) {
    case FieldType::kUint8:
      return uint64_t{bytes.Read<uint8_t>()};
    case FieldType::kUint16:
      return uint64_t{bytes.Read<uint16_t>()};
    case FieldType::kUint32:
      return uint64_t{bytes.Read<uint32_t>()};
    case FieldType::kUint64:
    case FieldType::kAddress:
      return bytes.Read<uint64_t>();
    case FieldType::kInt8:
      return int64_t{bytes.Read<int8_t>()};
    case FieldType::kInt16:
      return int64_t{bytes.Read<int16_t>()};
    case FieldType::kInt32:
      return int64_t{bytes.Read<int32_t>()};
    case FieldType::kInt64:
      return bytes.Read<int64_t>();
    case FieldType::kFloat64:
      return bytes.Read<double>();
    case FieldType::kString:
      return bytes.ReadText();
  }
  return uint64_t{0};
}

// Returns the complaint, or nothing. The records after an unknown one cannot be found.
const char* VisitPacket(Trace& trace, std::string_view packet, const jprof_events_packet& head,
                        const std::function<void(const Record&)>& visit) {
  if (head.content_size / 8 > packet.size() || head.content_size / 8 < sizeof(jprof_events_packet))
    return "has another size than it says";
  ByteCursor bytes(packet.substr(0, head.content_size / 8));
  bytes.Skip(sizeof(jprof_events_packet));
  std::vector<FieldValue> values;
  while (!bytes.empty()) {
    const auto ticks = bytes.Read<uint64_t>();
    const auto id = bytes.Read<uint32_t>();
    if (!bytes.ok()) return "ends within a record";
    const auto known = trace.events.find(id);
    if (known == trace.events.end()) {
      ++trace.damages.records;
      return "has a record of an event that no specification of the trace has";
    }
    values.clear();
    for (const Field& field : known->second.fields) values.push_back(ReadValue(field.type, bytes));
    if (!bytes.ok()) return "ends within a record";
    visit({.event = known->second,
           .ticks = ticks,
           .process = head.process,
           .thread = head.thread,
           .values = values});
  }
  return nullptr;
}

}  // namespace

void Complain(Damages& damages, const std::string& path, std::string_view what) {
  constexpr size_t kMostComplaints = 10;
  ++damages.packets;
  if (damages.what.size() < kMostComplaints)
    damages.what.push_back(fmt::format("{}: {}", path, what));
}

Result<Trace> OpenTrace(const std::string& directory) {
  Trace trace;
  trace.directory = directory;
  if (auto read = ReadSpecifications(trace); !read) return std::unexpected(read.error());
  FindPackets(trace);
  ReadStatistics(trace);
  return trace;
}

void VisitRecords(Trace& trace, const std::function<void(const Record&)>& visit) {
  for (const std::string& path : trace.packets) {
    const std::string bytes = ReadBytes(path, kMostPacketBytes);
    const jprof_events_packet head = HeadOf(bytes);
    const char* complaint =
        head.magic == 0 ? "is not a packet of events" : VisitPacket(trace, bytes, head, visit);
    if (complaint != nullptr) Complain(trace.damages, path, complaint);
  }
}

}  // namespace jprof::events
