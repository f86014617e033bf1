// Stretches of random schedules, which are simulated, written as the kernel's programs would write
// them, and compared with what the simulation did.
#include "model/events/stretches.h"

#include <gtest/gtest.h>
#include <kernel_layout.h>

#include <cstring>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "model/events/critical_path.h"
#include "model/events/stretch_sums.h"
#include "profile/files/recording_meta.h"
#include "record/kernel/packet_writer.h"
#include "reports/report_list.h"
#include "tests/unit/temporary_directory.h"

namespace jprof {
namespace {

constexpr uint64_t kStart = 1'000'000;
constexpr uint32_t kProcess = 100;

class Recorder {
 public:
  Recorder(const std::string& directory, uint32_t processors)
      : writer_(*record::PacketWriter::Create(directory + "/events/kernel", processors, {})),
        processors_(processors) {
    writer_.KeepFirst();
  }

  template <typename Layout>
  void Write(uint32_t processor, uint64_t time, uint32_t id, Layout record) {
    record.time = kStart + time;
    record.id = id;
    record.processor = processor;
    writer_.Add(processor, {reinterpret_cast<const char*>(&record), sizeof record});
  }

  void Dispatch(uint32_t processor, uint64_t time, uint32_t previous, uint32_t next,
                model::StopState state, uint64_t context = 0, int32_t call = -1) {
    kernel_processor_dispatch_layout record = {};
    record.previous_process = previous == 0 ? 0 : kProcess;
    record.previous_thread = previous;
    record.previous_state = static_cast<uint8_t>(state);
    record.previous_context = context;
    record.previous_call = call;
    record.next_process = next == 0 ? 0 : kProcess;
    record.next_thread = next;
    Write(processor, time, KERNEL_PROCESSOR_DISPATCH_ID, record);
  }
  void Wakeup(uint32_t processor, uint64_t time, uint32_t woken, bool by_interrupt) {
    kernel_threads_wakeup_layout record = {};
    record.woken_process = kProcess;
    record.woken_thread = woken;
    record.by = by_interrupt;
    Write(processor, time, KERNEL_THREADS_WAKEUP_ID, record);
  }
  void Interrupt(uint32_t processor, uint64_t begin, uint64_t end) {
    Write(processor, begin, KERNEL_PROCESSOR_INTERRUPT_BEGIN_ID,
          kernel_processor_interrupt_begin_layout{});
    kernel_processor_interrupt_end_layout record = {};
    record.duration = end - begin;
    Write(processor, end, KERNEL_PROCESSOR_INTERRUPT_END_ID, record);
  }
  void Call(uint32_t processor, uint64_t time, uint32_t thread, bool begins) {
    if (begins) {
      kernel_calls_system_call_begin_layout record = {};
      record.process = kProcess;
      record.thread = thread;
      Write(processor, time, KERNEL_CALLS_SYSTEM_CALL_BEGIN_ID, record);
    } else {
      kernel_calls_system_call_end_layout record = {};
      record.process = kProcess;
      record.thread = thread;
      Write(processor, time, KERNEL_CALLS_SYSTEM_CALL_END_ID, record);
    }
  }
  void Close(uint64_t lost = 0) {
    for (uint32_t i = 0; i < processors_; ++i) ASSERT_TRUE(writer_.Flush(i, lost, true));
    ASSERT_TRUE(writer_.Close());
  }

 private:
  record::PacketWriter writer_;
  uint32_t processors_;
};

// What a thread of the simulation did.
struct Expected {
  uint64_t begin, end, ready, interrupts;
  uint32_t processor;
  model::StopState state;
};

// One nanosecond at a time would be the simplest; here each step is an action on a processor.
class Simulation {
 public:
  Simulation(unsigned seed, uint32_t processors, uint32_t threads, Recorder& recorder)
      : random_(seed), recorder_(recorder), running_(processors), begun_(processors) {
    interrupts_.resize(processors);
    for (uint32_t thread = 1; thread <= threads; ++thread) ready_since_[thread] = 0;
    // At first every processor is idle; the first record of each says so.
    for (uint32_t i = 0; i < processors; ++i)
      recorder_.Dispatch(i, 0, 0, 0, model::StopState::kRunnable);
  }

