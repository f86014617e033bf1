#include "profile/import/importer.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "common/utc_text.h"
#include "profile/files/printable_text.h"
#include "profile/import/formats.h"

namespace jprof::profile {
namespace {

// The formats of texts are last: binary ones are recognised by their first bytes.
constexpr ForeignFormat kForeignFormats[] = {
    {"jfr", "recordings of JDK Flight Recorder, and of async-profiler in that format",
     RecognisesJfr, ReadJfr},
    {"pprof", "profile.proto, as Go, Pyroscope, Parca and `jprof export` write it", RecognisesPprof,
     ReadPprof},
    {"perf", "the output of perf script", RecognisesPerf, ReadPerf},
    {"collapsed", "one line per stack, frames separated by ';', and a number", RecognisesCollapsed,
     ReadCollapsed},
};

}  // namespace

std::span<const ForeignFormat> ForeignFormats() { return kForeignFormats; }

Result<const ForeignFormat*> ChooseFormat(std::string_view name, std::string_view bytes,
                                          std::string_view file) {
  std::vector<std::string_view> names;
  for (const ForeignFormat& format : kForeignFormats) {
    names.push_back(format.name);
    if (name.empty() ? !bytes.empty() && format.recognises(bytes) : format.name == name)
      return &format;
  }
  if (!name.empty())
    return WrongUse("--format {}: choose one of {}", CleanText(name), fmt::join(names, ", "));
  if (bytes.empty()) return Fail("{} is empty", CleanText(file));
  return WrongUse(
      "{}: its content is of none of the formats {}; if it is one of them, name it: "
      "--format",
      CleanText(file), fmt::join(names, ", "));
}

Result<ForeignRun> ReadForeign(const ForeignFormat& format, std::string_view bytes,
                               std::string_view file, const ImportOptions& options,
                               SampleTree& tree) {
  auto run = format.read(bytes, options, tree);
  if (run) {
    if (auto checked = tree.Check(); !checked) run = std::unexpected(checked.error());
  }
  if (run && tree.samples() == 0) run = Fail("it has no samples");
  if (!run) {
    return std::unexpected(
        Error{fmt::format("{}: {}", CleanText(file), run.error().message), run.error().kind});
  }
  Meta& meta = run->meta;
  run->imported.format = format.name;
  run->imported.file = file;
  if (run->start_unix_ns != 0)
    meta.start = UtcText(static_cast<time_t>(run->start_unix_ns / 1'000'000'000));
  return run;
}

}  // namespace jprof::profile
