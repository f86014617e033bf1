#include "events/read/trace.h"

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "events/read/file_bytes.h"
#include "events/read/packet.h"
#include "events/read/statistics.h"
#include "events/spec/identity.h"
#include "events/spec/read_specification.h"

namespace jprof::events {
namespace {

namespace fs = std::filesystem;

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

void FindPackets(Trace& trace) {
  std::vector<std::tuple<uint64_t, uint64_t, std::string>> found;  // thread, begin, path
  std::map<uint64_t, uint64_t> discarded;                          // by thread
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(trace.directory, error)) {
    if (!IsPacketName(entry.path().filename().string())) continue;
    const jprof_events_packet head = ReadHead(entry.path());
    if (head.magic == 0) {
      Complain(trace.damages, entry.path().string() + ": is not a packet of events");
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

// Returns whether the text has the clock and the events of the trace.
bool IsWholeMetadata(std::string_view text, const Trace& trace) {
  return text.starts_with("/* CTF 1.8 */") && text.contains("\n  freq = ") &&
         text.contains("\n  offset = ") &&
         std::ranges::all_of(trace.events, [&](const auto& event) {
           return text.contains(fmt::format("\n  id = {};", event.first));
         });
}

void CheckMetadata(Trace& trace) {
  const fs::path metadata = fs::path(trace.directory) / "metadata";
  constexpr uint64_t kMostBytes = uint64_t{64} << 20;
  std::error_code error;
  if (!fs::is_regular_file(metadata, error))
    Complain(trace.damages, metadata.string() + ": is missing: other tools cannot read the trace");
  else if (!IsWholeMetadata(ReadBytes(metadata, kMostBytes), trace))
    Complain(trace.damages, metadata.string() +
                                ": is damaged: times of the calendar may be wrong, and other tools "
                                "cannot read the trace");
}

}  // namespace

void Add(const Summary& one, Summary& sum) {
  if (one.count == 0) return;
  sum.min = sum.count == 0 ? one.min : std::min(sum.min, one.min);
  sum.max = sum.count == 0 ? one.max : std::max(sum.max, one.max);
  sum.count += one.count;
  sum.sum = static_cast<int64_t>(static_cast<uint64_t>(sum.sum) + static_cast<uint64_t>(one.sum));
  for (size_t i = 0; i < std::size(sum.histogram); ++i) sum.histogram[i] += one.histogram[i];
}

void Complain(Damages& damages, std::string text) {
  ++damages.files;
  if (damages.what.size() < Damages::kMostNamed) damages.what.push_back(std::move(text));
}

Result<void> ReadSpecifications(Trace& trace) {
  const fs::path folder = fs::path(trace.directory) / "specifications";
  std::error_code error, ignored;
  std::string why = folder.string() + " has no specification";
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string path = entry.path();
    if (!path.ends_with(".xml")) continue;
    const auto read = entry.is_regular_file(ignored)
                          ? ReadSpecification(path)
                          : Result<Specification>(Fail("{}: is no regular file", path));
    if (read) {
      AddEvents(*read, trace);
    } else {
      Complain(trace.damages, why = read.error().message);
    }
  }
  if (error) why = fmt::format("{}: {}", folder.string(), error.message());
  if (trace.events.empty()) return Fail("{} is not a trace of events: {}", trace.directory, why);
  return {};
}

Result<Trace> OpenTrace(const std::string& directory) {
  Trace trace;
  trace.directory = directory;
  if (auto read = ReadSpecifications(trace); !read) return std::unexpected(read.error());
  CheckMetadata(trace);
  FindPackets(trace);
  ReadStatistics(trace);
  return trace;
}

const FieldValue* ValueOf(const Record& record, std::string_view field) {
  const auto& fields = record.event.fields;
  const auto found = std::ranges::find(fields, field, &Field::name);
  return found != fields.end() ? &record.values[static_cast<size_t>(found - fields.begin())]
                               : nullptr;
}

void VisitRecords(Trace& trace, const std::function<void(const Record&)>& visit) {
  for (const std::string& path : trace.packets) {
    const PacketPart part = ReadPacket(path);
    const uint64_t content = ContentBytes(part.head);
    const Visited visited = VisitBytes(trace.events, WriterOf(part.head), part.records, visit);
    const uint64_t end = sizeof(jprof_events_packet) + visited.bytes;
    if (content == end && visited.why.empty()) continue;
    if (content > end) trace.damages.bytes += content - end;
    Complain(
        trace.damages,
        fmt::format("{}: from byte {} on, {} bytes cannot be read: {}", path, end,
                    content > end ? content - end : 0,
                    visited.why.empty() ? "the file has another size than it says" : visited.why));
  }
}

}  // namespace jprof::events
