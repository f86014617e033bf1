// libFuzzer: by the first byte, reads the others as a specification of events, of which everything
// is generated then, or as a packet, the statistics or the metadata of a trace. There must be no
// crash, no sanitizer report and no endless loop.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "events/generate/generate.h"
#include "events/read/follow.h"
#include "events/read/trace.h"
#include "events/spec/identity.h"
#include "tests/unit/events/small_specification.h"
#include "tests/unit/temporary_directory.h"

namespace {

using namespace jprof;

void Parse(std::string_view text) {
  const auto read = events::ParseSpecification(text, "fuzzed.xml");
  if (!read) {
    if (!read.error().message.starts_with("fuzzed.xml:")) std::abort();
    return;
  }
  if (!CheckIdentities(*read, IdentityLines(*read))) std::abort();
  for (const events::Language& language : events::kLanguages)
    for (const events::GeneratedFile& file : language.generate(*read))
      if (file.text.empty()) std::abort();
}

void Write(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// A trace of which one file is fuzzed.
struct FuzzedTrace {
  FuzzedTrace() {
    std::filesystem::create_directories(place.path() / "specifications");
    std::filesystem::create_directories(place.path() / "statistics");
    Write(place.path() / "specifications" / "shop.xml", events::kSmall);
    Write(place.path() / "statistics" / "events", "epoch 1\na0ac1746 shop::orders::order_begin\n");
  }

  void Read(const char* name, std::string_view bytes) const {
    Write(place.path() / name, bytes);
    auto trace = events::OpenTrace(place.path());
    if (!trace) std::abort();
    uint64_t records = 0;
    VisitRecords(*trace, [&](const events::Record& record) {
      if (record.values.size() != record.event.fields.size()) std::abort();
      ++records;
    });
    if (records > bytes.size() / 12) std::abort();
    auto follower = events::Follower::Open(place.path());
    if (!follower) std::abort();
    follower->Read([&](const events::Record&, events::UnixTime time) {
      if (time.nanos >= 1'000'000'000) std::abort();
      --records;
    });
    if (records != 0) std::abort();
    std::filesystem::remove(place.path() / name);
  }

  TemporaryDirectory place{"events-fuzz"};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const FuzzedTrace trace;
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] == 1) {
    trace.Read("thread-0-0", bytes);
  } else if (data[0] == 2) {
    trace.Read("statistics/thread-0", bytes);
  } else if (data[0] == 3) {
    trace.Read("metadata", bytes);
  } else {
    Parse(bytes);
  }
  return 0;
}
