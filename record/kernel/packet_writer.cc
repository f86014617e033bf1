#include "record/kernel/packet_writer.h"

#include <fmt/printf.h>
#include <kernel_layout.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "common/errno_text.h"
#include "common/monotonic.h"
#include "common/random.h"
#include "events/runtime/ctf.h"
#include "events/runtime/jprof-events.h"
#include "profile/files/whole_file.h"

namespace jprof::record {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kPacketBytes = 1 << 20, kLeastPacketBytes = 4 << 10;
constexpr uint64_t kPacketsOfShare = 4;  // so that wrapping removes a quarter at a time
constexpr uint64_t kNanosPerSecond = 1'000'000'000;

// Readers of traces ignore hidden files.
Result<void> Write(const fs::path& path, std::string_view text) {
  return profile::WriteWholeFile(path, text, path.parent_path() / ".unfinished");
}

std::string UuidText(const uint8_t* uuid) {
  std::string text;
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", uuid[i]);
  }
  return text;
}

std::string Metadata(const uint8_t* uuid, const std::vector<std::string>& counters) {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  const uint64_t unix_time =
      static_cast<uint64_t>(now.tv_sec) * kNanosPerSecond + static_cast<uint64_t>(now.tv_nsec);
  const uint64_t offset = unix_time - static_cast<uint64_t>(MonotonicNanos());
  std::string text = JPROF_EVENTS_TYPES;
  text += fmt::sprintf(JPROF_EVENTS_TRACE, UuidText(uuid));
  text += fmt::sprintf(JPROF_EVENTS_CLOCK, kNanosPerSecond, offset / kNanosPerSecond,
                       offset % kNanosPerSecond);
  text += "env {\n  tracer_name = \"jprof\";\n  tracer_major = 1;\n";
  for (size_t i = 0; i < counters.size(); ++i)
    text += fmt::format("  counter_{} = \"{}\";\n", i, counters[i]);
  text += "};\n\n" JPROF_EVENTS_STREAMS;
  return text + KERNEL_METADATA;
}

}  // namespace

Result<PacketWriter> PacketWriter::Create(const fs::path& directory, uint32_t processors,
                                          const std::vector<std::string>& counters,
                                          const TraceLimit& limit) {
  PacketWriter writer;
  writer.limit_ = limit;
  if (limit.mode != TraceLimitMode::kContinuous) {
    const uint64_t share = limit.bytes / processors / kPacketsOfShare;
    writer.packet_bytes_ = std::clamp<uint64_t>(share, kLeastPacketBytes, kPacketBytes);
  }
  writer.directory_ = directory;
  writer.streams_.resize(processors);
  std::error_code failed;
  fs::create_directories(directory / "specifications", failed);
  if (failed) return Fail("cannot make {}: {}", directory.string(), failed.message());
  if (getentropy(writer.uuid_, sizeof writer.uuid_) != 0)
    return Fail("the kernel gives no random numbers: {}", ErrnoText());
  if (auto written = Write(directory / "specifications" / "kernel.xml", KERNEL_SPECIFICATION);
      !written)
    return std::unexpected(written.error());
  if (auto written = Write(directory / "metadata", Metadata(writer.uuid_, counters)); !written)
    return std::unexpected(written.error());
  return writer;
}

void PacketWriter::Add(uint32_t processor, std::string_view record) {
  Stream& stream = streams_[processor];
  uint64_t time;
  if (record.size() < JPROF_EVENTS_HEADER_BYTES) return;
  std::memcpy(&time, record.data(), sizeof time);
  time = std::max(time, stream.last);
  if (stream.records++ == 0) stream.begin = time;
  stream.last = time;
  stream.bytes.append(reinterpret_cast<const char*>(&time), sizeof time);
  stream.bytes.append(record.substr(sizeof time));
}

void PacketWriter::KeepFirst() {
  Stream& stream = streams_.front();
  (void)WritePacket(0);
  stream.written = 0;
  stream.sizes.clear();
}

Result<void> PacketWriter::Flush(uint32_t processor, uint64_t lost, bool all) {
  Stream& stream = streams_[processor];
  stream.lost = std::max(stream.lost, lost);
  if (stream.records == 0 || (!all && stream.bytes.size() < packet_bytes_)) return {};
  if (MakeRoom(processor, stream.bytes.size())) return WritePacket(processor);
  Drop(stream);
  return {};
}

Result<void> PacketWriter::Close() {
  Result<void> result;
  for (uint32_t i = 0; i < streams_.size(); ++i) {
    const Stream& stream = streams_[i];
    if (stream.lost + stream.dropped == stream.said) continue;
    if (auto written = WritePacket(i); !written) result = written;
  }
  return result;
}

void PacketWriter::Drop(Stream& stream) {
  stream.dropped += stream.records;
  dropped_ += stream.records;
  stream.bytes.clear();
  stream.records = 0;
}

Result<void> PacketWriter::WritePacket(uint32_t processor) {
  Stream& stream = streams_[processor];
  if (stream.records == 0) stream.begin = stream.last;
  jprof_events_packet head = {.magic = JPROF_EVENTS_MAGIC,
                              .stream = JPROF_EVENTS_STREAM,
                              .stream_instance = processor,
                              .timestamp_begin = stream.begin,
                              .timestamp_end = stream.last,
                              .events_discarded = stream.lost + stream.dropped,
                              .monotonic = stream.begin};
  std::memcpy(head.uuid, uuid_, sizeof uuid_);
  head.content_size = head.packet_size = (sizeof head + stream.bytes.size()) * 8;
  const std::string name = fmt::format("processor {}", processor);
  name.copy(head.thread_name, sizeof head.thread_name - 1);
  std::string packet(reinterpret_cast<const char*>(&head), sizeof head);
  packet += stream.bytes;
  if (auto written = Write(PathOf(processor, stream.number), packet); !written) {
    Drop(stream);
    return written;
  }
  ++stream.number;
  stream.said = head.events_discarded;
  stream.sizes.push_back(packet.size());
  stream.written += packet.size();
  stream.bytes.clear();
  stream.records = 0;
  return {};
}

bool PacketWriter::MakeRoom(uint32_t processor, uint64_t bytes) {
  Stream& stream = streams_[processor];
  const uint64_t most = limit_.bytes / streams_.size();
  if (limit_.mode == TraceLimitMode::kContinuous) return true;
  if (limit_.mode == TraceLimitMode::kNormal) {
    stream.is_full |= stream.written + bytes > most;  // smaller packets would leave a gap
    return !stream.is_full;
  }
  while (!stream.sizes.empty() && stream.written + bytes > most) {
    std::error_code ignored;
    const auto oldest = stream.number - static_cast<uint32_t>(stream.sizes.size());
    fs::remove(PathOf(processor, oldest), ignored);
    stream.written -= stream.sizes.front();
    stream.sizes.pop_front();
  }
  return true;
}

fs::path PacketWriter::PathOf(uint32_t processor, uint32_t number) const {
  return directory_ / fmt::format("processor-{}-{}", processor, number);
}

}  // namespace jprof::record
