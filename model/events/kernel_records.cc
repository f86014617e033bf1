#include "model/events/kernel_records.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "profile/files/printable_text.h"

namespace jprof::model {
namespace {

enum class Kind : uint8_t {
  kOther,
  kDispatch,
  kCounters,
  kInterruptBegin,
  kInterruptEnd,
  kWakeup,
  kFork,
  kName,
  kExit,
  kCallBegin,
  kCallEnd
};

struct KindRow {
  std::string_view name;
  Kind kind;
  std::vector<std::string_view> fields;  // what is read of it, in this order
};

const std::vector<KindRow>& KindRows() {
  static const std::vector<KindRow> rows = {
      {"kernel::processor::dispatch",
       Kind::kDispatch,
       {"processor", "previous_process", "previous_thread", "previous_state", "previous_context",
        "previous_instruction", "previous_call", "next_process", "next_thread", "decided"}},
      {"kernel::processor::counters",
       Kind::kCounters,
       {"processor", "counter_0", "counter_1", "counter_2", "counter_3"}},
      {"kernel::processor::interrupt_begin",
       Kind::kInterruptBegin,
       {"processor", "calling_context", "kind", "number"}},
      {"kernel::processor::interrupt_end", Kind::kInterruptEnd, {"processor"}},
      {"kernel::threads::wakeup", Kind::kWakeup, {"processor", "woken_thread", "by"}},
      {"kernel::threads::fork",
       Kind::kFork,
       {"processor", "new_process", "new_thread", "title", "process"}},
      {"kernel::threads::exec", Kind::kName, {"processor", "process", "thread", "title"}},
      {"kernel::threads::renamed", Kind::kName, {"processor", "process", "thread", "title"}},
      {"kernel::threads::exit", Kind::kExit, {"processor", "process", "thread", "title"}},
      {"kernel::calls::system_call_begin", Kind::kCallBegin, {"processor", "thread"}},
      {"kernel::calls::system_call_end", Kind::kCallEnd, {"processor", "thread"}},
  };
  return rows;
}

// How the fields of one event are found in its records, by the specification in the trace.
struct Decoder {
  Kind kind = Kind::kOther;
  std::array<int, 10> places = {};  // -1: a version without the field
};

Decoder DecoderOf(const events::KnownEvent& event) {
  const auto row = std::ranges::find(KindRows(), event.full_name, &KindRow::name);
  if (row == KindRows().end()) return {};
  Decoder decoder{.kind = row->kind};
  for (size_t i = 0; i < row->fields.size(); ++i) {
    const auto field = std::ranges::find(event.fields, row->fields[i], &events::Field::name);
    decoder.places[i] =
        field == event.fields.end() ? -1 : static_cast<int>(field - event.fields.begin());
  }
  return decoder;
}

class RecordReader {
 public:
  explicit RecordReader(events::Trace& trace) : trace_(trace) {
    for (const auto& [id, event] : trace.events) decoders_[id] = DecoderOf(event);
  }

  KernelRecords Read() {
    events::VisitRecords(trace_, [this](const events::Record& record) { Add(record); });
    for (uint32_t i = 0; i < processors_.size(); ++i) EndProcessor(i);
    out_.processors = static_cast<uint32_t>(processors_.size());
    return std::move(out_);
  }

 private:
  // The state of a processor while its records are read.
  struct Processor {
    bool known = false;            // whether it is known what runs
    uint64_t begin = 0;            // of the current stretch
    uint64_t first = 0, last = 0;  // times of its records
    uint32_t process = 0, tid = 0;
    uint64_t interrupts = 0;  // in the current stretch
    // System calls in it: of the current one and the sum; the end of one that had begun before.
    uint64_t call_since = 0, kernel = 0, first_end = 0;
    bool has_calls = false;
    uint64_t decided = 0;
    size_t before = SIZE_MAX;  // index of its last stretch
    int depth = 0;
    Interrupt interrupt;  // the outermost one
    std::array<uint64_t, kMostCounters> counted = {};
    // Interrupts of the stretches so far, and those before the first dispatch.
    std::vector<size_t> own_interrupts;
  };