  void Step() {
    time_ += 1 + Below(1000);
    const uint32_t processor = Below(static_cast<uint32_t>(running_.size()));
    switch (Below(4)) {
      case 0:
        return Interrupt(processor);
      case 1:
        return Wake(processor);
      default:
        return Switch(processor);
    }
  }

  uint64_t time() const { return time_; }
  // Ends what runs with the recording.
  void Finish() {
    for (uint32_t i = 0; i < running_.size(); ++i) {
      if (running_[i] != 0) Stop(i, model::StopState::kRuns);
    }
  }

  std::map<uint32_t, std::vector<Expected>> stretches;

 private:
  uint32_t Below(uint32_t limit) { return static_cast<uint32_t>(random_() % limit); }

  void Stop(uint32_t processor, model::StopState state) {
    const uint32_t thread = running_[processor];
    stretches[thread].push_back(
        {begun_[processor], time_, used_ready_[thread], interrupts_[processor], processor, state});
    if (state == model::StopState::kRunnable)
      ready_since_[thread] = time_;
    else
      asleep_.insert(thread);
  }

  void Switch(uint32_t processor) {
    const uint32_t previous = running_[processor];
    const auto state = Below(2) == 0 ? model::StopState::kRunnable : model::StopState::kSleeping;
    if (previous != 0) Stop(processor, state);
    uint32_t next = 0;
    for (const auto& [thread, since] : ready_since_) {
      if (thread != previous && Below(2) == 0) next = thread;
    }
    recorder_.Dispatch(processor, time_, previous, next,
                       previous != 0 ? state : model::StopState::kRunnable);
    if (next != 0) {
      used_ready_[next] = ready_since_[next] == 0 ? time_ : ready_since_[next];
      ready_since_.erase(next);
    }
    running_[processor] = next;
    begun_[processor] = time_;
    interrupts_[processor] = 0;
  }

  void Wake(uint32_t processor) {
    if (asleep_.empty()) return;
    const uint32_t thread = *asleep_.begin();
    asleep_.erase(thread);
    ready_since_[thread] = time_;
    recorder_.Wakeup(processor, time_, thread, Below(2) == 0);
  }

  void Interrupt(uint32_t processor) {
    const uint64_t begin = time_;
    time_ += 1 + Below(100);
    recorder_.Interrupt(processor, begin, time_);
    interrupts_[processor] += time_ - begin;
  }

  std::mt19937 random_;
  Recorder& recorder_;
  uint64_t time_ = 1;
  std::vector<uint32_t> running_;
  std::vector<uint64_t> begun_;
  std::vector<uint64_t> interrupts_;
  std::map<uint32_t, uint64_t> ready_since_, used_ready_;
  std::set<uint32_t> asleep_;
};

TEST(Stretches, AreThoseOfASimulation) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const TemporaryDirectory directory("timeline");
    Recorder recorder(directory.path().string(), 3);
    Simulation simulation(seed, 3, 7, recorder);
    for (int i = 0; i < 2000; ++i) simulation.Step();
    recorder.Interrupt(0, simulation.time(), simulation.time());  // the last record
    simulation.Finish();
    recorder.Close();
    const auto loaded = model::LoadStretches(directory.path().string());
    ASSERT_TRUE(loaded) << loaded.error().message;
    EXPECT_EQ(loaded->damages, std::vector<std::string>());
    size_t compared = 0;
    for (const model::StretchThread& thread : loaded->threads) {
      const auto& expected = simulation.stretches[thread.thread];
      ASSERT_EQ(thread.count, expected.size()) << "seed " << seed << " thread " << thread.thread;
      for (size_t i = 0; i < expected.size(); ++i) {
        const model::Stretch& found = loaded->stretches[thread.first + i];
        EXPECT_EQ(found.begin, expected[i].begin);
        EXPECT_EQ(found.end, expected[i].end);
        EXPECT_EQ(found.interrupts, expected[i].interrupts);
        EXPECT_EQ(found.processor, expected[i].processor);
        EXPECT_EQ(found.state, expected[i].state);
        if (i > 0) {
          EXPECT_EQ(found.ready, expected[i].ready) << "seed " << seed << " " << i;
        }
        ++compared;
      }
    }
    EXPECT_GT(compared, 100u);
    // Threads, idle time and interrupts are all of the time.
    for (const model::ProcessorSums& sums : model::SumProcessors(*loaded, 0, loaded->duration))
      EXPECT_EQ(sums.total(), loaded->duration);
  }
}

