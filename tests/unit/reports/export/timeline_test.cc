#include "model/timeline/timeline.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "model/timeline/arc_timeline.h"
#include "model/timeline/trace_timeline.h"
#include "tests/unit/reports/arc_recording_made.h"
#include "tests/unit/reports/export/exported.h"

namespace jprof::reports {
namespace {

using model::TimelineEvent;

Result<model::Visited> Visit(model::Source& source, const model::Timeline::OnEvent& on_event) {
  const auto timeline = model::OpenTimeline(source);
  if (!timeline) return std::unexpected(timeline.error());
  return (*timeline)->Visit(on_event);
}

// Returns the change of the number of open slices.
int DepthBy(const TimelineEvent& event) {
  if (std::holds_alternative<model::SliceBegin>(event.what)) return 1;
  return std::holds_alternative<model::SliceEnd>(event.what) ? -1 : 0;
}

std::string NotesOf(const model::Visited& visited) {
  return fmt::format("{}", fmt::join(visited.AllNotes(), "\n"));
}

profile::SyntheticProfile Traced(profile::SyntheticProfile made) {
  made.meta.replace(made.meta.find("callflow"), 8, "trace");
  return made;
}

TEST(TraceTimeline, AreBalancedInOrderAndAsLongAsTheTrace) {
  const ExportFolder folder;
  for (unsigned seed = 1; seed <= 6; ++seed) {
    model::Source source =
        Opened(folder.Write(Traced(RandomProfile(seed, 3, 20'000, true))), DemoTable(seed));
    std::vector<int> depth(4);  // by track: a process and three threads
    std::vector<uint64_t> last(4);
    const auto run = Visit(source, [&](const TimelineEvent& event) {
      EXPECT_GE(event.ns, last[event.track]);
      last[event.track] = event.ns;
      depth[event.track] += DepthBy(event);
      EXPECT_GE(depth[event.track], 0);
      EXPECT_NE(DepthBy(event), 0);
      return true;
    });
    ASSERT_TRUE(run);
    EXPECT_EQ(depth, std::vector<int>(4));
    EXPECT_EQ(last[0], 0u);
    const std::string notes = NotesOf(*run);
    EXPECT_EQ(notes.find("missing"), std::string::npos) << notes;
    EXPECT_EQ(notes.find("without an entry"), std::string::npos) << notes;
    EXPECT_NE(notes.find("calls had not returned"), std::string::npos) << notes;
  }
}

TEST(TraceTimeline, BeginWhenTheThreadBegan) {
  const ExportFolder folder;
  profile::SyntheticProfile made;
  made.with_trace = true;
  const profile::MethodId method = made.AddMethod("A", "m", "()V");
  const size_t thread = made.AddThread("late", 7);
  made.threads[thread].start_ticks = made.header.start_ticks + 5000;
  made.Enter(thread, method, FrameKind::kRejitted, 30);
  made.Exit(thread, 12);
  model::Source source = Opened(folder.Write(Traced(made)));
  std::vector<uint64_t> times;
  ASSERT_TRUE(Visit(source, [&](const TimelineEvent& event) {
    times.push_back(event.ns);
    return true;
  }));
  EXPECT_EQ(times, (std::vector<uint64_t>{5030, 5042}));
}

// Blocks of a trace that wrapped: the first ones are gone.
TEST(TraceTimeline, MissingEventsEndWhatIsOpenAndKeepTheTime) {
  const ExportFolder folder;
  profile::SyntheticProfile made = Traced(RandomProfile(2, 1, 60'000, true));
  const auto directory = folder.Write(made);
  std::vector<char> zeros(profile::kTraceBlockBytes);
  {
    std::fstream file(directory / profile::kTraceFile, std::ios::in | std::ios::out);
    file.write(zeros.data(), static_cast<std::streamsize>(zeros.size()));
  }
  model::Source source = Opened(directory);
  uint64_t last = 0;
  bool gap = false;
  int depth = 0;
  uint64_t missing = 0;
  const auto run = Visit(source, [&](const TimelineEvent& event) {
    if (const auto* instant = std::get_if<model::Instant>(&event.what)) {
      gap = true;
      missing += std::stoull(std::string(instant->name));
      EXPECT_EQ(depth, 0);
    }
    depth += DepthBy(event);
    last = event.ns;
    return true;
  });
  ASSERT_TRUE(run);
  EXPECT_TRUE(gap);
  EXPECT_NE(NotesOf(*run).find(fmt::format("{} events are missing", missing)), std::string::npos);
  EXPECT_EQ(depth, 0);
  int64_t whole = 0;
  for (const profile::Node& node : made.nodes) whole += node.self;
  EXPECT_EQ(last, static_cast<uint64_t>(whole));  // with what the missing events took
}

TEST(TraceTimeline, TheVisitorMayStop) {
  const ExportFolder folder;
  model::Source source = Opened(folder.Write(Traced(DemoProfile(true))));
  int seen = 0;
  ASSERT_TRUE(Visit(source, [&](const TimelineEvent&) { return ++seen < 3; }));
  EXPECT_EQ(seen, 3);
}

TEST(TraceTimeline, OddNamesAreJson) {
  const ExportFolder folder;
  profile::SyntheticProfile made;
  made.with_trace = true;
  const profile::MethodId method = made.AddMethod("A\"\n", "\xff;", "()V");
  const size_t thread = made.AddThread("\"t\n", 7);
  made.Enter(thread, method, FrameKind::kRejitted, 30);
  model::Source source = Opened(folder.Write(Traced(made)));
  EXPECT_TRUE(nlohmann::json::accept(ExportAs("chrome", source)));
  EXPECT_NE(ExportAs("perfetto", source), "");
}

TEST(TraceTimeline, NoTraceIsAnError) {
  const ExportFolder folder;
  model::Source source = Opened(folder.Write(DemoProfile()));
  EXPECT_FALSE(model::OpenTimeline(source));
}

// Prints an event with the kind and thread of its track.
std::string TextOf(const model::Timeline& timeline, const TimelineEvent& event) {
  const model::Track& track = timeline.tracks()[event.track];
  struct {
    std::string operator()(const model::SliceBegin& slice) const {
      return fmt::format("{}{}:{}", slice.counts_call ? "call " : "in ", slice.type, slice.text);
    }
    std::string operator()(const model::SliceEnd&) const { return "end"; }
    std::string operator()(const model::Instant& instant) const {
      return std::string(instant.name);
    }
    std::string operator()(const model::CounterValue& counter) const {
      return fmt::format("= {}", counter.value);
    }
  } text;
  return fmt::format("{} {} {}", track.tid, event.ns, std::visit(text, event.what));
}

std::vector<std::string> EventsOf(model::ArcRecording& arcs, std::string* notes = nullptr) {
  const auto timeline = *model::OpenTimeline(arcs);
  std::vector<std::string> events;
  const auto run = timeline->Visit([&](const TimelineEvent& event) {
    events.push_back(TextOf(*timeline, event));
    return true;
  });
  if (notes != nullptr) *notes = NotesOf(*run);
  return events;
}

TEST(ArcTimeline, HasTracksOfTheProcessItsThreadsAndTheirCounters) {
  const MadeArcRecording made;
  auto arcs = *model::OpenArcRecording(made.directory());
  const auto timeline = *model::OpenTimeline(arcs);
  EXPECT_EQ(timeline->clock(), model::ClockId::kMonotonic);
  std::vector<std::string> tracks;
  for (const model::Track& track : timeline->tracks())
    tracks.push_back(fmt::format("{} {} {} {} {}", static_cast<int>(track.kind), track.name,
                                 track.pid, track.tid, track.parent));
  EXPECT_EQ(tracks,
            (std::vector<std::string>{"0 app 5 16 0 0", "1 app 16 16 0", "2 instructions 16 16 1",
                                      "1 worker 16 17 0", "2 instructions 16 17 3"}));
}

TEST(ArcTimeline, ShowsCallsSignalsSystemCallsAndInstructions) {
  const MadeArcRecording made;
  auto arcs = *model::OpenArcRecording(made.directory());
  std::string notes;
  EXPECT_EQ(EventsOf(arcs, &notes), (std::vector<std::string>{"16 101 call J:app.main",
                                                              "16 101 = 0",
                                                              "16 102 call J:app.work",
                                                              "16 104 signal",
                                                              "16 104 call -:(signal)",
                                                              "16 104 call J:app.handler",
                                                              "16 105 end",
                                                              "16 105 in F:[NoModule]",
                                                              "16 106 end",
                                                              "16 106 end",
                                                              "16 107 end",
                                                              "16 601 call J:app.fast",
                                                              "16 602 end",
                                                              "16 602 end",
                                                              "16 602 in F:[NoModule]",
                                                              "16 603 end",
                                                              "17 51 call J:app.main",
                                                              "17 51 = 0",
                                                              "17 52 call J:app.work",
                                                              "17 57 end",
                                                              "17 58 system call",
                                                              "17 59 end",
                                                              "16 603 = 24",
                                                              "17 59 = 22"}));
  EXPECT_NE(notes.find("2 slices count no call"), std::string::npos) << notes;
  EXPECT_NE(notes.find("times are estimates"), std::string::npos) << notes;
}

// Records of one thread in place of those of the made recording.
model::ArcRecording OpenedWith(const MadeArcRecording& made,
                               const std::vector<profile::Branch>& branches) {
  profile::BranchWriter writer;
  (void)writer.Open((made.directory() / profile::kBranchesFile).string(), {.start_ns = 0});
  for (profile::Branch branch : branches) {
    branch.pid = branch.tid = 16;
    writer.Add(branch);
  }
  (void)writer.Close(1'000'000);
  return *model::OpenArcRecording(made.directory());
}

using Kind = profile::BranchKind;
constexpr uint64_t kMain = MadeArcRecording::kMain, kWork = MadeArcRecording::kWork;

TEST(ArcTimeline, EndsWhatIsOpenWhereRecordsEnd) {
  const MadeArcRecording made;
  auto arcs =
      OpenedWith(made, {{.time_ns = 10, .kind = Kind::kBegin, .to = kMain},
                        {.time_ns = 20, .kind = Kind::kCall, .from = kMain + 6, .to = kWork},
                        {.time_ns = 90, .kind = Kind::kBegin, .to = kMain},
                        {.time_ns = 95, .kind = Kind::kTaken, .from = kMain + 6, .to = kMain}});
  std::string notes;
  EXPECT_EQ(EventsOf(arcs, &notes),
            (std::vector<std::string>{"16 10 call J:app.main", "16 10 = 0", "16 20 call J:app.work",
                                      "16 20 end", "16 20 end", "16 90 call J:app.main",
                                      "16 95 end", "16 95 = 0"}));
  EXPECT_NE(notes.find("3 calls had not returned"), std::string::npos) << notes;
}

TEST(ArcTimeline, CountersHaveAValueInTenMicrosecondsAndTheLastOne) {
  const MadeArcRecording made;
  std::vector<profile::Branch> branches = {{.time_ns = 1, .kind = Kind::kBegin, .to = kMain}};
  for (uint64_t i = 1; i <= 50; ++i)
    branches.push_back({.time_ns = 1 + i * 500,
                        .kind = Kind::kTaken,
                        .from = kMain + 6,
                        .to = kMain,
                        .instructions = 4});
  auto arcs = OpenedWith(made, branches);
  std::vector<std::string> values;
  for (const std::string& event : EventsOf(arcs))
    if (event.find('=') != std::string::npos) values.push_back(event);
  EXPECT_EQ(values, (std::vector<std::string>{"16 1 = 0", "16 10001 = 80", "16 20001 = 160",
                                              "16 25001 = 200"}));
}

TEST(ArcTimeline, TheVisitorMayStop) {
  const MadeArcRecording made;
  auto arcs = *model::OpenArcRecording(made.directory());
  int seen = 0;
  const auto timeline = *model::OpenTimeline(arcs);
  ASSERT_TRUE(timeline->Visit([&](const TimelineEvent&) { return ++seen < 3; }));
  EXPECT_EQ(seen, 3);
}

TEST(Timelines, AreOfTracesOfBothKinds) {
  const ExportFolder folder;
  const MadeArcRecording made;
  const auto as_input = [](auto opened) { return model::Input(std::move(opened)); };
  model::Input tree = as_input(Opened(folder.Write(DemoProfile())));
  EXPECT_TRUE(model::HasContexts(tree) && !model::HasTimeline(tree));
  model::Input trace = as_input(Opened(folder.Write(Traced(DemoProfile(true)))));
  EXPECT_TRUE(!model::HasContexts(trace) && model::HasTimeline(trace));
  model::Input arcs = as_input(*model::OpenArcRecording(made.directory()));
  EXPECT_TRUE(model::HasContexts(arcs) && model::HasTimeline(arcs));
  EXPECT_TRUE(model::OpenTimeline(arcs));
  model::Input ticks = as_input(*model::OpenRecording(made.directory()));
  EXPECT_TRUE(!model::HasContexts(ticks) && !model::HasTimeline(ticks));
  const auto refused = model::OpenTimeline(ticks);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("has no points in time"), std::string::npos);
}

}  // namespace
}  // namespace jprof::reports
