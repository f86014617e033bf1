#include "record/recording_files.h"

#include <sys/utsname.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>

#include "common/errno_text.h"
#include "profile/recording_meta.h"

namespace jprof::record {
namespace {

namespace fs = std::filesystem;

Result<void> WriteFile(const fs::path& path, const std::string& text) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "we"),
                                                             std::fclose);
  if (file != nullptr && std::fwrite(text.data(), 1, text.size(), file.get()) == text.size() &&
      std::fflush(file.get()) == 0)
    return {};
  return Fail("cannot write {}: {}; choose another directory with -o", path.string(), ErrnoText());
}

std::string Platform() {
  utsname name = {};
  uname(&name);
  return fmt::format("{} {} {}", name.sysname, name.release, name.machine);
}

// "ffffffff81000000 T _text"
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
  const fs::path path = plan.out / profile::kRecordingFile, temporary = path.string() + ".tmp";
  const profile::RecordingMeta meta = {.sampling = SamplingText(plan.sampling),
                                       .platform = Platform(),
                                       .command = plan.command,
                                       .notes = notes};
  if (auto written = WriteFile(temporary, profile::ToJson(meta)); !written) return written;
  if (std::rename(temporary.c_str(), path.c_str()) == 0) return {};
  return Fail("cannot make {}: {}", path.string(), ErrnoText());
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