  uint64_t Number(size_t field) const {
    const int place = decoder_->places[field];
    if (place < 0) return 0;
    const events::FieldValue& value = record_->values[static_cast<size_t>(place)];
    if (const auto* number = std::get_if<uint64_t>(&value)) return *number;
    if (const auto* number = std::get_if<int64_t>(&value)) return static_cast<uint64_t>(*number);
    return 0;
  }
  uint32_t Small(size_t field) const { return static_cast<uint32_t>(Number(field)); }
  std::string_view Text(size_t field) const {
    const int place = decoder_->places[field];
    if (place < 0) return {};
    const auto* text = std::get_if<std::string_view>(&record_->values[static_cast<size_t>(place)]);
    return text != nullptr ? *text : std::string_view();
  }

  void Add(const events::Record& record) {
    ++out_.count;
    const auto known = decoders_.find(record.event.id);
    if (known == decoders_.end() || known->second.kind == Kind::kOther) return;
    record_ = &record;
    decoder_ = &known->second;
    if (IsFar(record.ticks)) {
      ++out_.misdated;
      return;
    }
    const uint32_t number = Small(0);
    constexpr uint32_t kMostProcessors = 1 << 16;  // what is more is damage
    if (number >= kMostProcessors) return;
    if (number >= processors_.size()) processors_.resize(number + 1);
    Processor& processor = processors_[number];
    // Times of a processor go forward, unless the packet is damaged.
    const uint64_t time = std::max(record.ticks, processor.last);
    if (processor.first == 0) processor.first = time;
    processor.last = time;
    out_.first = std::min(out_.first, time);
    out_.last = std::max(out_.last, time);
    switch (decoder_->kind) {
      case Kind::kDispatch:
        return Dispatch(number, processor, time);
      case Kind::kCounters:
        for (size_t i = 0; i < processor.counted.size(); ++i) processor.counted[i] = Number(i + 1);
        return;
      case Kind::kInterruptBegin:
        return InterruptBegin(number, processor, time);
      case Kind::kInterruptEnd:
        return InterruptEnd(processor, time);
      case Kind::kWakeup:
        out_.wakeups[Small(1)].push_back({time, Small(2) != 0     ? kInterrupt
                                                : processor.known ? processor.tid
                                                                  : kNoThread});
        return;
      case Kind::kFork:
        out_.made[Small(2)].push_back({time, processor.known ? processor.tid : kNoThread});
        Name(Small(1), Small(2), time);
        if (Small(1) != Small(4)) out_.parents[Small(1)] = Small(4);
        return;
      case Kind::kExit:
        out_.exits[Small(2)].push_back(time);
        Name(Small(1), Small(2), time);
        return;
      case Kind::kName:
        Name(Small(1), Small(2), time);
        return;
      case Kind::kCallBegin:
        out_.has_calls = processor.has_calls = true;
        processor.call_since = time;
        return;
      case Kind::kCallEnd:
        // The first end without a begin is that of a call that began in an earlier stretch.
        if (processor.call_since == 0 && !processor.has_calls) processor.first_end = time;
        processor.has_calls = true;
        EndCall(processor, time);
        return;
      case Kind::kOther:
        return;
    }
  }

  // Returns whether a time is far from those of the records before, which is damage.
  bool IsFar(uint64_t time) const {
    constexpr uint64_t kFar = uint64_t{1} << 55;  // a year
    if (out_.first > out_.last) return false;     // it is the first one
    return time > out_.last ? time - out_.last > kFar
                            : time < out_.first && out_.first - time > kFar;
  }

  void EndCall(Processor& processor, uint64_t time) {
    if (processor.call_since != 0) processor.kernel += time - processor.call_since;
    processor.call_since = 0;
  }

  void Name(uint32_t process, uint32_t tid, uint64_t time) {
    out_.names.push_back({.time = time,
                          .process = process,
                          .tid = tid,
                          .text = profile::CleanText(std::string(Text(3)))});
  }

