// Reads packets of events, which are not trusted and may be those of a program that runs.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "events/read/trace.h"
#include "events/runtime/jprof-events.h"

namespace jprof::events {

// Returns whether files with this name are packets: those of threads, and of processors where the
// kernel writes the records.
inline bool IsPacketName(std::string_view name) {
  return name.starts_with("thread-") || name.starts_with("processor-");
}

// Returns the head of a packet; magic is 0 if it is none.
jprof_events_packet HeadOf(std::string_view bytes);
jprof_events_packet ReadHead(const std::string& path);

// Returns the bytes of head and records, at most those of the largest packet.
uint64_t ContentBytes(const jprof_events_packet& head);

Writer WriterOf(const jprof_events_packet& head);

// The records of a packet from an offset on.
struct PacketPart {
  jprof_events_packet head;  // magic is 0 if the file is no packet
  uint64_t from = 0;         // where in the packet the records begin
  std::string records;
};

// Reads the records from offset `from`, if that is in the packet. The records are of the packet
// whose head is returned, even if the program overwrites the packet at the same time.
PacketPart ReadPacket(const std::string& path, uint64_t from = sizeof(jprof_events_packet));

struct Visited {
  uint64_t bytes = 0;    // that were read
  std::string why;       // the rest could not be read; empty if all was read
  bool unknown = false;  // an event that no specification has
};

// Visits records. Those after one that cannot be read cannot be found.
Visited VisitBytes(const std::map<uint32_t, KnownEvent>& events, const Writer& writer,
                   std::string_view records, const std::function<void(const Record&)>& visit);

}  // namespace jprof::events
