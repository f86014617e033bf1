// `jprof combine`: makes a combined profile of a counted profile and sampled ones.
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "calibrate/store/run_history.h"
#include "cli/commands/combined_output.h"
#include "cli/shared/commands.h"
#include "cli/shared/profile_source.h"
#include "cli/shared/usage_error.h"
#include "profile/read/imported.h"
#include "profile/read/reader.h"
#include "record/place/profile_copy.h"
#include "record/place/profile_place.h"
#include "record/place/recording_summary.h"

namespace jprof::cli {
namespace {

using profile::Reader;
using record::DisplayPath;

namespace fs = std::filesystem;

struct CombineArguments {
  std::vector<std::string> profiles;
  std::string out;
  bool force = false;
};

bool IsCounted(const Reader& reader) {
  return reader.meta().is(Mode::kCallflow) || reader.meta().is(Mode::kCalltree);
}

bool IsSampled(const Reader& reader) {
  return reader.meta().is(Mode::kScs) &&
         std::ranges::any_of(reader.meta().metrics, &profile::Metric::is_cpu_samples);
}

Result<Reader> OpenRun(const std::string& path) {
  if (profile::IsCombined(path)) {
    return WrongUse("{} is a combined profile; name the profiles in it: {}, {}", path,
                    DisplayPath(fs::path(path) / profile::kCountedProfile),
                    DisplayPath(fs::path(path) / profile::SampledProfile(1)));
  }
  if (!record::IsSeveral(path)) {
    if (auto can = RefuseEvents(path, "combined"); !can) return std::unexpected(can.error());
  }
  return Reader::Open(BusiestIn(path));
}

std::unexpected<Error> NotCounted(const Reader& reader) {
  return WrongUse(
      "{}: a profile of {} does not count calls; the first profile must be of callflow or "
      "calltree: jprof combine COUNTED SAMPLED... -o OUT",
      reader.shown(), reader.meta().mode);
}

std::unexpected<Error> NotSampled(const Reader& reader) {
  const std::string& mode = reader.meta().mode;
  if (const auto imported = profile::ReadImported(reader.directory())) {
    const auto& metrics = reader.meta().metrics;
    const bool is_elapsed =
        !metrics.empty() && metrics.front().period.clock == profile::Period::Clock::kElapsed;
    return WrongUse("{}: {}: jprof import {} {}", reader.shown(),
                    is_elapsed ? "its samples are of elapsed time; import those of CPU time"
                               : "it is not known which CPU time its samples stand for; state it",
                    imported->file, is_elapsed ? "--event NAME" : "--period 10ms");
  }
  if (reader.meta().is(Mode::kScs)) {
    return WrongUse("{}: its samples are not of CPU time; record it with: jprof scs -- COMMAND",
                    reader.shown());
  }
  const bool altered = IsCounted(reader) && !reader.meta().metrics.empty() &&
                       reader.meta().metrics.front().is_samples();
  return WrongUse("{}: a profile of {}{}; a sampled profile is made by: jprof scs -- COMMAND",
                  reader.shown(), mode,
                  altered ? " has samples of altered code, whose times are not true"
                          : " has no samples of the unmodified program");
}

// Makes the error for arguments of the right kinds of which the counted one is not first.
std::unexpected<Error> WrongOrder(const std::vector<Reader>& readers, size_t counted,
                                  const std::string& out) {
  std::vector<std::string> sampled;
  for (size_t i = 0; i < readers.size(); ++i)
    if (i != counted) sampled.push_back(DisplayPath(readers[i].directory()));
  return WrongUse(
      "{} is the counted profile ({}), {} {} sampled; the "
      "counted one comes first: jprof combine {} {} -o {}",
      readers[counted].directory(), readers[counted].meta().mode, fmt::join(sampled, ", "),
      sampled.size() == 1 ? "is" : "are", DisplayPath(readers[counted].directory()),
      fmt::join(sampled, " "), DisplayPath(out));
}

Result<void> CheckKinds(const std::vector<Reader>& readers, const std::string& out) {
  const auto counted = std::ranges::find_if(readers, IsCounted);
  const bool others_sampled = std::ranges::all_of(
      readers, [&](const Reader& reader) { return &reader == &*counted || IsSampled(reader); });
  if (counted != readers.end() && counted != readers.begin() && others_sampled)
    return WrongOrder(readers, static_cast<size_t>(counted - readers.begin()), out);
  if (!IsCounted(readers.front())) return NotCounted(readers.front());
  for (size_t i = 1; i < readers.size(); ++i)
    if (!IsSampled(readers[i])) return NotSampled(readers[i]);
  return {};
}

// Fails if replacing OUT would remove a profile that is to be copied.
Result<void> CheckPaths(const CombineArguments& arguments) {
  std::error_code failed;
  const fs::path out = fs::weakly_canonical(fs::absolute(arguments.out), failed);
  std::vector<fs::path> seen;
  for (const std::string& profile : arguments.profiles) {
    const fs::path path = fs::canonical(profile, failed);
    if (std::ranges::count(seen, path) != 0)
      return WrongUse("{} is named twice; each profile can be used once", profile);
    if (const fs::path inside = path.lexically_relative(out); *inside.begin() != "..")
      return WrongUse("-o {} contains {}, which is to be copied; choose another directory",
                      arguments.out, profile);
    seen.push_back(path);
  }
  return {};
}

Result<std::vector<Reader>> OpenProfiles(const CombineArguments& arguments) {
  if (arguments.profiles.size() < 2) {
    return WrongUse(
        "a counted profile and at least one sampled profile are required: jprof combine COUNTED "
        "SAMPLED... -o OUT");
  }
  if (arguments.out.empty()) {
    return WrongUse("-o is required: jprof combine {} -o OUT", fmt::join(arguments.profiles, " "));
  }
  std::vector<Reader> readers;
  for (const std::string& path : arguments.profiles) {
    auto reader = OpenRun(path);
    if (!reader) return std::unexpected(reader.error());
    readers.push_back(*std::move(reader));
  }
  if (const auto kinds = CheckKinds(readers, arguments.out); !kinds)
    return std::unexpected(kinds.error());
  if (const auto paths = CheckPaths(arguments); !paths) return std::unexpected(paths.error());
  return readers;
}

// Returns the CPU time of the recorded threads. Returns nothing if the program did not end
// normally, because threads write their CPU time when they end.
std::optional<double> CpuSeconds(const Reader& reader) {
  const uint64_t ns = reader.header().finished == 0 ? 0 : reader.CpuNanos();
  return ns > 0 ? std::optional(static_cast<double>(ns) / 1e9) : std::nullopt;
}

profile::CombinedMeta Describe(const std::vector<Reader>& readers) {
  profile::CombinedMeta meta = {.jprof = JPROF_VERSION,
                                .start = readers.front().meta().start,
                                .from = "combine",
                                .command = readers.front().meta().command};
  // The program's own history may contain these runs.
  meta.usual = calibrate::UsualSpreads(calibrate::ReadHistory(), calibrate::kNoProgram);
  for (size_t i = 0; i < readers.size(); ++i) {
    const Reader& reader = readers[i];
    profile::Run run = {
        .role = i == 0 ? profile::Run::Role::kCounted : profile::Run::Role::kSampled,
        .profile = i == 0 ? profile::kCountedProfile : profile::SampledProfile(static_cast<int>(i)),
        .cpu_seconds = CpuSeconds(reader),
        .output_note = "not known"};
    meta.start = std::min(meta.start, reader.meta().start);
    if (reader.header().finished == 0) {
      meta.notes.push_back(
          fmt::format("{}: the program was still running when it was copied, or ended abnormally",
                      run.profile));
    }
    for (const std::string& damage : reader.damages().Lines())
      meta.notes.push_back(fmt::format("{}: {}", run.profile, damage));
    meta.runs.push_back(std::move(run));
  }
  return meta;
}

Result<void> CopyAll(const std::vector<Reader>& readers, const profile::CombinedMeta& meta,
                     const fs::path& out) {
  if (auto made = record::MakePlace(out); !made) return made;
  for (size_t i = 0; i < readers.size(); ++i) {
    auto copied = record::CopyProfile(readers[i].directory(), out / meta.runs[i].profile);
    if (!copied) return copied;
  }
  return record::WriteRuns(out, meta);
}

Result<void> Combine(const CombineArguments& arguments) {
  const auto readers = OpenProfiles(arguments);
  if (!readers) return std::unexpected(readers.error());
  const auto out = record::PreparePlace(arguments.out, arguments.force);
  if (!out) return std::unexpected(out.error());
  const profile::CombinedMeta meta = Describe(*readers);
  if (auto copied = CopyAll(*readers, meta, *out); !copied) {
    std::error_code ignored;
    fs::remove_all(*out, ignored);
    return copied;
  }
  for (const std::string& note : meta.notes) PrintError(note);
  PrintError(fmt::format("combined profile: {}", DisplayPath(*out)));
  return PrintCombinedReport(*out, stdout);
}

}  // namespace

Action CombineCommand(CommandLine line, const Command&) {
  auto arguments = std::make_shared<CombineArguments>();
  line.Footer(
      "The profiles are copied. `jprof profile` does "
      "all this for a program that can be run again.\n\n"
      "Examples:\n"
      "  jprof combine counted.jprof sampled.jprof -o app.jprof     of a server, for instance\n"
      "  jprof combine tree.jprof monday.jprof friday.jprof -o app.jprof\n"
      "  jprof report combined app.jprof");
  line.Option("PROFILES", arguments->profiles, "PROFILE",
              "COUNTED SAMPLED...: a profile of callflow or calltree, then those of scs");
  line.Option("-o,--out", arguments->out, "DIR", "The directory of the combined profile");
  line.Flag("--force", arguments->force, "Replace an existing profile");
  return [arguments] { return StatusOf(Combine(*arguments)); };
}

}  // namespace jprof::cli
