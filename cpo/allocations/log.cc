#include "cpo/allocations/log.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "common/bytes.h"
#include "common/errno_text.h"
#include "cpo/allocations/log_format.h"
#include "cpo/allocations/placed.h"

namespace jprof::cpo {
namespace {

constexpr std::string_view kLogPrefix = "pages.";

// The texts of one kind by number; a text of which a part is missing is left out.
class Texts {
 public:
  void Add(const LogSlot& slot) { parts_[{slot.number, slot.part}].assign(slot.text, kTextBytes); }
  std::map<uint32_t, std::string> All() const {
    std::map<uint32_t, std::string> texts;
    std::map<uint32_t, std::string> begun;
    for (const auto& [key, bytes] : parts_) {
      const auto [number, part] = key;
      std::string& text = begun[number];
      if (text.size() != size_t{part} * kTextBytes) continue;
      const size_t end = bytes.find('\0');
      text += bytes.substr(0, end);
      if (end != std::string::npos) texts.emplace(number, text);
    }
    return texts;
  }

 private:
  std::map<std::pair<uint32_t, uint8_t>, std::string> parts_;
};

std::optional<uint64_t> TakeHex(std::string_view& text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || end == text.data() + text.size() || *end != ' ') return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()) + 1);
  return value;
}

std::optional<LoggedModule> ModuleOf(std::string_view text) {
  const auto begin = TakeHex(text), size = begin ? TakeHex(text) : std::nullopt;
  if (!size) return std::nullopt;
  return LoggedModule{*begin, *size, std::string(text)};
}

bool IsMemory(const LogSlot& slot) { return slot.b > 0 && slot.b - 1 <= UINT64_MAX - slot.a; }

class Reader {
 public:
  explicit Reader(const std::vector<LogSlot>& slots) : slots_(slots) {}

  void ReadInto(Log& log) {
    Texts groups, modules, notes;
    for (const LogSlot& slot : slots_) {
      switch (static_cast<SlotKind>(slot.kind)) {
        case SlotKind::kGroup:
          groups.Add(slot);
          break;
        case SlotKind::kModule:
          modules.Add(slot);
          break;
        case SlotKind::kNote:
          notes.Add(slot);
          break;
        default:
          break;
      }
    }
    for (const auto& [number, text] : groups.All()) AddGroup(log, number, text);
    for (const auto& [number, text] : modules.All()) {
      auto module = ModuleOf(text);
      if (module)
        log.modules.push_back(*std::move(module));
      else
        ++log.damaged;
    }
    for (const auto& [number, text] : notes.All()) log.notes.push_back(text);
    for (const LogSlot& slot : slots_) ReadSlot(log, slot);
    log.placements = placed_.Finish();
  }

 private:
  void AddGroup(Log& log, uint32_t number, std::string_view text) {
    const size_t blank = std::min(text.find(' '), text.size());
    const std::string kind(text.substr(0, blank));
    const std::string key(text.substr(std::min(blank + 1, text.size())));
    const auto [at, is_new] =
        known_.emplace(std::pair(kind, key), static_cast<uint32_t>(log.groups.size()));
    if (is_new) log.groups.push_back({.kind = kind, .key = key});
    index_[number] = at->second;
  }

  // Returns the group of a slot, which is counted as damaged if there is none.
  std::optional<uint32_t> GroupOf(Log& log, const LogSlot& slot) const {
    const auto found = index_.find(slot.number);
    if (found != index_.end()) return found->second;
    ++log.damaged;
    return std::nullopt;
  }

  void ReadSlot(Log& log, const LogSlot& slot) {
    switch (static_cast<SlotKind>(slot.kind)) {
      case SlotKind::kBegin:
      case SlotKind::kFill:
      case SlotKind::kEnd:
        return ReadMemory(log, slot);
      case SlotKind::kOutcome:
      case SlotKind::kRefused:
        return ReadDirective(log, slot);
      case SlotKind::kFaults:
        log.minor_faults = slot.a;
        log.major_faults = slot.b;
        break;
      case SlotKind::kTotal:
        log.total_large = slot.a;
        log.total_resident = slot.b;
        break;
      case SlotKind::kExit:
        log.exited = true;
        break;
      case SlotKind::kUnused:
      case SlotKind::kGroup:
      case SlotKind::kModule:
      case SlotKind::kNote:
        return;
      default:
        ++log.damaged;
        return;
    }
    log.last_ns = std::max(log.last_ns, slot.c);
  }

  void ReadMemory(Log& log, const LogSlot& slot) {
    if (!IsMemory(slot) || slot.c == kForever) {
      ++log.damaged;
      return;
    }
    log.last_ns = std::max(log.last_ns, slot.c);
    if (static_cast<SlotKind>(slot.kind) == SlotKind::kEnd) {
      placed_.End(slot.a, slot.b, slot.c);
    } else if (const auto group = GroupOf(log, slot)) {
      const bool is_fill = static_cast<SlotKind>(slot.kind) == SlotKind::kFill;
      const auto place = is_fill ? &Placed::Fill : &Placed::Begin;
      (placed_.*place)(slot.a, slot.b, slot.c, *group);
    }
  }

  void ReadDirective(Log& log, const LogSlot& slot) const {
    const auto number = GroupOf(log, slot);
    if (!number) return;
    LoggedGroup& group = log.groups[*number];
    if (static_cast<SlotKind>(slot.kind) == SlotKind::kRefused) {
      group.refused += slot.b;
      return;
    }
    group.advised = slot.a;
    group.large = slot.b;
    group.most_large = std::max(group.most_large, slot.b);
  }

  const std::vector<LogSlot>& slots_;
  std::map<std::pair<std::string, std::string>, uint32_t> known_;
  std::map<uint32_t, uint32_t> index_;  // of a group, by its number in the file
  Placed placed_;
};

}  // namespace

Result<Log> ParseLog(std::string_view bytes) {
  ByteCursor cursor(bytes);
  const auto header = cursor.Read<LogHeader>();
  if (!cursor.ok() || std::memcmp(header.magic, kLogMagic, sizeof kLogMagic) != 0)
    return Fail("it is no log of libjprof-pages.so");
  Log log = {.pid = header.pid,
             .large_page = header.large_page,
             .threshold = header.threshold,
             .began_ns = header.began,
             .last_ns = header.began,
             .lost = header.lost,
             .cut_off = bytes.size() % (kChunkSlots * sizeof(LogSlot)) != 0};
  std::vector<LogSlot> slots;
  while (cursor.left() >= sizeof(LogSlot)) {
    const auto slot = cursor.Read<LogSlot>();
    if (slot.kind != 0) slots.push_back(slot);
  }
  Reader(slots).ReadInto(log);
  return log;
}

std::vector<std::filesystem::path> LogsIn(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> logs;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    if (entry.path().filename().string().starts_with(kLogPrefix)) logs.push_back(entry.path());
  }
  std::ranges::sort(logs);
  return logs;
}

Result<Log> ReadLog(const std::string& path) {
  std::error_code error;
  if (const auto type = std::filesystem::status(path, error).type();
      type != std::filesystem::file_type::regular && type != std::filesystem::file_type::not_found)
    return Fail("{} cannot be read: it is not a regular file", path);
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (!file) return Fail("{} cannot be read: {}", path, ErrnoText());
  auto log = ParseLog(bytes);
  if (!log) return Fail("{}: {}", path, log.error().message);
  return log;
}

}  // namespace jprof::cpo