TEST(Stretches, CountTheTimeInSystemCallsAlsoOnAnotherProcessor) {
  const TemporaryDirectory directory("timeline");
  Recorder recorder(directory.path().string(), 2);
  using enum model::StopState;
  recorder.Dispatch(0, 0, 0, 5, kRunnable);
  recorder.Dispatch(1, 0, 0, 0, kRunnable);
  recorder.Call(0, 100, 5, true);
  recorder.Dispatch(0, 150, 5, 0, kSleeping, 0, 0);
  recorder.Dispatch(1, 400, 0, 5, kRunnable);
  recorder.Call(1, 430, 5, false);
  recorder.Call(1, 500, 5, true);
  recorder.Call(1, 520, 5, false);
  recorder.Dispatch(1, 600, 5, 0, kSleeping);
  recorder.Close();
  const auto loaded = model::LoadStretches(directory.path().string());
  ASSERT_TRUE(loaded);
  ASSERT_EQ(loaded->stretches.size(), 2u);
  EXPECT_EQ(loaded->stretches[0].kernel, 50u);
  EXPECT_EQ(loaded->stretches[1].kernel, 30u + 20u);
}

// Some virtual machines do not run our program while their own init process runs.
TEST(Stretches, ATimeAfterADispatchThatWasNotSeenIsAGap) {
  const TemporaryDirectory directory("timeline");
  Recorder recorder(directory.path().string(), 1);
  using enum model::StopState;
  recorder.Dispatch(0, 0, 0, 7, kRunnable);
  recorder.Dispatch(0, 100, 7, 1, kSleeping);
  recorder.Interrupt(0, 150, 160);
  // 1 stopped at some time before this, and 8 ran.
  recorder.Dispatch(0, 300, 8, 7, kSleeping);
  recorder.Interrupt(0, 350, 355);
  recorder.Dispatch(0, 400, 7, 0, kSleeping);
  recorder.Dispatch(0, 450, 0, 7, kRunnable);
  recorder.Close();
  const auto loaded = model::LoadStretches(directory.path().string());
  ASSERT_TRUE(loaded);
  ASSERT_EQ(loaded->gaps.size(), 1u);
  EXPECT_EQ(loaded->gaps[0].begin, 100u);
  EXPECT_EQ(loaded->gaps[0].end, 300u);
  ASSERT_EQ(loaded->threads.size(), 2u);
  EXPECT_EQ(loaded->threads[0].count, 3u);
  EXPECT_EQ(loaded->threads[1].thread, 8u);
  ASSERT_EQ(loaded->threads[1].count, 1u);
  EXPECT_EQ(loaded->stretches[loaded->threads[1].first].duration(), 0u);
  const model::ProcessorSums sums = model::SumProcessors(*loaded, 0, loaded->duration)[0];
  EXPECT_EQ(sums.unknown, 190u);
  EXPECT_EQ(sums.threads, 195u);
  EXPECT_EQ(sums.idle, 50u);
  EXPECT_EQ(sums.interrupts, 15u);
  EXPECT_EQ(sums.total(), loaded->duration);
}

TEST(Stretches, AFileThatIsCutOffOrHasOtherBytesIsNamedAndTheRestIsRead) {
  const TemporaryDirectory directory("timeline");
  Recorder recorder(directory.path().string(), 2);
  for (uint32_t i = 0; i < 100; ++i) {
    recorder.Dispatch(0, 10 * i, i % 2 == 0 ? 0 : 7, i % 2 == 0 ? 7 : 0,
                      model::StopState::kSleeping);
    recorder.Dispatch(1, 10 * i, i % 2 == 0 ? 0 : 8, i % 2 == 0 ? 8 : 0,
                      model::StopState::kSleeping);
  }
  recorder.Close(/*lost=*/3);
  const std::string cut = directory.path().string() + "/events/kernel/processor-0-0";
  std::filesystem::resize_file(cut, std::filesystem::file_size(cut) - 100);
  const auto loaded = model::LoadStretches(directory.path().string());
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->lost, 6u);
  EXPECT_FALSE(loaded->damages.empty());
  size_t of_eight = 0;
  for (const model::StretchThread& thread : loaded->threads)
    if (thread.thread == 8) of_eight = thread.count;
  EXPECT_EQ(of_eight, 50u);
}

