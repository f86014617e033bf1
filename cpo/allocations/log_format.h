// The file that libjprof-pages.so writes: where a process's groups of memory were, and when.
//
// The file is an array of slots of 32 bytes in the memory representation of the machine, which is
// little-endian. The first two are the header. A writer reserves a slot by a counter, fills it and
// writes its kind last: a slot of kind kUnused was never written, or its writer was killed, and
// those after it are valid all the same. Slots are nearly in the order of their times.
//
// A text is spread over slots with the same kind and number: its bytes 24 * part and following. The
// slot in which it ends contains a zero byte.
#pragma once

#include <cstddef>
#include <cstdint>

namespace jprof::cpo {

inline constexpr char kLogMagic[8] = {'J', 'P', 'P', 'A', 'G', 'E', 'S', '1'};

struct LogHeader {
  char magic[8];
  uint32_t pid;
  uint32_t large_page;  // bytes
  uint64_t threshold;   // bytes; smaller blocks are not logged
  uint64_t began;       // CLOCK_MONOTONIC, ns, as all times
  uint64_t lost;        // events that were not logged, because memory or disk were full
  uint64_t reserved[3];
};
static_assert(sizeof(LogHeader) == 64);

enum class SlotKind : uint8_t {
  kUnused = 0,
  kBegin = 1,   // a: address, b: bytes, c: time: from now on this memory is the group's
  kEnd = 2,     // a: address, b: bytes, c: time: it is no group's
  kGroup = 3,   // text: KIND, a blank, and the key
  kModule = 4,  // text: begin and size in hexadecimal, and the path, with blanks between them
  kOutcome =
      5,  // a: bytes of the group that are advised now, b: those of them on large pages, c: time
  kFaults = 6,   // of the process so far. a: minor, b: major, c: time
  kRefused = 7,  // a: address, b: bytes, c: time: a directive's memory beyond its limit
  kNote = 8,     // text: why nothing or not everything can be done, for a person
  kExit = 9,     // c: time: the program's end. Slots may follow.
  kTotal = 10,   // of the process. a: bytes on large pages, b: resident bytes, c: time
  kFill = 11,    // as kBegin, for those parts that are no group's, from when they were none's
};

struct LogSlot {
  union {
    struct {
      uint64_t a, b, c;
    };
    char text[24];
  };
  uint32_t number;  // of the group, module or note
  uint8_t kind;     // a SlotKind
  uint8_t part;     // of the text
  uint16_t reserved;
};
static_assert(sizeof(LogSlot) == 32);

// The file grows by so many slots at a time.
inline constexpr size_t kChunkSlots = 512;
inline constexpr size_t kTextBytes = sizeof(LogSlot::text);
inline constexpr size_t kHeaderSlots = sizeof(LogHeader) / sizeof(LogSlot);
inline constexpr size_t kMostTextBytes = 256 * kTextBytes - 1;

}  // namespace jprof::cpo
