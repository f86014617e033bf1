#include "profile/read/reader_trace.h"

#include <fcntl.h>
#include <zstd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <system_error>
#include <utility>

#include "common/bytes.h"
#include "profile/files/numbered_name.h"

namespace jprof::profile {
namespace {

using Visit = std::function<bool(const TraceEvent&)>;

// Subtracts without overflow, which damaged values could cause in a signed difference.
int64_t Difference(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}

// Decodes blocks into events and keeps, per thread, where its last block ended.
class Decoder {
 public:
  Decoder(Reader& reader, const Visit& visit) : reader_(reader), visit_(visit) {}

  // Requires a block of kTraceBlockBytes, or fewer in a truncated file. Returns false if the
  // visitor returned false.
  bool Block(const std::string& block) {
    ByteCursor bytes(block);
    const auto header = bytes.Read<TraceBlock>();
    if (!bytes.ok()) return true;
    if (header.sequence == 0 || header.thread >= reader_.threads().size()) {
      if (header.sequence != 0 || header.bytes != 0)
        Damage("trace: a block of an unknown thread is left out");
      return true;
    }
    if (header.bytes > bytes.left()) Damage("trace: a block is cut off");
    return Events(header, bytes.Part(std::min<size_t>(header.bytes, bytes.left())));
  }

  // Returns the newest block of each thread so far.
  const std::map<uint32_t, uint64_t>& sequences() const { return sequences_; }

 private:
  bool Events(const TraceBlock& header, ByteCursor events) {
    uint64_t& next = next_event_[header.thread];
    TraceEvent event;
    event.thread = header.thread;
    event.missing = header.first_event > next ? header.first_event - next : 0;
    int64_t& value = value_[header.thread];
    if (event.missing > 0)
      event.skipped = std::max<int64_t>(Difference(header.first_value, value), 0);
    int64_t& waited = waited_[header.thread];
    if (event.missing > 0) waited = 0;
    value = header.first_value;
    next = header.first_event;
    sequences_[header.thread] = std::max(sequences_[header.thread], header.sequence);
    while (!events.empty()) {
      const uint64_t head = events.ReadUleb();
      const uint64_t delta = events.ReadUleb();
      if (!events.ok() || head >> 5 > kMethodMask) {
        Damage("trace: an event is damaged: the remainder of its block is left out");
        break;
      }
      event.ref = PackMethod(static_cast<FrameKind>(head >> 1 & 15),
                             MethodId{static_cast<uint32_t>(head >> 5)});
      event.exit = head & 1;
      event.delta = static_cast<int64_t>(delta >> 1 ^ -(delta & 1));
      if (MethodOf(event.ref) == kRootMethod && keeps_slow_calls_) {
        waited = Difference(waited, Difference(0, std::max<int64_t>(event.delta, 0)));
        continue;
      }
      event.number = next++;
      event.waited = std::exchange(waited, 0);
      value = Difference(value, Difference(0, event.delta));
      if (!visit_(event)) return false;
      event.missing = 0;
      event.skipped = 0;
    }
    return true;
  }

  void Damage(const char* what) { reader_.damages().Add(what); }

  Reader& reader_;
  const Visit& visit_;
  const bool keeps_slow_calls_ = reader_.header().slow_items != 0;
  std::map<uint32_t, uint64_t> next_event_;
  std::map<uint32_t, int64_t> value_;   // of the metric after the thread's last event
  std::map<uint32_t, int64_t> waited_;  // since its last event
  std::map<uint32_t, uint64_t> sequences_;
};

struct Place {
  uint32_t thread;
  uint64_t sequence;
  uint64_t offset;
};

// Reads the blocks of `trace`, one thread after another, each in its own order.
bool ReadBlocks(Reader& reader, const ReaderFile& file, Decoder& decoder) {
  const uint64_t there = (file.size() + kTraceBlockBytes - 1) / kTraceBlockBytes;
  const uint64_t count = std::min(reader.header().trace_blocks, there);
  if (count < reader.header().trace_blocks)
    reader.damages().Add("trace: cut off: blocks are missing");
  std::vector<Place> places;
  for (uint64_t i = 0; (i = file.NextData(i * kTraceBlockBytes) / kTraceBlockBytes) < count; ++i) {
    TraceBlock header;
    const uint64_t offset = i * kTraceBlockBytes;
    if (file.ReadAt(offset, &header, sizeof(header)) != sizeof(header)) break;
    if (header.sequence == 0 && header.bytes == 0) continue;  // unused
    if (reader.header().slow_items != 0 && header.kept != kKeptBlock) continue;
    const auto seen = decoder.sequences().find(header.thread);
    // Blocks that the continuous writer has already compressed may still be here.
    if (seen != decoder.sequences().end() && header.sequence <= seen->second) continue;
    places.push_back({header.thread, header.sequence, offset});
  }
  std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return std::pair(a.thread, a.sequence) < std::pair(b.thread, b.sequence);
  });
  std::string block;
  for (const Place& place : places) {
    block.resize(kTraceBlockBytes);
    block.resize(file.ReadAt(place.offset, block.data(), block.size()));
    if (!decoder.Block(block)) return false;
  }
  return true;
}

