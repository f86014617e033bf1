// Writes the seed corpus of profile_fuzz: small good profiles, packed.
#include <zstd.h>

#include <cstdio>

#include "tests/fuzz/packed_profile.h"
#include "tests/unit/reports/demo_profile.h"

namespace {

using namespace jprof;

void Save(const std::filesystem::path& corpus, const std::string& name, profile::SyntheticProfile made, bool compress) {
  const std::filesystem::path directory = corpus / "seed.tmp";
  std::filesystem::remove_all(directory);
  made.calibration = calibrate::ToJson(reports::DemoTable(3));
  if (made.calibration.size() > 4000) {  // a few keys are enough, and quicker to mutate
    calibrate::Table small = reports::DemoTable(3);
    auto& keys = small.metrics[0].keys;
    while (keys.size() > 8) keys.erase(std::prev(keys.end()));
    made.calibration = calibrate::ToJson(small);
  }
  made.Write(directory);
  if (compress) {
    std::string frame(ZSTD_compressBound(made.trace.size()), '\0');
    frame.resize(ZSTD_compress(frame.data(), frame.size(), made.trace.data(), made.trace.size(), 3));
    std::ofstream(directory / profile::kCompressedTraceFile, std::ios::binary) << frame;
    std::filesystem::remove(directory / profile::kTraceFile);
  } else if (made.with_trace) {  // the unused rest of the only block
    std::filesystem::resize_file(directory / profile::kTraceFile, 600);
  }
  for (const char options : {'\0', '\x9d', '\x3e'}) {
    std::ofstream(corpus / (name + std::to_string(options & 3)), std::ios::binary) << options << fuzz::Pack(directory);
  }
  std::filesystem::remove_all(directory);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s CORPUS_DIRECTORY\n", argv[0]);
    return 2;
  }
  std::filesystem::create_directories(argv[1]);
  Save(argv[1], "demo", reports::DemoProfile(), false);
  Save(argv[1], "trace", reports::DemoProfile(true), false);
  Save(argv[1], "zstd", reports::DemoProfile(true), true);
  Save(argv[1], "random", reports::RandomProfile(1, 2, 60), false);
  profile::SyntheticProfile two = reports::RandomProfile(2, 2, 40);
  two.header.metric_count = 2;
  two.meta = R"({"mode":"callflow","metrics":[{"name":"time","unit":"ns","scale":0.5,"kind":"time"},
                 {"name":"PAPI_TOT_INS","unit":"events","scale":1,"kind":"count"}]})";
  Save(argv[1], "two", two, false);
}
