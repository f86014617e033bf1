// libFuzzer: any bytes as a profile, with every report of it. There must be no crash, no sanitizer
// report, no endless loop and no invalid JSON in a JSON report.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "reports/report_list.h"
#include "tests/fuzz/packed_profile.h"

namespace {

using namespace jprof;

std::filesystem::path Directory() {
  static std::filesystem::path directory =
      std::filesystem::temp_directory_path() / ("profile-fuzz-" + std::to_string(getpid()));
  std::filesystem::create_directories(directory);
  std::atexit([] { std::filesystem::remove_all(directory); });
  return directory;
}

void Print(const reports::Report& report, const std::string& directory,
           const reports::Options& options) {
  Result<profile::Reader> reader = profile::Reader::Open(directory);
  if (!reader) return;
  model::Source source{std::move(*reader), {}, "its own", "none"};
  if (auto table = calibrate::FromJson(source.reader.ReadCalibration()))
    source.table = std::move(*table);
  model::Input input = std::move(source);
  char* text = nullptr;
  size_t size = 0;
  std::FILE* file = open_memstream(&text, &size);
  reports::Output out(file);
  const bool printed = report.print(input, options, out).has_value() && out.Finish().has_value();
  std::fclose(file);
  if (printed && options.format == reports::Format::kJson &&
      !nlohmann::json::accept(std::string_view(text, size))) {
    std::fprintf(stderr, "%s is no JSON: %.2000s\n", report.name, text);
    std::abort();
  }
  std::free(text);
}

}  // namespace

// The first byte selects the options.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  static const std::filesystem::path directory = Directory();
  fuzz::Unpack({reinterpret_cast<const char*>(data) + 1, size - 1}, directory);
  reports::Options options;
  options.format = static_cast<reports::Format>(data[0] % 4);
  options.merged = data[0] & 4;
  options.cumulative = data[0] & 8;
  options.raw = options.contexts = data[0] & 16;
  options.sort = static_cast<model::Sort>((data[0] >> 5) % 3);
  if (data[0] & 128) options.min_percent = 1;
  for (const reports::Report& report : reports::Reports()) {
    if (report.print != nullptr && report.Prints(model::InputKind::kProfile))
      Print(report, directory, options);
  }
  return 0;
}
