#include "a2n/jit_files.h"

#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "a2n/small_file.h"
#include "common/bytes.h"

namespace jprof::a2n {
namespace {

constexpr size_t kMostBytes = size_t{1} << 30;
constexpr size_t kMostCodes = size_t{1} << 22;  // a short line becomes a much larger JittedCode

// Parses a line such as "7f0012345600 1a0 name of it", with or without 0x.
bool ParseMapLine(std::string_view line, JittedCode& code) {
  const auto take = [&](uint64_t& value) {
    if (line.starts_with("0x") || line.starts_with("0X")) line.remove_prefix(2);
    const auto [after, error] = std::from_chars(line.data(), line.data() + line.size(), value, 16);
    if (error != std::errc() || after == line.data() + line.size() || *after != ' ') return false;
    line.remove_prefix(static_cast<size_t>(after - line.data()) + 1);
    return true;
  };
  if (!take(code.start) || !take(code.length) || code.length == 0 ||
      code.length > ~uint64_t{0} - code.start)
    return false;
  if (line.ends_with('\r')) line.remove_suffix(1);
  code.name = line;
  return !line.empty();
}

enum Record : uint32_t {
  kCodeLoad = 0,
  kCodeMove = 1,
  kDebugInfo = 2,
  kCodeClose = 3,
  kUnwindingInfo = 4
};
constexpr uint32_t kMagic = 0x4A695444, kMagicSwapped = 0x4454694A;
constexpr uint64_t kArchTimestamps = 1;  // of the file's flags

class JitDump {
 public:
  JitDump(std::string_view bytes, std::string& damage) : cursor_(bytes), damage_(damage) {}

  Result<std::vector<JittedCode>> Read() {
    if (auto header = ReadHeader(); !header) return std::unexpected(header.error());
    while (!cursor_.empty() && ReadRecord()) ++records_;
    return std::move(code_);
  }

 private:
  Result<void> ReadHeader() {
    const auto magic = cursor_.Read<uint32_t>();
    if (magic == kMagicSwapped) return Fail("it was written on a machine of the other byte order");
    if (!cursor_.ok() || magic != kMagic) return Fail("it is not a jitdump");
    const auto version = cursor_.Read<uint32_t>(), size = cursor_.Read<uint32_t>();
    cursor_.Skip(12);  // machine, padding, pid
    cursor_.Skip(8);   // time of creation
    const auto flags = cursor_.Read<uint64_t>();
    if (!cursor_.ok() || size < 40) return Fail("its header is cut short");
    if (version != 1) return Fail("its version is {}, only 1 is supported", version);
    cursor_.Skip(size - 40);
    if (!cursor_.ok()) return Fail("its header is cut short");
    timed_ = (flags & kArchTimestamps) == 0;
    return {};
  }

  bool Damaged(std::string_view what) {
    damage_ = fmt::format("record {} {}; the records before it are used", records_, what);
    return false;
  }

  // Returns false if nothing more can be read.
  bool ReadRecord() {
    const auto id = cursor_.Read<uint32_t>(), size = cursor_.Read<uint32_t>();
    const auto time = cursor_.Read<uint64_t>();
    constexpr uint32_t kHead = 16;
    if (!cursor_.ok()) return Damaged("is cut short");
    if (size < kHead) return Damaged("has an impossible size");
    ByteCursor record = cursor_.Part(size - kHead);
    if (!cursor_.ok()) return Damaged("is cut short");
    bool good = true;
    if (id == kCodeLoad) good = Load(record, timed_ ? time : kAlways);
    if (id == kCodeMove) good = Move(record, timed_ ? time : kAlways);
    if (id == kDebugInfo) good = Lines(record);
    if (id == kCodeClose) return false;
    if (code_.size() == kMostCodes) return Damaged("exceeds the limit");
    return good ||
           Damaged("exceeds its size");  // unknown kinds are passed over, as the format asks
  }

  bool Load(ByteCursor& record, Nanos time) {
    record.Skip(16);  // pid, tid, vma
    JittedCode code;
    code.start = record.Read<uint64_t>();
    code.length = record.Read<uint64_t>();
    const auto index = record.Read<uint64_t>();
    code.name = record.ReadText();
    const std::string_view bytes = record.ReadBytes(code.length);
    if (!record.ok() || code.length > ~uint64_t{0} - code.start) return false;
    code.code.assign(bytes.begin(), bytes.end());
    code.loaded = time;
    if (next_lines_of_ == code.start) AddLines(code);
    next_lines_.clear();
    place_[index] = code_.size();
    code_.push_back(std::move(code));
    return true;
  }

