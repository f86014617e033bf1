// Reads the samples of recordings of JDK Flight Recorder.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "profile/files/printable_text.h"
#include "profile/import/formats.h"
#include "profile/import/jfr_stacks.h"
#include "profile/import/periods.h"

namespace jprof::profile {
namespace {

// What is known of an event beyond its fields. The first row whose event a recording has is
// imported, unless the user chooses.
struct JfrEventRow {
  std::string_view name;
  Period::Clock clock;
  std::string_view
      period;  // the leaf with its period; empty: the setting "period" of the recording
  std::string_view note;
};
constexpr JfrEventRow kJfrEvents[] = {
    {"jdk.CPUTimeSample", Period::Clock::kCpu, "samplingPeriod",
     "a sample stands for its period of a thread's CPU time, in Java or native code"},
    {"jdk.ExecutionSample", Period::Clock::kUnknown, "",
     "the JVM samples threads that execute Java code: threads that wait or execute native code "
     "are not included, and a sample stands for the recording's period"},
    {"jdk.NativeMethodSample", Period::Clock::kElapsed, "",
     "the JVM samples threads in native code, which execute or wait"},
};

const JfrEventRow* KnownEvent(std::string_view name) {
  const auto* row = std::ranges::find(kJfrEvents, name, &JfrEventRow::name);
  return row == std::end(kJfrEvents) ? nullptr : row;
}

// Returns "17.0.1+12" of "OpenJDK 64-Bit Server VM (17.0.1+12) for linux-amd64 JRE ...".
std::string VersionIn(const std::string& text) {
  const size_t open = text.find('('), close = text.find(')', open);
  return close == std::string::npos ? text : text.substr(open + 1, close - open - 1);
}

// One event with its leaves by name.
class JfrFields {
 public:
  JfrFields(const JfrChunk& chunk, const JfrType& type, JfrCursor body)
      : chunk_(chunk), type_(type) {
    for (const JfrLeaf& leaf : type.leaves) values_.push_back(chunk.types().ReadLeaf(leaf, body));
    ok_ = body.ok();
  }
  bool ok() const { return ok_; }

  const JfrLeaf* Leaf(std::string_view name) const {
    const int at = type_.Find(name);
    return at < 0 ? nullptr : &type_.leaves[static_cast<size_t>(at)];
  }
  uint64_t Number(std::string_view name) const {
    const int at = type_.Find(name);
    return at < 0 ? 0 : values_[static_cast<size_t>(at)].number;
  }
  std::string Text(std::string_view name) const {
    const int at = type_.Find(name);
    return at < 0 ? "" : chunk_.TextOf(*Leaf(name), values_[static_cast<size_t>(at)]);
  }
  uint64_t Nanos(std::string_view name) const {
    const JfrLeaf* leaf = Leaf(name);
    return leaf == nullptr ? 0 : chunk_.SpanNanos(*leaf, Number(name));
  }

 private:
  const JfrChunk& chunk_;
  const JfrType& type_;
  std::vector<JfrValue> values_;
  bool ok_ = true;
};

class JfrReader {
 public:
  JfrReader(std::vector<JfrChunk> chunks, const ImportOptions& options, SampleTree& tree)
      : chunks_(std::move(chunks)), options_(options), tree_(tree) {}

  Result<ForeignRun> Read() {
    if (auto counted = ReadDescriptions(); !counted) return std::unexpected(counted.error());
    if (auto chosen = ChooseEvent(); !chosen) return std::unexpected(chosen.error());
    if (auto noted = ForEachSample([this](const auto&, const JfrFields& fields, uint64_t time) {
          period_.Note(PeriodOf(fields, time));
        });
        !noted)
      return std::unexpected(noted.error());
    for (const JfrChunk& chunk : chunks_)
      if (auto added = AddSamples(chunk); !added) return std::unexpected(added.error());
    Describe();
    return std::move(run_);
  }

 private:
  // Calls visit(chunk, fields, time) for each event of the chosen type in all chunks or in one.
  template <typename Visit>
  Result<void> ForEachSample(const Visit& visit, const JfrChunk* only = nullptr) {
    for (const JfrChunk& chunk : chunks_) {
      if (only != nullptr && only != &chunk) continue;
      const uint64_t id = chunk.types().IdOf(event_);
      const JfrType* type = chunk.types().Find(id);
      for (const JfrEvent& event : chunk.events()) {
        if (type == nullptr || event.type != id) continue;
        const JfrFields fields(chunk, *type, event.body);
        if (!fields.ok())
          return Fail("offset {}: an event {} is damaged", event.offset, CleanText(event_));
        visit(chunk, fields, chunk.UnixNanos(fields.Number("startTime")));
      }
    }
    return {};
  }

