#include "profile/log/branch_log.h"

#include <algorithm>
#include <cstring>
#include <unordered_set>

#include "common/bytes.h"

namespace jprof::profile {

// Contains what an encoded record refers to: the record before it in its chunk.
struct BranchBefore {
  uint64_t to = 0, time = 0;
};

namespace {

constexpr size_t kChunkBytes = size_t{64} << 10;
constexpr size_t kLongestRecord = 64;  // encoded; six numbers of at most ten bytes are less
constexpr uint8_t kKindBits = 0x0f, kHasRepeats = 0x10, kHasTime = 0x20;
// Reading needs memory for the file and, while it is read, a copy.
constexpr uint64_t kBranchMemoryPerByte = 2;

uint64_t Mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 32;
}

uint64_t BranchCheck(const BranchChunk& chunk, std::string_view bytes) {
  uint64_t hash = Mix(uint64_t{chunk.bytes} << 32 | chunk.records, chunk.time);
  hash = Mix(hash, uint64_t{chunk.pid} << 32 | chunk.tid);
  for (; !bytes.empty(); bytes.remove_prefix(std::min<size_t>(8, bytes.size()))) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data(), std::min<size_t>(8, bytes.size()));
    hash = Mix(hash, word);
  }
  return hash;
}

char* PutUleb(char* out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) *out++ = static_cast<char>(value | 0x80);
  *out++ = static_cast<char>(value);
  return out;
}

char* PutSleb(char* out, int64_t value) {
  for (;; value >>= 7) {
    const bool last = value >= -64 && value < 64;
    *out++ = static_cast<char>((value & 0x7f) | (last ? 0 : 0x80));
    if (last) return out;
  }
}

int64_t Difference(uint64_t a, uint64_t b) { return static_cast<int64_t>(a - b); }

char* Encode(const Branch& branch, BranchBefore& previous, char* out) {
  char* const head = out++;
  auto kind = static_cast<uint8_t>(branch.kind);
  if (branch.kind == BranchKind::kBegin) {
    out = PutSleb(out, Difference(branch.to, previous.to));
  } else {
    out = PutSleb(out, Difference(branch.from, previous.to));
    if (branch.kind != BranchKind::kEnd) out = PutSleb(out, Difference(branch.to, branch.from));
  }
  out = PutUleb(out, branch.instructions);
  if (branch.repeats != 0) {
    kind |= kHasRepeats;
    out = PutUleb(out, branch.repeats);
  }
  if (branch.time_ns > previous.time) {
    kind |= kHasTime;
    out = PutUleb(out, branch.time_ns - previous.time);
    previous.time = branch.time_ns;
  }
  previous.to = branch.to;
  *head = static_cast<char>(kind);
  return out;
}

// Returns false if the record is damaged.
bool Decode(ByteCursor& in, BranchBefore& previous, Branch& branch) {
  const auto head = in.Read<uint8_t>();
  if ((head & kKindBits) > static_cast<uint8_t>(BranchKind::kEnd)) return false;
  branch.kind = static_cast<BranchKind>(head & kKindBits);
  const uint64_t at = previous.to + static_cast<uint64_t>(in.ReadSleb());
  branch.from = branch.kind == BranchKind::kBegin ? 0 : at;
  if (branch.kind == BranchKind::kBegin) {
    branch.to = at;
  } else if (branch.kind == BranchKind::kEnd) {
    branch.to = 0;
  } else {
    branch.to = branch.from + static_cast<uint64_t>(in.ReadSleb());
  }
  branch.instructions = in.ReadUleb();
  branch.repeats = (head & kHasRepeats) != 0 ? in.ReadUleb() : 0;
  if ((head & kHasTime) != 0) previous.time += in.ReadUleb();
  branch.time_ns = previous.time;
  previous.to = branch.to;
  return in.ok();
}

// Calls `use` for the records of a chunk. Returns false if it is damaged.
template <typename Use>
bool DecodeChunk(const BranchChunk& chunk, std::string_view bytes, Use use) {
  ByteCursor in(bytes);
  BranchBefore previous{.time = chunk.time};
  Branch branch{.pid = chunk.pid, .tid = chunk.tid};
  for (uint32_t i = 0; i < chunk.records; ++i) {
    if (!Decode(in, previous, branch)) return false;
    use(branch);
  }
  return in.empty();
}

}  // namespace

// Contains the chunk of a thread that is not written yet.
struct BranchWriter::Pending {
  BranchChunk chunk;
  BranchBefore previous;
  std::unique_ptr<char[]> bytes = std::make_unique<char[]>(kChunkBytes);
  char* end = bytes.get();
};

BranchWriter::BranchWriter() = default;

BranchWriter::~BranchWriter() = default;

Result<void> BranchWriter::Open(const std::string& path, const LogHeader& header) {
  return file_.Open(path, kBranchFormat, header);
}