  void Dispatch(uint32_t number, Processor& processor, uint64_t time) {
    EndCall(processor, time);
    Stretch stretch = {.begin = processor.known        ? processor.begin
                                : BeginIsThere(number) ? 0
                                                       : processor.first,
                       .end = time,
                       .instruction = Number(5),
                       .interrupts = processor.interrupts,
                       .kernel = processor.kernel,
                       .context = Number(4),
                       .processor = number,
                       .call = static_cast<int32_t>(Number(6)),
                       .state = static_cast<StopState>(Number(3))};
    if (processor.known && processor.tid != Small(2)) {
      AddGap(processor, stretch, Small(1), Small(2));
    } else {
      Finish(processor, stretch, Small(1), Small(2));
    }
    processor.decided = Number(9);
    processor.known = true;
    processor.process = Small(7);
    processor.tid = Small(8);
    processor.begin = time;
    processor.kernel = processor.first_end = 0;
    processor.has_calls = false;
  }

  // Returns whether the first packet of a processor was not removed.
  bool BeginIsThere(uint32_t processor) const {
    // The first one of processor 0 has the names of threads.
    const std::string name = fmt::format("/processor-{}-{}", processor, processor == 0 ? 1 : 0);
    return std::ranges::any_of(trace_.packets,
                               [&](const std::string& path) { return path.ends_with(name); });
  }

  // Adds a stretch, whose begin is 0 if it had begun before the recording.
  void Finish(Processor& processor, const Stretch& stretch, uint32_t process, uint32_t tid) {
    out_.stretches.push_back({.stretch = stretch,
                              .process = process,
                              .tid = tid,
                              .first_end = processor.first_end,
                              .has_calls = processor.has_calls,
                              .decided = processor.decided,
                              .before = processor.before});
    processor.before = out_.stretches.size() - 1;
    for (const size_t i : processor.own_interrupts) out_.interrupted[i] = tid;
    out_.counted.push_back(processor.counted);
    Clear(processor);
  }

  // Adds a time at whose end another thread stops than the one that ran at its begin: there was a
  // dispatch in between. When the other one began is not known: it has a stretch without duration.
  void AddGap(Processor& processor, Stretch stretch, uint32_t process, uint32_t tid) {
    out_.gaps.push_back(stretch);
    for (const size_t i : processor.own_interrupts) out_.interrupts[i].in_gap = true;
    Clear(processor);
    processor.before = SIZE_MAX;
    processor.decided = processor.first_end = 0;
    processor.has_calls = false;
    stretch.begin = stretch.end;
    stretch.interrupts = stretch.kernel = 0;
    Finish(processor, stretch, process, tid);
    processor.before = SIZE_MAX;  // the next one does not begin earlier than this dispatch
  }

  void Clear(Processor& processor) {
    processor.own_interrupts.clear();
    processor.interrupts = 0;
    processor.depth = 0;
    processor.counted = {};
  }

  void InterruptBegin(uint32_t number, Processor& processor, uint64_t time) {
    if (processor.depth++ != 0) return;
    processor.interrupt = {.begin = time,
                           .context = Number(1),
                           .processor = number,
                           .number = Small(3),
                           .kind = static_cast<uint8_t>(Number(2))};
  }

  void InterruptEnd(Processor& processor, uint64_t time) {
    if (processor.depth == 0 || --processor.depth != 0) return;
    processor.interrupt.duration = time - processor.interrupt.begin;
    processor.interrupts += processor.interrupt.duration;
    processor.own_interrupts.push_back(out_.interrupts.size());
    out_.interrupts.push_back(processor.interrupt);
    out_.interrupted.push_back(0);
  }

  // Adds what still ran at the end.
  void EndProcessor(uint32_t number) {
    Processor& processor = processors_[number];
    if (!processor.known) return;
    const Stretch stretch = {.begin = processor.begin,
                             .end = trace_.discarded == 0 ? out_.last : processor.last,
                             .interrupts = processor.interrupts,
                             .processor = number,
                             .state = StopState::kRuns};
    Finish(processor, stretch, processor.process, processor.tid);
  }

  events::Trace& trace_;
  std::unordered_map<uint32_t, Decoder> decoders_;
  const events::Record* record_ = nullptr;
  const Decoder* decoder_ = nullptr;
  std::vector<Processor> processors_;
  KernelRecords out_;
};

}  // namespace

KernelRecords ReadKernelRecords(events::Trace& trace) { return RecordReader(trace).Read(); }

}  // namespace jprof::model
