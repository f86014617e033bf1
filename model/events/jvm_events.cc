#include "model/events/jvm_events.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <string_view>
#include <unordered_map>

#include "events/read/clock.h"
#include "events/read/trace.h"
#include "profile/files/layout.h"
#include "profile/files/printable_text.h"

namespace jprof::model {
namespace {

class JvmLoader {
 public:
  JvmLoader(events::Trace& trace, const events::TraceMetadata& clock, uint64_t start_unix_ns)
      : trace_(trace), clock_(clock), start_unix_ns_(start_unix_ns) {}

  JvmEvents Load() {
    events::VisitRecords(trace_, [this](const events::Record& record) { Add(record); });
    for (auto& [thread, waits] : out_.waits) std::ranges::stable_sort(waits, {}, &JvmWait::begin);
    std::ranges::stable_sort(out_.collections, {}, &JvmCollection::begin);
    out_.damages = trace_.damages.what;
    return std::move(out_);
  }

 private:
  static constexpr int64_t kOpen = std::numeric_limits<int64_t>::max();

  int64_t TimeOf(const events::Record& record) const {
    return events::NanosSince(clock_, record.ticks, start_unix_ns_);
  }
  static uint64_t Number(const events::Record& record, std::string_view name) {
    const events::FieldValue* value = events::ValueOf(record, name);
    const auto* number = value != nullptr ? std::get_if<uint64_t>(value) : nullptr;
    return number != nullptr ? *number : 0;
  }
  static std::string Text(const events::Record& record, std::string_view name) {
    const events::FieldValue* value = events::ValueOf(record, name);
    const auto* text = value != nullptr ? std::get_if<std::string_view>(value) : nullptr;
    return text != nullptr ? profile::CleanText(std::string(*text)) : "";
  }

  void Begin(const events::Record& record, JvmWait::Kind kind) {
    out_.waits[record.writer.thread].push_back(
        {.kind = kind,
         .begin = TimeOf(record),
         .end = kOpen,
         .class_name = Text(record, "class_name"),
         .owner = static_cast<uint32_t>(Number(record, "owner"))});
  }
  // Ends the last wait of this kind. Without its begin, which was before the recording, it is
  // ignored.
  void End(const events::Record& record, JvmWait::Kind kind) {
    auto& waits = out_.waits[record.writer.thread];
    for (auto wait = waits.rbegin(); wait != waits.rend(); ++wait) {
      if (wait->kind != kind || wait->end != kOpen) continue;
      wait->end = TimeOf(record);
      return;
    }
  }

  void Add(const events::Record& record) {
    using enum JvmWait::Kind;
    const std::string_view name = record.event.full_name;
    if (name == "jvm::monitors::contended") return Begin(record, kContended);
    if (name == "jvm::monitors::entered") return End(record, kContended);
    if (name == "jvm::monitors::wait_begin") return Begin(record, kWaits);
    if (name == "jvm::monitors::wait_end") return End(record, kWaits);
    if (name == "jvm::monitors::park_begin") return Begin(record, kParks);
    if (name == "jvm::monitors::park_end") return End(record, kParks);
    if (name != "jvm::collector::collection_end") return;
    const int64_t end = TimeOf(record);
    out_.collections.push_back(
        {.begin = static_cast<int64_t>(static_cast<uint64_t>(end) - Number(record, "duration")),
         .end = end,
         .cause = Text(record, "cause")});
  }

  events::Trace& trace_;
  const events::TraceMetadata& clock_;
  uint64_t start_unix_ns_;
  JvmEvents out_;
};

}  // namespace

const JvmWait* JvmEvents::WaitAt(uint32_t thread, int64_t time) const {
  const auto found = waits.find(thread);
  if (found == waits.end()) return nullptr;
  const auto after = std::ranges::upper_bound(found->second, time, {}, &JvmWait::begin);
  if (after == found->second.begin()) return nullptr;
  const JvmWait& wait = *std::prev(after);
  return wait.end >= time ? &wait : nullptr;
}

const JvmCollection* JvmEvents::CollectionAt(int64_t time) const {
  const auto after = std::ranges::upper_bound(collections, time, {}, &JvmCollection::begin);
  if (after == collections.begin()) return nullptr;
  const JvmCollection& collection = *std::prev(after);
  return collection.end >= time ? &collection : nullptr;
}

JvmEvents LoadJvmEvents(const std::string& directory, uint64_t start_unix_ns) {
  const std::string folder =
      std::filesystem::path(directory) / profile::kEventsFolder / profile::kJvmFolder;
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored)) return {};
  auto trace = events::OpenTrace(folder);
  if (!trace) return {.damages = {trace.error().message}};
  return JvmLoader(*trace, events::ReadMetadata(folder), start_unix_ns).Load();
}

}  // namespace jprof::model
