#include "events/read/follow.h"

#include <signal.h>
#include <sys/types.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <list>
#include <utility>
#include <vector>

#include "events/read/packet.h"

namespace jprof::events {
namespace {

struct Kept {
  uint64_t ticks;
  const KnownEvent* event;
  const Writer* writer;
  std::vector<FieldValue> values;
};

// The records of one call of Read, and what they refer to.
struct Collected {
  std::vector<Kept> records;
  std::list<std::string> bytes;
  std::list<Writer> writers;
};

// Returns how many bytes were read.
uint64_t Collect(Trace& trace, const std::string& path, PacketPart part, Collected& to) {
  const std::string& bytes = to.bytes.emplace_back(std::move(part.records));
  const Writer& writer = to.writers.emplace_back(WriterOf(part.head));
  const auto keep = [&](const Record& one) {
    to.records.push_back({one.ticks, &one.event, &one.writer, one.values});
  };
  Visited visited = VisitBytes(trace.events, writer, bytes, keep);
  if (visited.unknown && ReadSpecifications(trace)) {  // a library may have been loaded
    const uint64_t before = visited.bytes;
    visited = VisitBytes(trace.events, writer, std::string_view(bytes).substr(before), keep);
    visited.bytes += before;
  }
  if (!visited.why.empty()) Complain(trace.damages, path + ": " + visited.why);
  return bytes.size();
}

}  // namespace

Result<Follower> Follower::Open(const std::string& directory) {
  auto opened = OpenTrace(directory);
  if (!opened) return std::unexpected(opened.error());
  Follower follower;
  follower.trace_ = std::move(*opened);
  return follower;
}

void Follower::Read(const std::function<void(const Record&, UnixTime)>& visit) {
  std::map<std::string, jprof_events_packet> heads;
  std::map<uint64_t, uint64_t> newest, discarded;  // begin of a packet, and events; by thread
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(trace_.directory, error)) {
    if (!IsPacketName(entry.path().filename().string())) continue;
    const jprof_events_packet head = ReadHead(entry.path());
    if (head.magic == 0) continue;
    heads[entry.path()] = head;
    uint64_t& begin = newest[head.stream_instance];
    begin = std::max(begin, head.timestamp_begin);
    uint64_t& count = discarded[head.stream_instance];
    count = std::max(count, head.events_discarded);
  }
  Collected collected;
  for (const auto& [path, head] : heads) {
    Packet& known = packets_[path];
    const bool is_same = known.read != 0 && known.begin == head.timestamp_begin;
    const bool is_complete = head.timestamp_begin < newest[head.stream_instance];
    if (!is_same || known.read < ContentBytes(head)) {
      PacketPart part = ReadPacket(path, is_same ? known.read : sizeof(jprof_events_packet));
      const uint64_t begin = part.head.timestamp_begin, from = part.from;
      if (known.read != 0 && known.begin != begin && !known.complete) ++overwritten_;
      known = {.begin = begin, .read = from + Collect(trace_, path, std::move(part), collected)};
    }
    known.complete = is_complete;
  }
  discarded_ = 0;
  for (const auto& [thread, count] : discarded) discarded_ += count;
  std::ranges::stable_sort(collected.records, {}, &Kept::ticks);
  const TraceMetadata metadata = ReadMetadata(trace_.directory);
  for (const Kept& one : collected.records)
    visit({.event = *one.event, .ticks = one.ticks, .writer = *one.writer, .values = one.values},
          TimeOf(metadata, one.ticks));
}

bool Follower::HasEnded() const {
  const TraceMetadata metadata = ReadMetadata(trace_.directory);
  if (metadata.closed || metadata.process == 0) return true;
  return kill(static_cast<pid_t>(metadata.process), 0) != 0 && errno == ESRCH;
}

}  // namespace jprof::events
