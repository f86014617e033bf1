// Writes the seeds: small valid profiles, packed, for profile_fuzz; metadata for meta_fuzz; the
// files of a recording for recording_fuzz; heap dumps for heap_fuzz; files of other profilers for
// import_fuzz; a specification and the files
// of a trace for events_fuzz; those of the kernel's trace for timeline_fuzz; a log of
// libjprof-pages.so for allocations_fuzz; frames of counts over time for series_fuzz.
#include <fcntl.h>
#include <inttypes.h>
#include <kernel_layout.h>
#include <zstd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include "common/fd.h"
#include "events/runtime/ctf.h"
#include "events/runtime/jprof-events.h"
#include "profile/files/layout.h"
#include "profile/files/recording_meta.h"
#include "profile/log/branch_log.h"
#include "profile/log/jit_log.h"
#include "profile/log/memory_log.h"
#include "profile/log/sample_log.h"
#include "profile/merge/merge.h"
#include "record/kernel/packet_writer.h"
#include "tests/fuzz/packed_profile.h"
#include "tests/unit/cpo/log_writer.h"
#include "tests/unit/events/small_specification.h"
#include "tests/unit/heap/dump_writer.h"
#include "tests/unit/import/jfr_writer.h"
#include "tests/unit/import/pprof_writer.h"
#include "tests/unit/reports/demo_profile.h"
#include "tests/unit/reports/lock_profile.h"
#include "tests/unit/reports/slow_profile.h"