  void AddLines(JittedCode& code) {
    for (const auto& [address, line] : next_lines_) {
      if (address >= code.start && address - code.start < code.length)
        code.lines.emplace_back(static_cast<uint32_t>(address - code.start), line);
    }
    std::ranges::stable_sort(code.lines, {}, &std::pair<uint32_t, uint32_t>::first);
    code.source = next_file_;
  }

  bool Move(ByteCursor& record, Nanos time) {
    record.Skip(16);  // pid, tid, vma
    const auto from = record.Read<uint64_t>(), to = record.Read<uint64_t>(),
               length = record.Read<uint64_t>();
    const auto index = record.Read<uint64_t>();
    if (!record.ok() || length > ~uint64_t{0} - to) return false;
    const auto place = place_.find(index);
    if (place == place_.end() || code_[place->second].start != from)
      return true;  // of code that is not in the file
    if (moved_bytes_ + code_[place->second].code.size() > kMostBytes) return false;
    JittedCode code = code_[place->second];
    moved_bytes_ += code.code.size() + code.lines.size() * 8 + code.name.size();
    if (timed_) code_[place->second].unloaded = time;
    code.start = to;
    code.loaded = time;
    place->second = code_.size();
    code_.push_back(std::move(code));
    return true;
  }

  // Reads a record of lines, which precedes the load record that it belongs to.
  bool Lines(ByteCursor& record) {
    next_lines_.clear();
    next_file_.clear();
    next_lines_of_ = record.Read<uint64_t>();
    const auto count = record.Read<uint64_t>();
    for (uint64_t i = 0; i < count && record.ok(); ++i) {
      const auto address = record.Read<uint64_t>();
      const auto line = record.Read<uint32_t>();
      record.Skip(4);  // discriminator
      const std::string_view file = record.ReadText();
      if (!record.ok()) break;
      if (next_file_.empty() && file != "\xff") next_file_ = file;  // 0xff: the same file as before
      next_lines_.emplace_back(address, line);
    }
    return record.ok();
  }

  ByteCursor cursor_;
  std::string& damage_;
  bool timed_ = true;
  uint64_t records_ = 0;
  size_t moved_bytes_ = 0;  // copied for moves, whose records are short
  std::vector<JittedCode> code_;
  std::unordered_map<uint64_t, size_t> place_;  // in code_, by the file's index
  uint64_t next_lines_of_ = 0;
  std::vector<std::pair<uint64_t, uint32_t>> next_lines_;
  std::string next_file_;
};

Result<std::string> ReadWhole(const std::string& path, std::string& damage) {
  bool cut = false;
  auto text = ReadSmallFile(path, kMostBytes, &cut);
  if (!text) return Fail("{}: {}", path, text.error().message);
  if (cut) damage = fmt::format("{} is longer than 1 GiB; the remainder is left out", path);
  return text;
}

}  // namespace

std::vector<JittedCode> ParsePerfMap(std::string_view text, std::string& damage) {
  std::vector<JittedCode> codes;
  size_t line = 0, bad = 0, first_bad = 0;
  for (size_t at = 0; at < text.size();) {
    if (codes.size() == kMostCodes) {
      damage = fmt::format("only the first {} lines are used", line);
      return codes;
    }
    const size_t end = std::min(text.find('\n', at), text.size());
    ++line;
    JittedCode code;
    if (ParseMapLine(text.substr(at, end - at), code)) {
      codes.push_back(std::move(code));
    } else if (end > at && bad++ == 0) {
      first_bad = line;
    }
    at = end + 1;
  }
  if (bad > 0)
    damage = fmt::format("{} of {} lines are not 'START LENGTH name', the first is line {}", bad,
                         line, first_bad);
  return codes;
}

Result<std::vector<JittedCode>> ParseJitDump(std::string_view bytes, std::string& damage) {
  return JitDump(bytes, damage).Read();
}

Result<std::vector<JittedCode>> ReadPerfMap(const std::string& path, std::string* damage) {
  std::string found;
  auto text = ReadWhole(path, found);
  if (!text) return std::unexpected(text.error());
  auto codes = ParsePerfMap(*text, found);
  if (codes.empty() && !found.empty()) return Fail("{} is not a perf map: {}", path, found);
  if (damage != nullptr && !found.empty()) *damage = path + ": " + found;
  return codes;
}

Result<std::vector<JittedCode>> ReadJitDump(const std::string& path, std::string* damage) {
  std::string found;
  auto bytes = ReadWhole(path, found);
  if (!bytes) return std::unexpected(bytes.error());
  auto codes = ParseJitDump(*bytes, found);
  if (!codes) return Fail("{}: {}", path, codes.error().message);
  if (damage != nullptr && !found.empty()) *damage = path + ": " + found;
  return codes;
}

}  // namespace jprof::a2n