TEST(Stretches, MetadataThatAreDamagedOrMissingAreDamage) {
  const TemporaryDirectory directory("timeline");
  Recorder recorder(directory.path().string(), 1);
  recorder.Dispatch(0, 0, 0, 7, model::StopState::kRunnable);
  recorder.Dispatch(0, 10, 7, 0, model::StopState::kDead);
  recorder.Close();
  const std::string place = directory.path().string(), metadata = place + "/events/kernel/metadata";
  EXPECT_TRUE(model::LoadStretches(place)->damages.empty());
  std::filesystem::resize_file(metadata, std::filesystem::file_size(metadata) / 2);
  EXPECT_EQ(model::LoadStretches(place)->damages.size(), 1u);
  std::filesystem::remove(metadata);
  EXPECT_TRUE(model::HasKernelEvents(place));
  EXPECT_EQ(model::LoadStretches(place)->damages.size(), 1u);
}

TEST(Stretches, ARecordWithATimeFarFromTheOthersIsDamage) {
  const TemporaryDirectory directory("timeline");
  Recorder recorder(directory.path().string(), 2);
  recorder.Dispatch(0, 0, 0, 7, model::StopState::kRunnable);
  recorder.Dispatch(0, 100, 7, 0, model::StopState::kDead);
  recorder.Dispatch(1, uint64_t{1} << 60, 8, 0, model::StopState::kDead);
  recorder.Close();
  const auto loaded = model::LoadStretches(directory.path().string());
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->duration, 100u);
  ASSERT_EQ(loaded->damages.size(), 1u);
  EXPECT_NE(loaded->damages[0].find("1 records have times far"), std::string::npos);
}

