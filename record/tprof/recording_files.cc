#include "record/tprof/recording_files.h"

#include <sys/utsname.h>

#include <cstring>
#include <fstream>

#include "profile/files/recording_meta.h"
#include "profile/files/whole_file.h"

namespace jprof::record {
namespace {

namespace fs = std::filesystem;

Result<void> WriteFile(const fs::path& path, const std::string& text) {
  if (const auto written = profile::WriteWholeFile(path, text); !written)
    return Fail("{}; choose another directory with -o", written.error().message);
  return {};
}

std::string Platform() {
  utsname name = {};
  uname(&name);
  return fmt::format("{} {} {}", name.sysname, name.release, name.machine);
}

// Returns whether a line such as "ffffffff81000000 T _text" is of code.
bool IsCode(const std::string& line) {
  const size_t kind = line.find(' ') + 1;
  return kind < line.size() && std::strchr("tTwW", line[kind]) != nullptr;
}

}  // namespace

std::string SamplingText(const ptm::CpuSamplerOptions& options) {
  if (options.rate == 0)
    return fmt::format("event {}, every {}", options.event.name, options.period);
  if (options.event.name == ptm::CpuClock().name)
    return fmt::format("time, {} samples/s on each CPU", options.rate);
  return fmt::format("event {}, about {} samples/s on each CPU", options.event.name, options.rate);
}

Result<void> WriteRecordingMeta(const TprofPlan& plan, const std::vector<std::string>& notes) {
  const profile::RecordingMeta meta = {.sampling = SamplingText(plan.sampling),
                                       .platform = Platform(),
                                       .command = plan.command,
                                       .notes = notes};
  return WriteFile(plan.out / profile::kRecordingFile, profile::ToJson(meta));
}

Result<void> KeepKernelSymbols(const fs::path& kallsyms, const fs::path& out) {
  std::ifstream from(kallsyms);
  std::string text, line;
  bool first = true;
  while (std::getline(from, line)) {
    if (first && line.starts_with("0000000000000000")) return {};
    first = false;
    if (IsCode(line)) text += line + '\n';
  }
  if (first) return {};
  return WriteFile(out / "kallsyms", text);
}

}  // namespace jprof::record
