#include "cpo/agents/jvm_heap/gc_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace jprof::cpo {
namespace {

constexpr uint64_t kLogKib = 1024, kLogMib = kLogKib * 1024, kLogGib = kLogMib * 1024;

// Takes a number from the beginning of a text.
template <typename T>
std::optional<T> TakeNumber(std::string_view& text) {
  T value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(rest - text.data()));
  return value;
}

bool TakeText(std::string_view& text, std::string_view expected) {
  if (!text.starts_with(expected)) return false;
  text.remove_prefix(expected.size());
  return true;
}

// Takes a size such as 19M.
std::optional<uint64_t> TakeSize(std::string_view& text) {
  const auto number = TakeNumber<uint64_t>(text);
  if (!number || text.empty()) return std::nullopt;
  const char unit = text.front();
  text.remove_prefix(1);
  if (unit == 'B') return *number;
  const uint64_t factor = unit == 'K' ? kLogKib : unit == 'M' ? kLogMib : unit == 'G' ? kLogGib : 0;
  if (factor == 0 || *number > UINT64_MAX / factor) return std::nullopt;
  return *number * factor;
}

// Takes the sizes "19M->2M(388M) " of a pause, if it has them.
bool TakeSizes(std::string_view& text, GcPause& pause) {
  std::string_view rest = text;
  const auto before = TakeSize(rest);
  if (!before || !TakeText(rest, "->")) return false;
  const auto after = TakeSize(rest);
  if (!after || !TakeText(rest, "(")) return false;
  const auto heap = TakeSize(rest);
  if (!heap || !TakeText(rest, ") ")) return false;
  pause.before = *before;
  pause.after = *after;
  pause.heap = *heap;
  text = rest;
  return true;
}

// Parses "Pause Young (Normal) (G1 Evacuation Pause) 19M->2M(388M) 21.095ms". The line at the start
// of a pause has no time.
std::optional<GcPause> ParsePause(std::string_view text) {
  if (!text.starts_with("Pause ") || !text.ends_with("ms")) return std::nullopt;
  GcPause pause;
  pause.kind = text.starts_with("Pause Young")  ? GcPause::Kind::kYoung
               : text.starts_with("Pause Full") ? GcPause::Kind::kFull
                                                : GcPause::Kind::kOther;
  const size_t last = text.rfind(' ');
  const size_t sizes = text.rfind(' ', last - 1) + 1;
  std::string_view rest = text.substr(sizes);
  if (!TakeSizes(rest, pause)) {
    if (pause.kind != GcPause::Kind::kOther) return std::nullopt;
    rest = text.substr(last + 1);
  }
  const auto milliseconds = TakeNumber<double>(rest);
  if (!milliseconds || rest != "ms" || !(*milliseconds >= 0)) return std::nullopt;
  pause.seconds = *milliseconds / 1000;
  return pause;
}

// Parses " PSYoungGen      total 1579008K, used 426469K [0x...": a part of the heap at the exit.
uint64_t UsedAtExit(std::string_view text) {
  if (!text.contains(" total ")) return 0;
  const size_t used = text.find("used ");
  if (used == std::string_view::npos) return 0;
  std::string_view rest = text.substr(used + 5);
  return TakeSize(rest).value_or(0);
}

void ParseLine(std::string_view line, GcLog& log) {
  const size_t tags = line.rfind("][");
  if (!line.starts_with('[') || tags == std::string_view::npos) return;
  const size_t end = line.find(']', tags + 1);
  if (end == std::string_view::npos || end + 2 > line.size()) return;
  std::string_view text = line.substr(end + 2);
  if (line.substr(tags).starts_with("][gc,heap,exit")) {
    log.used_at_exit += UsedAtExit(text);
  } else if (TakeText(text, "Using ")) {
    if (log.collector.empty()) log.collector = text;
  } else if (const size_t after_id = text.find(") ");
             text.starts_with("GC(") && after_id != std::string_view::npos) {
    if (const auto pause = ParsePause(text.substr(after_id + 2))) log.pauses.push_back(*pause);
  }
}

}  // namespace

std::string GcLogOption(std::string_view file) {
  return fmt::format("-Xlog:gc=info,gc+heap+exit=info:file=\"{}\":uptime,level,tags:filecount=0",
                     file);
}

double GcLog::PauseSeconds() const {
  double sum = 0;
  for (const GcPause& pause : pauses) sum += pause.seconds;
  return sum;
}

uint64_t GcLog::YoungCount() const {
  return static_cast<uint64_t>(std::ranges::count(pauses, GcPause::Kind::kYoung, &GcPause::kind));
}

uint64_t GcLog::Allocated() const {
  uint64_t sum = 0, used = 0;
  for (const GcPause& pause : pauses) {
    if (pause.kind == GcPause::Kind::kOther) continue;
    if (pause.before > used) sum += pause.before - used;
    used = pause.after;
  }
  return used_at_exit > used ? sum + used_at_exit - used : sum;
}

uint64_t GcLog::Live() const {
  uint64_t most_after_full = 0, least = UINT64_MAX;
  for (size_t i = 0; i < pauses.size(); ++i) {
    if (pauses[i].kind == GcPause::Kind::kFull)
      most_after_full = std::max(most_after_full, pauses[i].after);
    if (pauses[i].kind == GcPause::Kind::kYoung && i >= pauses.size() / 2)
      least = std::min(least, pauses[i].after);
  }
  if (most_after_full != 0) return most_after_full;
  return least == UINT64_MAX ? used_at_exit : least;
}

GcLog ParseGcLog(std::string_view text) {
  GcLog log;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    ParseLine(text.substr(0, end), log);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return log;
}

}  // namespace jprof::cpo