BranchWriter::Pending& BranchWriter::PendingOf(uint32_t pid, uint32_t tid) {
  if (last_ != nullptr && last_->chunk.tid == tid && last_->chunk.pid == pid) return *last_;
  auto& pending = pending_[uint64_t{pid} << 32 | tid];
  if (!pending) {
    pending = std::make_unique<Pending>();
    pending->chunk.pid = pid;
    pending->chunk.tid = tid;
  }
  last_ = pending.get();
  return *last_;
}

void BranchWriter::Add(const Branch& branch) {
  Pending& pending = PendingOf(branch.pid, branch.tid);
  if (pending.chunk.records == 0) {
    pending.chunk.time = branch.time_ns;
    pending.previous = {.time = branch.time_ns};
  }
  pending.end = Encode(branch, pending.previous, pending.end);
  ++pending.chunk.records;
  ++records_;
  if (pending.end + kLongestRecord > pending.bytes.get() + kChunkBytes) Flush(pending);
}

void BranchWriter::Flush(Pending& pending) {
  if (pending.chunk.records == 0) return;
  const std::string_view bytes(pending.bytes.get(), pending.end);
  pending.chunk.bytes = static_cast<uint32_t>(bytes.size());
  Write(pending.chunk, bytes);
  pending.chunk.records = 0;
  pending.end = pending.bytes.get();
}

void BranchWriter::Write(const BranchChunk& chunk, std::string_view bytes) {
  BranchChunk whole = chunk;
  whole.check = BranchCheck(whole, bytes);
  file_.Write(&whole, sizeof(whole));
  file_.Write(bytes.data(), bytes.size());
}

Result<void> BranchWriter::Close(uint64_t end_ns) {
  if (!file_.is_open()) return {};
  for (auto& [thread, pending] : pending_) Flush(*pending);
  Write({.time = end_ns}, {});
  return file_.Close();
}

Result<BranchLog> BranchLog::Read(const std::string& path, uint64_t memory) {
  const auto file = OpenLogFile(path);
  if (!file) return std::unexpected(file.error());
  if (file->size() > memory / kBranchMemoryPerByte) return NotEnoughMemory(path, memory);
  return Parse(file->ReadAll(file->size()), path);
}

Result<BranchLog> BranchLog::Parse(std::string bytes, const std::string& name) {
  BranchLog log;
  log.bytes_ = std::move(bytes);
  ByteCursor head{std::string_view(log.bytes_)};
  const auto header = TakeLogHeader(head, kBranchFormat, name);
  if (!header) return std::unexpected(header.error());
  log.header_ = *header;
  log.ReadChunks(name);
  return log;
}

// Keeps the chunks that can be decoded completely. A chunk whose content is damaged is left out.
// One whose head is damaged ends the reading, because the next one cannot be found.
void BranchLog::ReadChunks(const std::string& name) {
  ByteCursor rest{std::string_view(bytes_)};
  rest.Skip(sizeof(LogHeader));
  end_ns_ = header_.start_ns;
  bool ended = false;
  while (!ended && rest.left() >= sizeof(BranchChunk)) {
    const size_t offset = bytes_.size() - rest.left();
    const auto chunk = ByteCursor(rest).Read<BranchChunk>();
    if (chunk.bytes > rest.left() - sizeof(chunk)) break;
    rest.Skip(sizeof(chunk));
    const std::string_view content = rest.ReadBytes(chunk.bytes);
    uint64_t last = chunk.time;
    const bool good =
        BranchCheck(chunk, content) == chunk.check &&
        DecodeChunk(chunk, content, [&last](const Branch& branch) { last = branch.time_ns; });
    if (!good) {
      damages_.push_back(fmt::format("{}: {} records at byte {} are damaged and left out", name,
                                     chunk.records, offset));
      if (damages_.size() > 100) break;
      continue;
    }
    end_ns_ = std::max(end_ns_, last);
    records_ += chunk.records;
    ended = chunk.records == 0;
    if (!ended) chunks_.push_back(offset);
  }
  if (!ended) {
    damages_.push_back(fmt::format("{}: cut off or damaged after {} records ({} of {} bytes read)",
                                   name, records_, bytes_.size() - rest.left(), bytes_.size()));
  }
}

void BranchLog::ForEach(const std::function<void(const Branch&)>& use) const {
  for (const size_t offset : chunks_) {
    ByteCursor in(std::string_view(bytes_).substr(offset));
    const auto chunk = in.Read<BranchChunk>();
    DecodeChunk(chunk, in.ReadBytes(chunk.bytes), use);
  }
}

std::vector<TracedThread> BranchLog::Threads() const {
  std::vector<TracedThread> threads;
  std::unordered_set<uint64_t> known;
  for (const size_t offset : chunks_) {
    const auto chunk = ByteCursor(std::string_view(bytes_).substr(offset)).Read<BranchChunk>();
    const bool is_new = known.insert(uint64_t{chunk.pid} << 32 | chunk.tid).second;
    if (is_new) threads.push_back({.pid = chunk.pid, .tid = chunk.tid});
  }
  return threads;
}

std::vector<Branch> BranchLog::All() const {
  std::vector<Branch> all;
  all.reserve(records_);
  ForEach([&all](const Branch& branch) { all.push_back(branch); });
  return all;
}

}  // namespace jprof::profile
