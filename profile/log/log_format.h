// Defines what the logs of a recording have in common: `jitlog`, `samples` and `branches`.
//
// A log consists of a LogHeader and of packets, each a LogPacket and its content: records, which
// each format encodes in its own way. Everything is aligned to 8 bytes. All times are nanoseconds
// of CLOCK_MONOTONIC. A truncated log can be read up to the truncation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

namespace jprof::profile {

struct LogHeader {
  char magic[8] = {};
  uint32_t version = 0;
  uint32_t pid = 0;   // the recorded process; 0 if there may be several
  uint32_t cpus = 0;  // processors of the machine; 0 if the log does not need them
  uint32_t unused = 0;
  uint64_t start_unix_ns = 0;  // the moment `start_ns` in calendar time
  uint64_t start_ns = 0;
};
static_assert(sizeof(LogHeader) == 40);

// Describes a kind of log, in its header and in messages.
struct LogFormat {
  std::string_view magic;  // 8 bytes
  uint32_t version = 1;
  std::string_view name;   // "a recording of jprof tprof"
  std::string_view again;  // what to do with another version: "record again"
  bool live = false;       // it is read while it is written: without its end it is not damaged
};

struct LogPacket {
  uint32_t bytes = 0;         // of the content, a multiple of 8; 0 in the packet that ends a log
  uint32_t records = 0;       // in the content; in the packet that ends a log, of all, modulo 2^32
  uint32_t pid = 0, tid = 0;  // whose records they are; 0 if their format states it
  uint64_t begin_ns = 0, end_ns = 0;  // the earliest and the latest time of the records
  uint64_t discarded = 0;  // records that were lost before they were written, since the start
  uint64_t check = 0;      // of the fields above and the content
};
static_assert(sizeof(LogPacket) == 48);

// Returns a header with the magic and version of a format.
LogHeader HeaderOf(const LogFormat& format, LogHeader header);

// Returns the memory of a plain struct.
template <typename T>
std::string_view BytesOf(const T& value) {
  static_assert(std::has_unique_object_representations_v<T>);
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

// Returns the zeros that follow `bytes` bytes up to a multiple of 8.
inline std::string_view LogPadding(uint64_t bytes) {
  return std::string_view("\0\0\0\0\0\0\0", -bytes % 8);
}

// Completes a packet whose content consists of these parts: sets `bytes` and `check`. Returns the
// padding, which belongs to the content and follows the parts.
std::string_view SealPacket(LogPacket& packet, std::span<const std::string_view> parts);

// The following two write by one system call: a process that is killed afterwards loses nothing.
// They return false and set errno if they cannot write everything. They allocate nothing and throw
// nothing.
bool WriteHeader(int fd, const LogFormat& format, const LogHeader& header);
// Completes a packet, whose content consists of at most kMostParts parts, and writes it.
inline constexpr size_t kMostParts = 8;
bool WritePacket(int fd, LogPacket& packet, std::span<const std::string_view> parts);

// Returns whether the check is that of the packet and of this content.
bool IsIntact(const LogPacket& packet, std::string_view content);

}  // namespace jprof::profile