namespace {

using namespace jprof;

void Save(const std::filesystem::path& corpus, const std::string& name,
          profile::SyntheticProfile made, bool compress) {
  const std::filesystem::path directory = corpus / "seed.tmp";
  std::filesystem::remove_all(directory);
  made.calibration = calibrate::ToJson(reports::DemoTable(3));
  if (made.calibration.size() > 4000) {  // a few keys suffice and are faster to mutate
    calibrate::Table small = reports::DemoTable(3);
    auto& keys = small.metrics[0].keys;
    while (keys.size() > 8) keys.erase(std::prev(keys.end()));
    made.calibration = calibrate::ToJson(small);
  }
  made.Write(directory);
  if (compress) {
    std::string frame(ZSTD_compressBound(made.trace.size()), '\0');
    frame.resize(
        ZSTD_compress(frame.data(), frame.size(), made.trace.data(), made.trace.size(), 3));
    std::ofstream(directory / profile::kCompressedTraceFile, std::ios::binary) << frame;
    std::filesystem::remove(directory / profile::kTraceFile);
  } else if (made.with_trace) {  // the unused part of the only block
    std::filesystem::resize_file(directory / profile::kTraceFile, 600);
  }
  for (const char options : {'\0', '\x9d', '\x3e'}) {
    std::ofstream(corpus / (name + std::to_string(options & 3)), std::ios::binary)
        << options << fuzz::Pack(directory);
  }
  for (size_t i = 0; name == "zstd" && i < std::size(fuzz::kFiles); ++i) {
    std::ofstream(corpus / ("sparse" + std::to_string(i)), std::ios::binary)
        << '\0' << fuzz::Pack(directory, i);
  }
  std::filesystem::remove_all(directory);
}

std::string BytesOf(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// For merge_fuzz: two profiles, and the files that only a merged one has.
void SaveMerge(const std::filesystem::path& corpus) {
  std::filesystem::create_directories(corpus);
  const std::filesystem::path first = corpus / "first.tmp", second = corpus / "second.tmp",
                              merged = corpus / "merged.tmp";
  reports::DemoProfile().Write(first);
  reports::RandomProfile(3, 2, 40).Write(second);
  if (!profile::Merge({.inputs = {first, second}, .output = merged})) std::exit(1);
  for (const char threads : {'\0', '\1', '\2'}) {
    std::ofstream(corpus / ("two" + std::to_string(threads)), std::ios::binary)
        << threads << fuzz::PackMerge(fuzz::Pack(first), fuzz::Pack(second));
  }
  std::ofstream(corpus / "spread", std::ios::binary)
      << '\3' << fuzz::PackMerge(fuzz::Pack(merged), BytesOf(merged / profile::kSpreadFile));
  std::ofstream(corpus / "merged", std::ios::binary)
      << '\4' << fuzz::PackMerge(fuzz::Pack(merged), BytesOf(merged / profile::kMergedFile));
  for (const std::filesystem::path& directory : {first, second, merged})
    std::filesystem::remove_all(directory);
}

void SaveSamples(const std::filesystem::path& path) {
  profile::SampleWriter writer;
  if (!writer.Open(path, {.cpus = 2, .start_ns = 5})) std::exit(1);
  const uint64_t chain[] = {0x1000, 0x2000, 0xffffffff81000000};
  writer.Add({6, 7, 7, 0, profile::ThreadNamed{"java", true}});
  writer.Add({7, 7, 7, 0, profile::CodeMapped{0x1000, 0x2000, 0, 0, "/bin/true", "id"}});
  writer.Add({8, 8, 8, 0, profile::ThreadForked{7}});
  writer.Add({10, 8, 8, 0, profile::SampleTaken{0x1000, false, chain}});
  writer.Add({9, 0, 0, 0, profile::SampleTaken{0xffffffff81000000, true}});
  writer.AddLost(3);
  writer.Add({12, 8, 8, 0, profile::ThreadExited{}});
  if (!writer.Close(20)) std::exit(1);
  const std::string bytes = BytesOf(path);
  std::ofstream(path, std::ios::binary) << '\0' << bytes;
}

// For series_fuzz: the frames of a packet with two nodes, a takeover and a word of `control`.
void SaveSeries(const std::filesystem::path& path) {
  constexpr char kControl[] = {1, 5, 2, 1, 9, 3};
  constexpr char kNodes[] = {1, 0x11, 5, 7, 3, 0x3f, 1, 1, 1, 1, 1, 1, 0, 0x01, 4, 0x00};
  std::ofstream out(path, std::ios::binary);
  out << '\1' << static_cast<char>(sizeof(kControl)) << '\0';
  out.write(kControl, sizeof(kControl)).write(kNodes, sizeof(kNodes));
}

void SaveJitLog(const std::filesystem::path& path) {
  const std::filesystem::path folder = path.parent_path() / "jitlog.tmp";
  std::filesystem::create_directories(folder);
  const Fd directory(open(folder.c_str(), O_RDONLY | O_DIRECTORY));
  profile::JitLogWriter writer;
  if (!writer.Open(directory.get())) std::exit(1);
  const profile::JitLine line = {2, 7, 9};
  const uint8_t code[] = {0x90, 0x90, 0x90, 0xc3};
  writer.Thread(7, profile::kJitBegan, "main");
  writer.Load({.address = 0x7000,
               .length = 64,
               .class_name = "app/A",
               .name = "f",
               .signature = "()V",
               .source = "A",
               .lines = {&line, 1},
               .code = code},
              false);
  writer.Unload(0x7000);
  writer.End();
  std::ofstream(path, std::ios::binary) << '\1' << BytesOf(folder / profile::kJitLogFile);
  std::filesystem::remove_all(folder);
}

void SaveBranches(const std::filesystem::path& path) {
  profile::BranchWriter writer;
  if (!writer.Open(path, {.start_ns = 5})) std::exit(1);
  using enum profile::BranchKind;
  writer.Add({10, 7, 7, kBegin, 0, 0x1000, 0, 0});
  writer.Add({10, 7, 7, kCall, 0x1010, 0x2000, 5, 0});
  writer.Add({11, 7, 7, kReturn, 0x2010, 0x1015, 4, 30});
  writer.Add({11, 8, 8, kBegin, 0, 0x3000, 0, 0});
  writer.Add({12, 7, 7, kEnd, 0x1020, 0, 3, 0});
  if (!writer.Close(20)) std::exit(1);
  const std::string bytes = BytesOf(path);
  std::ofstream(path, std::ios::binary) << '\2' << bytes;
}

void SaveReferences(const std::filesystem::path& path) {
  profile::MemoryWriter writer;
  if (!writer.Open(path, {.start_ns = 5})) std::exit(1);
  using enum profile::MemoryAccess;
  writer.Add({10, 7, 7, 0x1000, 0x8000, 8, kLoad, true});
  writer.Add({10, 7, 7, 0x1004, 0x9000, 4, kStore, false});
  writer.Add({11, 7, 7, 0x1000, 0x8008, 8, kLoad, false});
  writer.Add({11, 8, 8, 0x1008, 0x7000, 4096, kModify, true});
  if (!writer.Close(20)) std::exit(1);
  const std::string bytes = BytesOf(path);
  std::ofstream(path, std::ios::binary) << '\3' << bytes;
}

// A small heap with everything that the reports look at: strings, collections, a thread, a loader.
std::string HeapDump(uint32_t id_size) {
  using enum heap::FieldType;
  using heap::SubTag;
  heap::DumpWriter dump(id_size);
  dump.Class(0x100, "java/lang/Object");
  dump.Class(0x108, "java/lang/String", 0x100, {{"value", kObject}, {"coder", kByte}});
  dump.Class(0x110, "java/util/ArrayList", 0x100, {{"size", kInt}, {"elementData", kObject}});
  dump.Class(0x118, "[Ljava/lang/Object;", 0x100);
  dump.Class(0x120, "java/lang/Thread", 0x100, {{"name", kObject}});
  dump.Class(0x128, "app/Cache", 0x100, {{"id", kLong}}, {{"all", kObject, 0x1020}}, 0x1060);
  dump.Class(0x130, "[B", 0x100);
  dump.Instance(0x1000, 0x108, {{0x1010, id_size}, {0, 1}});
  dump.PrimitiveArray(0x1010, kByte, {'m', 'a', 'i', 'n'});
  dump.Instance(0x1020, 0x110, {{2, 4}, {0x1030, id_size}});
  dump.ObjectArray(0x1030, 0x118, {0x1000, 0x1050, 0});
  dump.Object(0x1048, 0x120, {0x1000});
  dump.EndSegment();
  dump.Instance(0x1050, 0x128, {{7, 8}});
  dump.Object(0x1060, 0x100, {});
  dump.PrimitiveArray(0x1068, kChar, {'x', 'y'});
  dump.PrimitiveArray(0x1080, kChar, {'x', 'y'});
  dump.Root(SubTag::kRootThread, 0x1048, 1);
  dump.Root(SubTag::kRootJavaFrame, 0x1068, 1);
  dump.Root(SubTag::kRootJniGlobal, 0x1080);
  dump.Root(SubTag::kRootStickyClass, 0x128);
  dump.Root(SubTag::kRootUnknown, 0x9999);
  return dump.Finish();
}

// A log with every kind of slot.
void SaveAllocations(const std::filesystem::path& path) {
  using enum cpo::SlotKind;
  cpo::LogWriter log;
  log.Text(kGroup, 3, "site app+0x10<app+0x20").Text(kGroup, 5, "heap malloc");
  log.Text(kModule, 0, "7f0000 2000 /opt/app").Text(kNote, 0, "a note");
  log.Add(kFill, 5, 0x1000, 0x9000, 110).Add(kBegin, 3, 0x2000, 0x1000, 120);
  log.Add(kOutcome, 3, 9, 8, 121).Add(kRefused, 3, 7, 6, 122).Add(kEnd, 0, 0x2800, 0x1000, 130);
  log.Add(kBegin, 5, 0x2000, 0x1000, 131).Add(kFill, 5, 0x1000, 0x9000, 100);
  log.Add(kFaults, 0, 1, 2, 140).Add(kTotal, 0, 1, 2, 141).Add(kExit, 0, 0, 0, 150);
  std::ofstream(path, std::ios::binary) << log.bytes();
}

void SaveEvents(const std::filesystem::path& corpus) {
  std::filesystem::create_directories(corpus);
  std::ofstream(corpus / "specification") << '\0' << events::kSmall;
  std::string records(16, '\0');  // a time and an id, twice: of order_begin, with a text of 2 bytes
  records.replace(8, 4, "\x46\x17\xac\xa0");
  records += std::string(8, '\7') + std::string("me\0\1", 4);
  records += records;
  std::string packet(104, '\0');
  packet.replace(0, 4, "\xc1\x1f\xfc\xc1");
  const uint64_t bits = 8 * (packet.size() + records.size());
  packet.replace(48, 8, reinterpret_cast<const char*>(&bits), 8);
  std::ofstream(corpus / "packet", std::ios::binary) << '\1' << packet << records;
  std::string statistics(64 + 544, '\0');
  statistics.replace(0, 8, "JPEVSTA1");
  statistics[16] = statistics[20] = 1;  // epoch and count
  statistics[64 + 32] = 9;
  std::ofstream(corpus / "statistics", std::ios::binary) << '\2' << statistics;
}

template <typename Layout>
void AddRecord(record::PacketWriter& writer, uint64_t time, uint32_t id, Layout record,
               size_t bytes = sizeof(Layout)) {
  record.time = time;
  record.id = id;
  writer.Add(0, {reinterpret_cast<const char*>(&record), bytes});
}

// Two threads of process 7, of which one makes and wakes the other one, interrupts and calls.
void SaveTimeline(const std::filesystem::path& corpus) {
  const std::filesystem::path place = corpus / "trace.tmp";
  std::filesystem::create_directories(place);
  auto writer = record::PacketWriter::Create(place, 1, {"cycles"});
  if (!writer) std::exit(1);
  for (uint64_t round = 0; round < 3; ++round) {
    const uint64_t time = 1000 + 1000 * round;
    AddRecord(*writer, time, KERNEL_PROCESSOR_DISPATCH_ID,
              kernel_processor_dispatch_layout{.previous_process = 7,
                                               .previous_thread = round == 0 ? 0u : 8u,
                                               .previous_state = 1,
                                               .next_process = 7,
                                               .next_thread = 7});
    AddRecord(*writer, time + 50, KERNEL_CALLS_SYSTEM_CALL_BEGIN_ID,
              kernel_calls_system_call_begin_layout{.process = 7, .thread = 7});
    AddRecord(*writer, time + 60, KERNEL_CALLS_SYSTEM_CALL_END_ID,
              kernel_calls_system_call_end_layout{.process = 7, .thread = 7});
    if (round == 0)
      AddRecord(
          *writer, time + 70, KERNEL_THREADS_FORK_ID,
          kernel_threads_fork_layout{.process = 7, .thread = 7, .new_process = 7, .new_thread = 8},
          offsetof(kernel_threads_fork_layout, title) + 1);
    AddRecord(*writer, time + 100, KERNEL_PROCESSOR_INTERRUPT_BEGIN_ID,
              kernel_processor_interrupt_begin_layout{});
    AddRecord(*writer, time + 120, KERNEL_PROCESSOR_INTERRUPT_END_ID,
              kernel_processor_interrupt_end_layout{.duration = 20});
    AddRecord(*writer, time + 150, KERNEL_THREADS_WAKEUP_ID,
              kernel_threads_wakeup_layout{.woken_process = 7, .woken_thread = 8});
    AddRecord(*writer, time + 500, KERNEL_PROCESSOR_DISPATCH_ID,
              kernel_processor_dispatch_layout{.previous_process = 7,
                                               .previous_thread = 7,
                                               .previous_state = 2,
                                               .next_process = 7,
                                               .next_thread = 8,
                                               .decided = time + 490});
  }
  if (!writer->Flush(0, 0, true)) std::exit(1);
  const std::string packet = BytesOf(place / "processor-0-0");
  std::ofstream(corpus / "records", std::ios::binary)
      << '\0' << packet.substr(sizeof(jprof_events_packet));
  std::ofstream(corpus / "packet", std::ios::binary) << '\1' << packet;
  std::ofstream(corpus / "metadata", std::ios::binary) << '\2' << BytesOf(place / "metadata");
  std::filesystem::remove_all(place);
}

void SaveImports(const std::filesystem::path& directory) {
  std::filesystem::create_directories(directory);
  const auto save = [&](const char* name, const std::string& bytes) {
    std::ofstream(directory / name, std::ios::binary) << bytes;
  };
  profile::JfrWriter jfr;
  jfr.samples = {{.frames = {{"app/Work", "run", "()V", 42, 17}, {"app/Main", "main", "()V"}}},
                 {.thread = "other", .frames = {{"app/Work", "run", "()V", 43, 19}}}};
  save("jfr", jfr.Chunk());
  jfr.compressed = false;
  jfr.cpu_time = true;
  jfr.periods = {10'000, 20'000};
  jfr.lost = 3;
  jfr.size_in_header = 1;
  save("jfr-open", jfr.Chunk());
  save("pprof", profile::made::Pprof());
  save("pprof-unpacked", profile::made::Pprof(false));
  save("collapsed", "[main tid=12];app/Main.main_[0];app/Work.run_[j];read_[k] 7\na;b 2\n");
  save("perf",
       "java 12/34 [001] 100.000000:   10000000 cpu-clock:u: \n"
       "\t    7f00001234 void app.Work.run(int)+0x14 (/tmp/perf-12.map)\n"
       "\tffffffff81000010 do_idle+0x10 ([kernel.kallsyms])\n\n");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
    return 2;
  }
  const std::filesystem::path seeds = argv[1], profiles = seeds / "profile",
                              recordings = seeds / "recording";
  std::filesystem::create_directories(profiles);
  std::filesystem::create_directories(recordings);
  std::filesystem::create_directories(seeds / "meta");
  std::ofstream(seeds / "meta" / "profile") << reports::DemoProfile().meta;
  std::ofstream(seeds / "meta" / "recording")
      << ToJson(profile::RecordingMeta{.sampling = "time, 100 samples/s on each CPU",
                                       .platform = "Linux",
                                       .command = "app",
                                       .process = 7,
                                       .notes = {"a note"}});
  std::filesystem::create_directories(seeds / "heap");
  for (const uint32_t id_size : {4u, 8u})
    std::ofstream(seeds / "heap" / std::to_string(id_size), std::ios::binary) << HeapDump(id_size);
  SaveImports(seeds / "import");
  SaveSamples(recordings / "samples");
  SaveJitLog(recordings / "jitlog");
  SaveBranches(recordings / "branches");
  SaveReferences(recordings / "memory");
  Save(profiles, "demo", reports::DemoProfile(), false);
  Save(profiles, "trace", reports::DemoProfile(true), false);
  Save(profiles, "zstd", reports::DemoProfile(true), true);
  Save(profiles, "random", reports::RandomProfile(1, 2, 60), false);
  profile::SyntheticProfile two = reports::RandomProfile(2, 2, 40);
  two.header.metric_count = 2;
  two.meta = R"({"mode":"callflow","metrics":[{"name":"time","unit":"ns","scale":0.5,"kind":"time"},
                 {"name":"PAPI_TOT_INS","unit":"events","scale":1,"kind":"count"}]})";
  Save(profiles, "two", two, false);
  Save(profiles, "locks", reports::DemoLocks().Finished(), false);
  profile::SyntheticProfile live = reports::DemoProfile();
  live.header.live_snapshots = 2;
  live.live = {{.node = 0, .first = 1, .last = 1, .bytes = 5},
               {.node = 2, .objects = 3, .first = 1, .last = 2, .bytes = 48}};
  Save(profiles, "live", live, false);
  profile::SyntheticProfile watched = reports::DemoProfile();
  profile::DistributionRecord& calls = watched.distributions.emplace_back();
  calls.node = 2;
  calls.handler_ticks = 9;
  for (profile::DurationRecord* clock : {&calls.cpu, &calls.elapsed}) {
    clock->shortest = {.calls = 1, .ticks = 100, .events = 3, .timed = 1};
    clock->longest = {.calls = 1, .ticks = 5000, .events = 3, .timed = 1};
    for (const uint64_t ticks : {100, 5000})
      clock->buckets[profile::BucketOf(ticks)] = {
          .calls = 1, .ticks = ticks, .events = 3, .timed = 1};
  }
  Save(profiles, "watched", watched, false);
  Save(profiles, "slow", reports::DemoSlow(), false);
  SaveMerge(seeds / "merge");
  std::filesystem::create_directories(seeds / "series");
  SaveSeries(seeds / "series" / "frames");
  std::filesystem::create_directories(seeds / "allocations");
  SaveAllocations(seeds / "allocations" / "every-slot");
  SaveEvents(seeds / "events");
  SaveTimeline(seeds / "timeline");
}