  Result<void> ReadDescriptions() {
    for (const JfrChunk& chunk : chunks_) {
      std::map<uint64_t, uint64_t> counts;
      for (const JfrEvent& event : chunk.events()) ++counts[event.type];
      for (const auto& [id, count] : counts) {
        const JfrType* type = chunk.types().Find(id);
        if (type == nullptr) return UnknownEvent(chunk, id);
        if (type->Find("stackTrace") >= 0) counts_[type->name] += count;
      }
      for (const JfrEvent& event : chunk.events()) ReadDescription(chunk, event);
    }
    return {};
  }

  static Result<void> UnknownEvent(const JfrChunk& chunk, uint64_t id) {
    const auto event = std::ranges::find(chunk.events(), id, &JfrEvent::type);
    return Fail("offset {}: an event of an unknown type {}", event->offset, id);
  }

  void ReadDescription(const JfrChunk& chunk, const JfrEvent& event) {
    const JfrType& type = *chunk.types().Find(event.type);
    const auto is = [&](std::string_view name) { return type.name == name; };
    if (is("jdk.ActiveSetting")) {
      const JfrFields fields(chunk, type, event.body);
      const std::string name = fields.Text("name");
      const JfrType* of = chunk.types().Find(fields.Number("id"));
      // async-profiler calls it interval.
      if (of == nullptr || (name != "period" && name != "interval")) return;
      const uint64_t period = ParseSpan(fields.Text("value"));
      if (period != 0)
        settings_[of->name].emplace(chunk.UnixNanos(fields.Number("startTime")), period);
    } else if (is("jdk.JVMInformation")) {
      ReadJvm(JfrFields(chunk, type, event.body));
    } else if (is("jdk.CPUInformation")) {
      const JfrFields fields(chunk, type, event.body);
      run_.meta.machine.cpu = fields.Text("cpu");
      run_.meta.machine.cpus = fields.Number("hwThreads");
    } else if (is("jdk.CPUTimeSamplesLost")) {
      lost_.push_back({&chunk, event});
    }
  }

  void ReadJvm(const JfrFields& fields) {
    Meta& meta = run_.meta;
    meta.jvm.name = fields.Text("jvmName");
    meta.jvm.version = VersionIn(fields.Text("jvmVersion"));
    meta.pid = fields.Number("pid");
    meta.command = {"java"};
    for (const char* part : {"jvmArguments", "javaArguments"}) {
      std::string text = fields.Text(part);
      if (!text.empty()) meta.command.push_back(std::move(text));
    }
  }

  Result<void> ChooseEvent() {
    event_ = options_.event;
    for (const JfrEventRow& row : kJfrEvents)
      if (event_.empty() && counts_.contains(std::string(row.name))) event_ = row.name;
    auto found = counts_.find(event_);
    if (found == counts_.end() && !event_.empty() &&
        (found = counts_.find("jdk." + event_)) != counts_.end())
      event_ = found->first;
    if (found != counts_.end()) {
      known_ = KnownEvent(event_);
      return {};
    }
    std::string others;
    for (const auto& [name, count] : counts_)
      others += fmt::format("{}{} ({})", others.empty() ? "" : ", ", CleanText(name), count);
    if (options_.event.empty()) {
      return Fail(
          "the recording has no samples{}; record with -XX:StartFlightRecording or "
          "jcmd PID JFR.start, whose settings enable jdk.ExecutionSample",
          others.empty() ? "" : ". Other events with stacks, for --event: " + others);
    }
    return WrongUse("--event {}: the recording has no such events with stacks; it has: {}",
                    CleanText(options_.event), others.empty() ? "none" : others);
  }

  // Returns the period of a sample, or 0 if it is not known.
  uint64_t PeriodOf(const JfrFields& fields, uint64_t time) const {
    if (known_ == nullptr) return 0;
    if (options_.period_ns != 0) return options_.period_ns;
    if (!known_->period.empty()) return fields.Nanos(known_->period);
    const auto found = settings_.find(event_);
    if (found == settings_.end()) return 0;
    const auto after = found->second.upper_bound(time);
    return after == found->second.begin() ? after->second : std::prev(after)->second;
  }

