#include "model/events/marks.h"

#include <algorithm>
#include <filesystem>

#include "events/read/clock.h"
#include "events/read/trace.h"
#include "profile/files/layout.h"
#include "profile/files/printable_text.h"

namespace jprof::model {
namespace {

namespace fs = std::filesystem;

class MarkLoader {
 public:
  MarkLoader(const Stretches& stretches, std::vector<std::string>& damages)
      : stretches_(stretches), damages_(damages) {}

  void Load(const std::string& folder) {
    auto trace = events::OpenTrace(folder);
    if (!trace) return damages_.push_back(trace.error().message);
    const events::TraceMetadata clock = events::ReadMetadata(folder);
    events::VisitRecords(*trace, [&](const events::Record& record) {
      const int64_t time = events::NanosSince(clock, record.ticks, stretches_.start_unix_ns);
      Add(record, static_cast<uint64_t>(std::max<int64_t>(time, 0)));
    });
    damages_.insert(damages_.end(), trace->damages.what.begin(), trace->damages.what.end());
  }

  std::vector<Mark> Take() {
    std::ranges::stable_sort(marks_, {}, &Mark::time);
    return std::move(marks_);
  }

 private:
  void Add(const events::Record& record, uint64_t time) {
    const auto* text =
        std::get_if<std::string_view>(events::ValueOf(record, record.event.event.marker));
    marks_.push_back({.time = time,
                      .thread = ThreadAt(record.writer, time),
                      .text = profile::CleanText(
                          std::string(text != nullptr ? *text : record.event.full_name))});
  }

  uint32_t ThreadAt(const events::Writer& writer, uint64_t time) const {
    uint32_t found = kNoThread;
    const auto [begin, end] =
        std::ranges::equal_range(stretches_.threads, writer.process, {}, &StretchThread::process);
    for (auto thread = begin; thread != end; ++thread) {
      if (thread->thread == writer.thread && (thread->began <= time || found == kNoThread))
        found = static_cast<uint32_t>(thread - stretches_.threads.begin());
    }
    return found;
  }

  const Stretches& stretches_;
  std::vector<std::string>& damages_;
  std::vector<Mark> marks_;
};

}  // namespace

std::vector<Mark> LoadMarks(const std::string& directory, const Stretches& stretches,
                            std::vector<std::string>& damages) {
  MarkLoader loader(stretches, damages);
  std::error_code ignored;
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(
           fs::path(directory) / profile::kEventsFolder / profile::kProgramsFolder, ignored))
    folders.push_back(entry.path());
  std::ranges::sort(folders);
  for (const fs::path& folder : folders) loader.Load(folder.string());
  return loader.Take();
}

const Mark* FindMark(const std::vector<Mark>& marks, std::string_view text, uint64_t since) {
  const auto found = std::ranges::find_if(
      marks, [&](const Mark& mark) { return mark.time >= since && mark.text == text; });
  return found != marks.end() ? &*found : nullptr;
}

}  // namespace jprof::model