TEST(Stretches, WrapKeepsTheNewestPackets) {
  const TemporaryDirectory directory("timeline");
  auto writer =
      *record::PacketWriter::Create(directory.path().string() + "/events/kernel", 1, {},
                                    {.mode = record::TraceLimitMode::kWrap, .bytes = 10'000});
  for (uint32_t i = 0; i < 1000; ++i) {
    kernel_processor_dispatch_layout record = {};
    record.time = kStart + i;
    record.id = KERNEL_PROCESSOR_DISPATCH_ID;
    record.previous_thread = i % 2 == 0 ? 7 : 0;
    record.next_thread = i % 2 == 0 ? 0 : 7;
    writer.Add(0, {reinterpret_cast<const char*>(&record), sizeof record});
    if (i % 20 == 19) {
      ASSERT_TRUE(writer.Flush(0, 0, true));
    }
  }
  EXPECT_EQ(writer.dropped(), 0u);
  uint64_t bytes = 0;
  for (const auto& file :
       std::filesystem::directory_iterator(directory.path().string() + "/events/kernel"))
    if (file.path().filename().string().starts_with("processor-")) bytes += file.file_size();
  EXPECT_LE(bytes, 10'000u);
  EXPECT_GT(bytes, 5'000u);
  const auto loaded = model::LoadStretches(directory.path().string());
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->start_ns + loaded->duration, kStart + 999);
}

TEST(Stretches, NormalKeepsTheOldestPacketsAndCountsTheRest) {
  const TemporaryDirectory directory("timeline");
  auto writer =
      *record::PacketWriter::Create(directory.path().string() + "/events/kernel", 1, {},
                                    {.mode = record::TraceLimitMode::kNormal, .bytes = 10'000});
  for (uint32_t i = 0; i < 1000; ++i) {
    kernel_processor_dispatch_layout record = {};
    record.time = kStart + i;
    record.id = KERNEL_PROCESSOR_DISPATCH_ID;
    writer.Add(0, {reinterpret_cast<const char*>(&record), sizeof record});
    if (i % 20 == 19) {
      ASSERT_TRUE(writer.Flush(0, 0, true));
    }
  }
  const auto loaded = model::LoadStretches(directory.path().string());
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->records + writer.dropped(), 1000u);
  EXPECT_EQ(loaded->start_ns, kStart);
  EXPECT_GT(writer.dropped(), 500u);
}

using Kind = model::PathPiece::Kind;
using Pieces = std::vector<std::tuple<Kind, uint64_t, uint64_t, uint32_t>>;

void ExpectPath(const std::vector<model::PathPiece>& path, const Pieces& expected) {
  Pieces found;
  for (const model::PathPiece& piece : path)
    found.emplace_back(piece.kind, piece.begin, piece.end, piece.thread);
  EXPECT_EQ(found, expected);
}

// Thread 1 computes, wakes thread 2 and waits for it; thread 2 computes and wakes thread 1.
TEST(CriticalPath, GoesThroughTheThreadThatWasWaitedFor) {
  const TemporaryDirectory directory("timeline");
  Recorder recorder(directory.path().string(), 2);
  using enum model::StopState;
  recorder.Dispatch(0, 0, 0, 1, kRunnable);
  recorder.Dispatch(1, 0, 0, 0, kRunnable);
  recorder.Wakeup(0, 100, 2, false);
  recorder.Dispatch(0, 110, 1, 0, kSleeping);
  recorder.Dispatch(1, 130, 0, 2, kRunnable);  // ready since 100
  recorder.Wakeup(1, 500, 1, false);
  recorder.Dispatch(0, 520, 0, 1, kRunnable);
  recorder.Dispatch(1, 530, 2, 0, kSleeping);
  recorder.Dispatch(0, 600, 1, 0, kDead);
  recorder.Close();
  const auto loaded = model::LoadStretches(directory.path().string());
  ASSERT_TRUE(loaded);
  ASSERT_EQ(loaded->threads.size(), 2u);
  ExpectPath(model::CriticalPath(*loaded, 0, 0, 600), {{Kind::kRuns, 0, 100, 0},
                                                       {Kind::kReady, 100, 130, 1},
                                                       {Kind::kRuns, 130, 500, 1},
                                                       {Kind::kReady, 500, 520, 0},
                                                       {Kind::kRuns, 520, 600, 0}});
}

// Thread 2 sleeps, and a timer wakes it. Only then thread 1 waits for it, for a short time.
TEST(CriticalPath, AThreadThatWasIdleBeforeIsNoCause) {
  const TemporaryDirectory directory("timeline");
  Recorder recorder(directory.path().string(), 2);
  using enum model::StopState;
  recorder.Dispatch(0, 0, 0, 1, kRunnable);
  recorder.Dispatch(1, 0, 0, 2, kRunnable);
  recorder.Dispatch(1, 10, 2, 0, kSleeping);
  recorder.Wakeup(1, 700, 2, true);
  recorder.Dispatch(1, 710, 0, 2, kRunnable);
  recorder.Dispatch(0, 720, 1, 0, kSleeping);
  recorder.Wakeup(1, 750, 1, false);
  recorder.Dispatch(0, 760, 0, 1, kRunnable);
  recorder.Dispatch(1, 770, 2, 0, kSleeping);
  recorder.Dispatch(0, 800, 1, 0, kDead);
  recorder.Close();
  const auto loaded = model::LoadStretches(directory.path().string());
  ASSERT_TRUE(loaded);
  ExpectPath(model::CriticalPath(*loaded, 0, 0, 800), {{Kind::kRuns, 0, 700, 0},
                                                       {Kind::kReady, 700, 710, 1},
                                                       {Kind::kRuns, 710, 750, 1},
                                                       {Kind::kReady, 750, 760, 0},
                                                       {Kind::kRuns, 760, 800, 0}});
}

// Thread 2 has no earlier stretch, as if it had been idle since before the recording. A timer wakes
// it while thread 1 runs.
TEST(CriticalPath, GoesBackToTheThreadThatWaitedWhereTheOtherOneHasNoEarlierStretch) {
  const TemporaryDirectory directory("timeline");
  Recorder recorder(directory.path().string(), 2);
  using enum model::StopState;
  recorder.Dispatch(0, 0, 0, 1, kRunnable);
  recorder.Dispatch(1, 0, 0, 0, kRunnable);
  recorder.Wakeup(1, 250, 2, true);
  recorder.Dispatch(1, 300, 0, 2, kRunnable);
  recorder.Dispatch(0, 310, 1, 0, kSleeping);
  recorder.Wakeup(1, 400, 1, false);
  recorder.Dispatch(0, 420, 0, 1, kRunnable);
  recorder.Dispatch(1, 430, 2, 0, kSleeping);
  recorder.Dispatch(0, 500, 1, 0, kDead);
  recorder.Close();
  const auto loaded = model::LoadStretches(directory.path().string());
  ASSERT_TRUE(loaded);
  ExpectPath(model::CriticalPath(*loaded, 0, 0, 500), {{Kind::kRuns, 0, 250, 0},
                                                       {Kind::kReady, 250, 300, 1},
                                                       {Kind::kRuns, 300, 400, 1},
                                                       {Kind::kReady, 400, 420, 0},
                                                       {Kind::kRuns, 420, 500, 0}});
}

TEST(CriticalPath, AWaitThatAnInterruptEndsIsTheCauseItself) {
  const TemporaryDirectory directory("timeline");
  Recorder recorder(directory.path().string(), 1);
  using enum model::StopState;
  recorder.Dispatch(0, 0, 0, 1, kRunnable);
  recorder.Dispatch(0, 100, 1, 0, kSleeping);
  recorder.Wakeup(0, 400, 1, true);
  recorder.Dispatch(0, 410, 0, 1, kRunnable);
  recorder.Dispatch(0, 500, 1, 0, kDead);
  recorder.Close();
  const auto loaded = model::LoadStretches(directory.path().string());
  ASSERT_TRUE(loaded);
  ExpectPath(model::CriticalPath(*loaded, 0, 50, 500), {{Kind::kRuns, 50, 100, 0},
                                                        {Kind::kWaits, 100, 400, 0},
                                                        {Kind::kReady, 400, 410, 0},
                                                        {Kind::kRuns, 410, 500, 0}});
}

// Returns what a report prints of a small recording.
std::string Printed(const reports::Report& report, const reports::Options& options) {
  const TemporaryDirectory directory("timeline");
  Recorder recorder(directory.path().string(), 1);
  using enum model::StopState;
  recorder.Dispatch(0, 0, 0, kProcess, kRunnable);
  recorder.Dispatch(0, 100, kProcess, 0, kSleeping, 0, 0);
  recorder.Wakeup(0, 400, kProcess, true);
  recorder.Dispatch(0, 410, 0, kProcess, kRunnable);
  recorder.Dispatch(0, 500, kProcess, 8, kDead);
  recorder.Dispatch(0, 600, 9, 0, kSleeping);  // the dispatch from 8 to 9 is missing
  recorder.Close();
  std::ofstream(directory.path() / "events" / profile::kRecordingFile)
      << profile::ToJson(profile::RecordingMeta{.command = "app", .process = kProcess});
  auto input = model::Open(directory.path().string(), {});
  EXPECT_TRUE(input) << input.error().message;
  const auto text = reports::PrintedText(
      [&](reports::Output& out) { return reports::PrintReport(report, *input, options, out); });
  EXPECT_TRUE(text) << text.error().message;
  return text.value_or("");
}

TEST(EventReports, PrintTheColumnsThatTheyList) {
  int found = 0;
  for (const reports::Report& report : reports::Reports()) {
    if (!report.Prints(model::InputKind::kEvents) || report.print == nullptr) continue;
    ++found;
    const std::string text = Printed(report, {.all = true});
    for (const reports::ColumnHelp& column : report.columns)
      EXPECT_NE(text.find(std::string(column.name)), std::string::npos) << column.name << text;
    for (const reports::Format format : {reports::Format::kCsv, reports::Format::kJson})
      EXPECT_NE(Printed(report, {.format = format}), "") << report.name;
  }
  EXPECT_EQ(found, 3);
}

}  // namespace
}  // namespace jprof
