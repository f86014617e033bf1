#include "profile/read/combined.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "profile/files/json_fields.h"
#include "profile/read/list_file.h"

namespace jprof::profile {
namespace {

using nlohmann::json;

constexpr uint64_t kRunsFormat = 1;
constexpr const char* kRoles[] = {"counted", "sampled"};        // in the order of Run::Role
constexpr const char* kOutputs[] = {"", "equal", "different"};  // in the order of Run::Output
constexpr uint64_t kMostExitStatus = 255;

json ToJson(const Run& run) {
  json value = {{"role", kRoles[static_cast<size_t>(run.role)]}, {"profile", run.profile}};
  if (run.wall_seconds) value["wall_seconds"] = *run.wall_seconds;
  if (run.cpu_seconds) value["cpu_seconds"] = *run.cpu_seconds;
  if (run.exit_status) value["exit_status"] = *run.exit_status;
  if (run.output != Run::Output::kUnknown)
    value["output"] = kOutputs[static_cast<size_t>(run.output)];
  if (!run.output_note.empty()) value["output_note"] = run.output_note;
  return value;
}

json ToJson(const RunSpread& spread) {
  return {{"relative", spread.relative}, {"freedom", spread.freedom}};
}

json ToJson(const RunSpreads& spreads) {
  return {{"total", ToJson(spreads.total)},
          {"share", ToJson(spreads.share)},
          {"own_share", ToJson(spreads.own_share)},
          {"profiles", spreads.profiles}};
}

// Reads a spread that intervals can be made of; any other keeps its default.
void ReadSpread(const JsonFields& fields, const char* name, RunSpread& spread) {
  constexpr double kMostRelative = 10, kMostFreedom = 2000;
  RunSpread read;
  const JsonFields values(fields.At(name));
  values.Read("relative", read.relative);
  values.Read("freedom", read.freedom);
  if (read.relative > 0 && read.relative < kMostRelative && read.freedom >= 1 &&
      read.freedom < kMostFreedom)
    spread = read;
}

RunSpreads ParseSpreads(const JsonFields& fields) {
  RunSpreads spreads;
  ReadSpread(fields, "total", spreads.total);
  ReadSpread(fields, "share", spreads.share);
  ReadSpread(fields, "own_share", spreads.own_share);
  fields.Read("profiles", spreads.profiles);
  return spreads;
}

bool IsDirectoryName(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && !name.contains('/') &&
         !name.contains('\0');
}

// Returns whether the profile is inside the combined profile: the path is that of a directory, or
// of one in a directory.
bool IsInside(std::string_view path) {
  const size_t slash = path.find('/');
  return IsDirectoryName(path.substr(0, slash)) &&
         (slash == path.npos || IsDirectoryName(path.substr(slash + 1)));
}

std::optional<double> Seconds(const JsonFields& fields, const char* name) {
  double seconds = -1;
  fields.Read(name, seconds);
  return std::isfinite(seconds) && seconds >= 0 ? std::optional(seconds) : std::nullopt;
}

// Returns the run, or nothing if it cannot be used; `damages` then has the reason.
std::optional<Run> ParseRun(const JsonFields& fields, Damages& damages) {
  Run run;
  std::string role, output;
  fields.Read("role", role);
  fields.Read("profile", run.profile);
  const auto known = std::ranges::find(kRoles, role);
  if (known == std::end(kRoles)) {
    damages.Add("a run is neither counted nor sampled", role);
    return std::nullopt;
  }
  run.role = static_cast<Run::Role>(known - std::begin(kRoles));
  const json& name = fields.At("profile");
  if (!name.is_string() || !IsInside(name.get_ref<const std::string&>())) {
    damages.Add("the profile of a run is not the name of a directory inside the combined profile",
                run.profile);
    return std::nullopt;
  }
  run.wall_seconds = Seconds(fields, "wall_seconds");
  run.cpu_seconds = Seconds(fields, "cpu_seconds");
  uint64_t status = kMostExitStatus + 1;
  fields.Read("exit_status", status);
  if (status <= kMostExitStatus) run.exit_status = static_cast<int>(status);
  fields.Read("output", output);
  if (output == kOutputs[1]) run.output = Run::Output::kEqual;
  if (output == kOutputs[2]) run.output = Run::Output::kDiffers;
  fields.Read("output_note", run.output_note);
  return run;
}

}  // namespace

std::string CountedProfile(int number) {
  return number == 1 ? kCountedProfile : fmt::format("{}-{}", kCountedProfile, number);
}

std::string SampledProfile(int number) { return fmt::format("sampled-{}", number); }

std::string ToJson(const CombinedMeta& meta) {
  json runs = json::array();
  for (const Run& run : meta.runs) runs.push_back(ToJson(run));
  const json root = {{"format", kRunsFormat},
                     {"jprof", meta.jprof},
                     {"start", meta.start},
                     {"from", meta.from},
                     {"command", meta.command},
                     {"notes", meta.notes},
                     {"runs", runs},
                     {"usual_spread", ToJson(meta.usual)}};
  return root.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

CombinedMeta ParseCombined(std::string_view text, Damages& damages) {
  CombinedMeta meta;
  const json root = ParseListFile(text, kRunsFormat, damages);
  if (!root.is_object()) return meta;
  const JsonFields fields(root);
  fields.Read("jprof", meta.jprof);
  fields.Read("start", meta.start);
  fields.Read("from", meta.from);
  meta.command = fields.Texts("command");
  meta.notes = fields.Texts("notes");
  meta.usual = ParseSpreads(JsonFields(fields.At("usual_spread")));
  if (const json& runs = fields.At("runs"); runs.is_array()) {
    for (const json& run : runs) {
      if (auto parsed = ParseRun(JsonFields(run), damages)) meta.runs.push_back(*std::move(parsed));
    }
  }
  return meta;
}

bool IsCombined(const std::filesystem::path& directory) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(directory / kRunsFile, ignored);
}

Result<CombinedMeta> ReadCombined(const std::filesystem::path& directory) {
  const auto text =
      ReadListFile(directory, {.name = kRunsFile,
                               .directory = "a combined profile",
                               .make = "jprof profile -- CMD, or from profiles: jprof combine"});
  if (!text) return std::unexpected(text.error());
  Damages damages;
  CombinedMeta meta = ParseCombined(*text, damages);
  if (damages.empty() && meta.runs.empty()) damages.Add("it names no run");
  if (damages.empty()) return meta;
  return Fail("{}: damaged: {}; make the combined profile again from its profiles: jprof combine",
              (directory / kRunsFile).string(), damages.Lines().front());
}

}  // namespace jprof::profile
