#include "events/read/packet.h"

#include <algorithm>
#include <cstring>

#include "common/bytes.h"
#include "events/read/file_bytes.h"
#include "events/runtime/ctf.h"

namespace jprof::events {
namespace {

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

}  // namespace

jprof_events_packet HeadOf(std::string_view bytes) {
  const auto head = ByteCursor(bytes).Read<jprof_events_packet>();
  return head.magic == JPROF_EVENTS_MAGIC && head.stream == JPROF_EVENTS_STREAM
             ? head
             : jprof_events_packet{};
}

jprof_events_packet ReadHead(const std::string& path) {
  return HeadOf(ReadBytes(path, sizeof(jprof_events_packet)));
}

uint64_t ContentBytes(const jprof_events_packet& head) {
  return std::min(head.content_size / 8, uint64_t{1} << 30);
}

Writer WriterOf(const jprof_events_packet& head) {
  return {
      .process = head.process,
      .thread = head.thread,
      .name = std::string(head.thread_name, strnlen(head.thread_name, sizeof head.thread_name))};
}

PacketPart ReadPacket(const std::string& path, uint64_t from) {
  PacketPart part = {.head = ReadHead(path), .from = from, .records = {}};
  for (int tries = 0; tries < 3 && part.head.magic != 0; ++tries) {
    const uint64_t end = ContentBytes(part.head);
    part.records = end > part.from ? ReadBytes(path, end - part.from, part.from) : std::string();
    const jprof_events_packet now = ReadHead(path);
    if (now.timestamp_begin == part.head.timestamp_begin) return part;
    part.head = now;
    part.from = sizeof(jprof_events_packet);
  }
  part.records.clear();  // it is overwritten all the time
  return part;
}

Visited VisitBytes(const std::map<uint32_t, KnownEvent>& events, const Writer& writer,
                   std::string_view records, const std::function<void(const Record&)>& visit) {
  ByteCursor bytes(records);
  Visited visited;
  std::vector<FieldValue> values;
  while (!bytes.empty()) {
    const auto ticks = bytes.Read<uint64_t>();
    const auto id = bytes.Read<uint32_t>();
    if (!bytes.ok()) {
      visited.why = "the packet ends within the time and id of a record";
      return visited;
    }
    const auto known = events.find(id);
    if (known == events.end()) {
      visited.why =
          fmt::format("no specification of the trace has an event with the id {:08x}", id);
      visited.unknown = true;
      return visited;
    }
    values.clear();
    for (const Field& field : known->second.fields) values.push_back(ReadValue(field.type, bytes));
    if (!bytes.ok()) {
      visited.why = fmt::format("the packet ends within a record of {}", known->second.full_name);
      return visited;
    }
    visit({.event = known->second, .ticks = ticks, .writer = writer, .values = values});
    visited.bytes = records.size() - bytes.left();
  }
  return visited;
}

}  // namespace jprof::events