  Result<void> AddSamples(const JfrChunk& chunk) {
    JfrStacks stacks(chunk, tree_);
    const auto thread_of = [&](const JfrFields& fields) {
      const JfrLeaf* leaf = fields.Leaf("sampledThread");
      const char* name = leaf != nullptr ? "sampledThread" : "eventThread";
      leaf = fields.Leaf(name);
      return stacks.ThreadOf(leaf != nullptr ? leaf->type : 0, fields.Number(name));
    };
    for (const auto& [of, event] : lost_) {
      if (of != &chunk || event_ != "jdk.CPUTimeSample") continue;
      const JfrFields fields(chunk, *chunk.types().Find(event.type), event.body);
      if (fields.ok()) tree_.AddLost(thread_of(fields), fields.Number("lostSamples"));
    }
    return ForEachSample(
        [&](const JfrChunk&, const JfrFields& fields, uint64_t time) {
          const JfrLeaf* leaf = fields.Leaf("stackTrace");
          const JfrStack& stack =
              stacks.StackOf(leaf != nullptr ? leaf->type : 0, fields.Number("stackTrace"));
          const int64_t samples = period_.Convert(PeriodOf(fields, time));
          biased_ += fields.Number("biased") != 0;
          failed_ += stack.frames.empty();
          last_ns_ = std::max(last_ns_, time);
          tree_.Add(thread_of(fields), stack.frames,
                    {.value = samples,
                     .count = samples,
                     .is_cut = stack.is_cut,
                     .is_unknown = !stack.is_complete});
        },
        &chunk);
  }

  void Describe() {
    const JfrChunkHeader& first = chunks_.front().header();
    const JfrChunkHeader& last = chunks_.back().header();
    run_.start_unix_ns = first.start_ns;
    const uint64_t end = std::max(last.start_ns + last.duration_ns, last_ns_);
    run_.duration_ns = end - std::min(end, first.start_ns);
    Imported& imported = run_.imported;
    imported.version = fmt::format("{}.{}", first.major, first.minor);
    imported.event = event_;
    Metric metric = SamplesMetric(known_ == nullptr ? 0 : period_.Get(),
                                  known_ == nullptr ? Period::Clock::kUnknown : known_->clock);
    if (known_ == nullptr) {
      metric.name = metric.unit = "events";
      metric.period = {.value = 1, .unit = "events"};
    }
    run_.meta.metrics = {metric};
    AddNotes(imported.notes);
  }

  void AddNotes(std::vector<std::string>& notes) const {
    if (known_ != nullptr) notes.emplace_back(known_->note);
    if (known_ != nullptr && period_.Get() == 0)
      notes.emplace_back(
          "the recording does not say the period of its samples: --period states it");
    if (const uint64_t others = period_.Others(); others > 0) {
      notes.push_back(
          fmt::format("{} samples have another period than {} us, and count in "
                      "proportion to it",
                      others, period_.Get() / 1000));
    }
    if (biased_ > 0)
      notes.push_back(
          fmt::format("{} samples are biased to safepoints, as the recording states", biased_));
    if (failed_ > 0) notes.push_back(fmt::format("{} samples have no stack", failed_));
    if (chunks_.back().header().is_open) {
      notes.emplace_back("the recording ends in the middle: the JVM was killed, or still wrote it");
    }
    for (const auto& [name, count] : counts_) {
      if (name != event_ && KnownEvent(name) != nullptr)
        notes.push_back(fmt::format("{} {} are not imported (--event)", count, name));
    }
    notes.emplace_back("the CPU times of threads are not known");
  }

  std::vector<JfrChunk> chunks_;
  const ImportOptions& options_;
  SampleTree& tree_;
  ForeignRun run_;
  std::string event_;
  const JfrEventRow* known_ = nullptr;
  CommonPeriod period_;
  std::map<std::string, uint64_t> counts_;                        // of events with stacks, by name
  std::map<std::string, std::map<uint64_t, uint64_t>> settings_;  // periods by event and time
  std::vector<std::pair<const JfrChunk*, JfrEvent>> lost_;
  uint64_t biased_ = 0, failed_ = 0, last_ns_ = 0;
};

}  // namespace

bool RecognisesJfr(std::string_view bytes) {
  return bytes.starts_with(std::string_view("FLR\0", 4));
}

Result<ForeignRun> ReadJfr(std::string_view bytes, const ImportOptions& options, SampleTree& tree) {
  const auto headers = SplitJfr(bytes);
  if (!headers) return std::unexpected(headers.error());
  std::vector<JfrChunk> chunks;
  uint64_t memory = options.memory;
  for (const JfrChunkHeader& header : *headers) {
    auto chunk = JfrChunk::Read(header, &memory);
    if (!chunk) return std::unexpected(chunk.error());
    chunks.push_back(*std::move(chunk));
  }
  if (chunks.empty()) return Fail("it is empty");
  return JfrReader(std::move(chunks), options, tree).Read();
}

}  // namespace jprof::profile
