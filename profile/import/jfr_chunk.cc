#include "profile/import/jfr_chunk.h"

#include <algorithm>

namespace jprof::profile {
namespace {

constexpr std::string_view kChunkMagic("FLR\0", 4);
constexpr size_t kHeaderBytes = 68;
constexpr uint64_t kMetadataEvent = 0, kCheckpointEvent = 1;
// The last four bytes of the header: the number of times that it was written, which is 0 when the
// chunk is complete, and features.
constexpr uint32_t kCompressedFeature = 1;
constexpr uint32_t kGenerationShift = 24;

JfrChunkHeader ReadChunkHeader(std::string_view bytes, uint64_t offset, uint64_t* size) {
  JfrCursor cursor(bytes.substr(0, kHeaderBytes), false);
  cursor.Skip(kChunkMagic.size());
  JfrChunkHeader header = {.offset = offset};
  header.major = cursor.Fixed<uint16_t>();
  header.minor = cursor.Fixed<uint16_t>();
  *size = cursor.Fixed<uint64_t>();
  cursor.Skip(16);  // where the last checkpoint and the metadata are: both are found as events
  header.start_ns = cursor.Fixed<uint64_t>();
  header.duration_ns = cursor.Fixed<uint64_t>();
  header.start_ticks = cursor.Fixed<uint64_t>();
  header.ticks_per_second = std::max<uint64_t>(1, cursor.Fixed<uint64_t>());
  const auto state = cursor.Fixed<uint32_t>();
  header.is_compressed = (state & kCompressedFeature) != 0;
  header.is_open = state >> kGenerationShift != 0;
  return header;
}

// What an event and a constant need at most while their tables grow, which are twice as large then,
// and three times while they are copied.
constexpr uint64_t kEventMemory = 3 * sizeof(JfrEvent);
constexpr uint64_t kConstantMemory = sizeof(uint64_t) + sizeof(JfrCursor) + 6 * sizeof(void*);

// Returns false if there is less left.
bool TakeMemory(uint64_t bytes, uint64_t* memory) {
  if (bytes > *memory) return false;
  *memory -= bytes;
  return true;
}

std::unexpected<Error> TooMuch(uint64_t offset, std::string_view what) {
  return Fail(
      "offset {}: the tables of its {} need more than the available memory: import it on a machine "
      "with more memory, or a shorter recording",
      offset, what);
}

double NanosPerTick(const JfrChunkHeader& header) {
  return 1e9 / static_cast<double>(header.ticks_per_second);
}

}  // namespace

Result<std::vector<JfrChunkHeader>> SplitJfr(std::string_view bytes) {
  std::vector<JfrChunkHeader> chunks;
  for (uint64_t at = 0; at < bytes.size();) {
    const std::string_view rest = bytes.substr(at);
    if (!rest.starts_with(kChunkMagic)) {
      // The JVM updates the header now and then: more may have been written since.
      if (chunks.empty()) return Fail("offset {}: no chunk of a recording begins here", at);
      chunks.back().bytes = bytes.substr(chunks.back().offset);
      chunks.back().is_open = true;
      return chunks;
    }
    if (rest.size() < kHeaderBytes)
      return Fail("offset {}: the file ends in the header of a chunk", at);
    uint64_t size = 0;
    JfrChunkHeader header = ReadChunkHeader(rest, at, &size);
    if (header.major != 2) {
      return Fail(
          "offset {}: version {}.{} of the format; jprof reads 2.x, which JDK 11 and later "
          "write",
          at, header.major, header.minor);
    }
    const bool is_whole = size >= kHeaderBytes && size <= rest.size();
    header.is_open |= !is_whole;
    header.bytes = rest.substr(0, is_whole ? size : rest.size());
    at += header.bytes.size();
    chunks.push_back(header);
  }
  return chunks;
}

Result<void> JfrChunk::FindEvents(uint64_t* memory) {
  JfrCursor cursor(header_.bytes, header_.is_compressed);
  cursor.Skip(kHeaderBytes);
  while (!cursor.empty()) {
    const uint64_t at = header_.bytes.size() - cursor.left();
    JfrCursor event = cursor;
    const uint32_t size = event.Int();
    const uint64_t head = cursor.left() - event.left();
    if (!event.ok() || size <= head || size > cursor.left()) {
      if (!header_.is_open) {
        return Fail("offset {}: an event of {} bytes does not fit into its chunk",
                    header_.offset + at, size);
      }
      is_cut_ = true;
      return {};
    }
    JfrCursor body(cursor.ReadBytes(size).substr(head), header_.is_compressed);
    const uint64_t type = body.Long();
    const JfrEvent found = {type, header_.offset + at, body};
    if (!TakeMemory(kEventMemory, memory)) return TooMuch(found.offset, "events");
    if (type == kMetadataEvent) {
      metadata_ = found;
    } else {
      (type == kCheckpointEvent ? checkpoints_ : events_).push_back(found);
    }
  }
  return {};
}

Result<void> JfrChunk::ReadMetadata() {
  if (metadata_.offset == 0) {
    return Fail(
        "offset {}: the chunk has no metadata, without which its events cannot be read{}",
        header_.offset,
        header_.is_open ? ": the JVM ended before it wrote any, or the file is incomplete" : "");
  }
  auto types = JfrTypes::Read(metadata_.body);
  if (!types) return Fail("offset {}: {}", metadata_.offset, types.error().message);
  types_ = *std::move(types);
  return {};
}

Result<void> JfrChunk::ReadConstants(JfrEvent checkpoint, uint64_t* memory) {
  JfrCursor& cursor = checkpoint.body;
  for (int i = 0; i < 3; ++i) cursor.Long();  // start, duration, distance of the one before
  cursor.Number(1);                           // what it is of
  for (uint32_t pools = cursor.Int(); pools > 0 && cursor.ok(); --pools) {
    const uint64_t id = cursor.Long();
    const JfrType* type = types_.Find(id);
    if (type == nullptr) {
      if (!cursor.ok()) break;
      return Fail("offset {}: it has constants of an unknown type {}", checkpoint.offset, id);
    }
    auto& pool = constants_[id];
    for (uint32_t left = cursor.Int(); left > 0 && cursor.ok(); --left) {
      const uint64_t key = cursor.Long();
      const JfrCursor value = cursor;
      types_.SkipValue(*type, cursor);
      if (!TakeMemory(kConstantMemory, memory)) return TooMuch(checkpoint.offset, "constants");
      if (cursor.ok()) pool[key] = value;
    }
  }
  if (!cursor.ok()) return Fail("offset {}: a checkpoint is damaged", checkpoint.offset);
  return {};
}

Result<JfrChunk> JfrChunk::Read(const JfrChunkHeader& header, uint64_t* memory) {
  JfrChunk chunk;
  chunk.header_ = header;
  auto read = chunk.FindEvents(memory);
  if (read) read = chunk.ReadMetadata();
  for (const JfrEvent& checkpoint : chunk.checkpoints_) {
    if (!read) break;
    read = chunk.ReadConstants(checkpoint, memory);
  }
  if (!read) return std::unexpected(read.error());
  return chunk;
}

JfrCursor JfrChunk::Constant(uint64_t type, uint64_t key) const {
  const auto pool = constants_.find(type);
  if (pool == constants_.end()) return {};
  const auto found = pool->second.find(key);
  return found == pool->second.end() ? JfrCursor() : found->second;
}

std::string JfrChunk::TextOf(const JfrLeaf& leaf, const JfrValue& value) const {
  if (leaf.is_array) return {};
  JfrCursor text = value.body;
  if (leaf.kind == JfrLeaf::Kind::kConstant) {
    const JfrType* type = types_.Find(leaf.type);
    text = Constant(leaf.type, value.number);
    if (type == nullptr || text.empty()) return {};
    if (!type->leaves.empty() && type->leaves.front().kind != JfrLeaf::Kind::kString) return {};
  } else if (leaf.kind != JfrLeaf::Kind::kString) {
    return {};
  }
  JfrCursor::Text read = text.ReadString();
  if (read.constant == 0) return std::move(read.text);
  return Constant(types_.IdOf("java.lang.String"), read.constant).ReadString().text;
}

uint64_t JfrChunk::UnixNanos(uint64_t ticks) const {
  const double after = static_cast<double>(static_cast<int64_t>(ticks - header_.start_ticks));
  constexpr double kYears = 1e18;  // what is further away is damage
  return header_.start_ns +
         static_cast<uint64_t>(std::clamp(after * NanosPerTick(header_), 0.0, kYears));
}

uint64_t JfrChunk::SpanNanos(const JfrLeaf& leaf, uint64_t span) const {
  double scale = 1;
  if (leaf.unit == "TICKS") scale = NanosPerTick(header_);
  if (leaf.unit == "MICROSECONDS") scale = 1e3;
  if (leaf.unit == "MILLISECONDS") scale = 1e6;
  if (leaf.unit == "SECONDS") scale = 1e9;
  constexpr double kMostNanos = 1e15;
  return static_cast<uint64_t>(std::min(static_cast<double>(span) * scale + 0.5, kMostNanos));
}

}  // namespace jprof::profile
