// libFuzzer: by the first byte, reads the others as the records of a packet of the kernel's events,
// as a whole packet, or as the metadata of their trace, and makes stretches, sums and the critical
// path of them. There must be no crash, no sanitizer report and no endless loop.
#include <inttypes.h>
#include <kernel_layout.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <source_location>
#include <string>

#include "events/runtime/ctf.h"
#include "events/runtime/jprof-events.h"
#include "model/events/critical_path.h"
#include "model/events/jvm_events.h"
#include "model/events/recorded_events.h"
#include "model/events/wait_groups.h"
#include "profile/files/layout.h"
#include "profile/files/recording_meta.h"
#include "tests/unit/temporary_directory.h"

namespace {

using namespace jprof;

namespace fs = std::filesystem;

void Check(bool holds, std::source_location where = std::source_location::current()) {
  if (holds) return;
  std::fprintf(stderr, "the check in line %u fails\n", where.line());
  std::abort();
}

void Write(const fs::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

void CheckStretches(const model::Stretches& stretches) {
  size_t of_threads = 0;
  for (const model::StretchThread& thread : stretches.threads) {
    Check(thread.count == 0 || thread.first == of_threads);
    of_threads += thread.count;
    Check(thread.began <= thread.ended && thread.ended <= stretches.duration);
  }
  Check(of_threads == stretches.stretches.size());
  Check(stretches.counted.size() == of_threads * stretches.counters.size());
  for (const auto* all : {&stretches.stretches, &stretches.idle, &stretches.gaps}) {
    for (const model::Stretch& stretch : *all) {
      Check(stretch.begin <= stretch.end && stretch.end <= stretches.duration);
      Check(stretch.processor < stretches.processors);
    }
  }
  for (const model::Stretch& stretch : stretches.stretches) {
    Check(stretch.thread < stretches.threads.size());
    Check(stretch.waker >= model::kInterrupt || stretch.waker < stretches.threads.size());
  }
  for (const model::Interrupt& interrupt : stretches.interrupts) {
    Check(interrupt.begin + interrupt.duration <= stretches.duration);
    Check(interrupt.processor < stretches.processors);
    Check(interrupt.thread == model::kNoThread || interrupt.thread < stretches.threads.size());
  }
}

void CheckSums(model::RecordedEvents& events) {
  const model::Stretches& stretches = events.stretches;
  model::WaitReasons reasons(stretches, events.names, events.jvms);
  Check(model::SumThreads(stretches, reasons).size() == stretches.threads.size());
  const std::vector<bool> all(stretches.threads.size(), true);
  for (const model::WaitGroup& group : model::GroupWaits(stretches, reasons, all))
    Check(group.longest <= group.waited);
  Check(model::SumProcessors(stretches, 0, stretches.duration).size() == stretches.processors);
  for (uint32_t thread = 0; thread < stretches.threads.size(); ++thread) {
    uint64_t end = 0;
    for (const model::PathPiece& piece :
         model::CriticalPath(stretches, thread, 0, stretches.threads[thread].ended)) {
      Check(piece.begin >= end && piece.end > piece.begin);
      end = piece.end;
    }
  }
  (void)stretches.ThreadsBelow(static_cast<uint32_t>(events.meta.process));
}

// Returns a packet with a head that fits the records.
std::string PacketOf(std::string_view records) {
  jprof_events_packet head = {.magic = JPROF_EVENTS_MAGIC, .stream = JPROF_EVENTS_STREAM};
  head.content_size = head.packet_size = (sizeof head + records.size()) * 8;
  return std::string(reinterpret_cast<const char*>(&head), sizeof head).append(records);
}

// A recording of which one file is fuzzed.
struct FuzzedRecording {
  FuzzedRecording() {
    fs::create_directories(trace / "specifications");
    Write(trace / "specifications" / "kernel.xml", KERNEL_SPECIFICATION);
    Write(place.path() / profile::kEventsFolder / profile::kRecordingFile,
          ToJson(profile::RecordingMeta{.command = "app", .process = 7}));
    // So that there is an event also where the metadata are fuzzed.
    kernel_processor_dispatch_layout record = {};
    record.time = 4000;
    record.id = KERNEL_PROCESSOR_DISPATCH_ID;
    record.previous_thread = 8;
    Write(trace / "processor-0-9",
          PacketOf({reinterpret_cast<const char*>(&record), sizeof record}));
  }

  void Read(const char* name, std::string_view bytes) const {
    Write(trace / name, bytes);
    auto recording = model::OpenEventRecording(place.path());
    Check(recording.has_value());
    if (auto events = model::LoadEvents(*recording)) {
      CheckStretches(events->stretches);
      CheckSums(*events);
    }
    fs::remove(trace / name);
  }

  TemporaryDirectory place{"timeline-fuzz"};
  fs::path trace = place.path() / profile::kEventsFolder / profile::kKernelFolder;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const FuzzedRecording recording;
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] == 1) {
    recording.Read("processor-0-1", bytes);
  } else if (data[0] == 2) {
    recording.Read("metadata", bytes);
  } else {
    recording.Read("processor-0-0", PacketOf(bytes));
  }
  return 0;
}