// Reads the blocks of `trace.zst`, or of a file that has another name: consecutive frames, each of
// whole blocks.
bool ReadCompressed(Reader& reader, const ReaderFile& file, const std::string& name,
                    Decoder& decoder) {
  const std::unique_ptr<ZSTD_DStream, size_t (*)(ZSTD_DStream*)> stream(ZSTD_createDStream(),
                                                                        ZSTD_freeDStream);
  std::string input(ZSTD_DStreamInSize(), '\0');
  std::string block(kTraceBlockBytes, '\0');
  ZSTD_outBuffer out = {block.data(), block.size(), 0};
  size_t state = 0;  // 0 = at the end of a frame
  for (uint64_t offset = 0;;) {
    ZSTD_inBuffer in = {input.data(), file.ReadAt(offset, input.data(), input.size()), 0};
    if (file.NextData(offset) >= offset + in.size && in.size == input.size()) {
      reader.damages().Add(name + ": a hole: all later blocks are missing",
                           fmt::format("at byte {}", offset));
      break;
    }
    offset += in.size;
    if (in.size == 0) break;
    while (in.pos < in.size || out.pos == out.size) {
      if (out.pos == out.size) {
        if (!decoder.Block(block)) return false;
        out.pos = 0;
        if (state == 0 && in.pos == in.size) break;  // one more call would wait for another frame
      }
      const size_t before = in.pos + out.pos;
      state = ZSTD_decompressStream(stream.get(), &out, &in);
      if (ZSTD_isError(state)) {
        reader.damages().Add(name + ": damaged: all later blocks are missing",
                             ZSTD_getErrorName(state));
        block.resize(out.pos);
        return block.empty() || decoder.Block(block);
      }
      if (in.pos + out.pos == before) break;
    }
  }
  if (state != 0) reader.damages().Add(name + ": its last frame is cut off");
  block.resize(out.pos);
  return block.empty() || decoder.Block(block);
}

// Returns the names of the compressed files, in their order. The oldest of a live trace may be
// removed meanwhile.
std::vector<std::string> CompressedFiles(const Reader& reader) {
  std::vector<std::string> names;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(reader.directory(), failed)) {
    std::string name = entry.path().filename().string();
    if (name == kCompressedTraceFile || kTraceFiles.NumberIn(name) != 0)
      names.push_back(std::move(name));
  }
  std::ranges::sort(names, {}, [](const std::string& name) { return kTraceFiles.NumberIn(name); });
  return names;
}

Result<void> NoTrace(const Reader& reader) {
  return WrongUse(
      "{}: has no trace (it was recorded with `jprof "
      "{}`); record one with: jprof trace -- CMD...",
      reader.directory(), reader.meta().mode.empty() ? "..." : reader.meta().mode);
}

}  // namespace

Result<void> CheckTrace(const Reader& reader) {
  if (ReaderFile(AT_FDCWD, (reader.directory() + "/" + kTraceFile).c_str()).exists()) return {};
  return CompressedFiles(reader).empty() ? NoTrace(reader) : Result<void>();
}

Result<void> ReadTrace(Reader& reader, const Visit& visit) {
  const ReaderFile blocks = reader.OpenFile(kTraceFile);
  const std::vector<std::string> names = CompressedFiles(reader);
  if (!blocks.exists() && names.empty()) return NoTrace(reader);
  Decoder decoder(reader, visit);
  for (const std::string& name : names) {
    const ReaderFile file = reader.OpenFile(name.c_str());
    if (file.exists() && !ReadCompressed(reader, file, name, decoder)) return {};
  }
  ReadBlocks(reader, blocks, decoder);
  return {};
}

}  // namespace jprof::profile
