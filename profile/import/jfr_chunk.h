// One chunk of a recording: its header, its events, the types of its metadata and the constants of
// its checkpoints. A recording consists of chunks, each of which can be read by itself.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/result.h"
#include "profile/import/jfr_types.h"

namespace jprof::profile {

struct JfrChunkHeader {
  uint16_t major = 0, minor = 0;
  uint64_t offset = 0;  // in the recording
  uint64_t start_ns = 0, duration_ns = 0;
  uint64_t start_ticks = 0, ticks_per_second = 1;
  bool is_compressed = true;
  // The JVM was writing it when it ended or when the file was copied.
  bool is_open = false;
  std::string_view bytes;  // with the header
};

// Divides a recording. Fails if it is damaged.
Result<std::vector<JfrChunkHeader>> SplitJfr(std::string_view bytes);

struct JfrEvent {
  uint64_t type = 0;
  uint64_t offset = 0;  // in the recording
  JfrCursor body;       // behind the type
};

class JfrChunk {
 public:
  // Reads the metadata and finds the constants and events. Of an open chunk, what is complete is
  // read. Fails if it is damaged, if an open chunk has no metadata yet, or if it needs more than
  // `*memory` bytes, from which it takes what it needs.
  static Result<JfrChunk> Read(const JfrChunkHeader& header, uint64_t* memory);

  const JfrChunkHeader& header() const { return header_; }
  const JfrTypes& types() const { return types_; }
  const std::vector<JfrEvent>& events() const { return events_; }  // of the program
  bool is_cut() const { return is_cut_; }                          // its last event is incomplete

  // Returns the value of a constant, or an empty cursor if the chunk lacks it.
  JfrCursor Constant(uint64_t type, uint64_t key) const;
  // Returns the text of a leaf: of a string, of a constant that is a String or a structure of one
  // text (a Symbol), or of a key that the chunk lacks, which is empty.
  std::string TextOf(const JfrLeaf& leaf, const JfrValue& value) const;

  // Returns nanoseconds since 1970 of a number of ticks.
  uint64_t UnixNanos(uint64_t ticks) const;
  // Returns nanoseconds of a span of time in the leaf's unit.
  uint64_t SpanNanos(const JfrLeaf& leaf, uint64_t span) const;

 private:
  Result<void> FindEvents(uint64_t* memory);
  Result<void> ReadMetadata();
  Result<void> ReadConstants(JfrEvent checkpoint, uint64_t* memory);

  JfrChunkHeader header_;
  JfrTypes types_;
  std::vector<JfrEvent> events_, checkpoints_;
  JfrEvent metadata_;
  bool is_cut_ = false;
  std::unordered_map<uint64_t, std::unordered_map<uint64_t, JfrCursor>> constants_;
};

}  // namespace jprof::profile
