#include "cli/shared/export_source.h"

#include <filesystem>

#include "cli/shared/choices.h"
#include "cli/shared/report_options.h"
#include "profile/files/printable_text.h"

namespace jprof::cli {
namespace {

namespace fs = std::filesystem;

// Returns "app" of "runs/app.jprof/".
std::string StemOf(const std::string& directory) {
  fs::path path = fs::path(directory).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  if (path == "." || path == "..") {
    std::error_code error;
    path = fs::canonical(path, error);
  }
  const std::string stem =
      path.extension() == ".jprof" || path.extension() == ".itrace" ? path.stem() : path.filename();
  return stem.empty() || stem == "/" ? "profile" : stem;
}

// Fails if what the directory holds cannot be exported, or not with these options.
Result<void> CheckChoice(const std::string& directory, const ExportChoice& choice) {
  const model::InputKind kind = model::KindOf(directory);
  const std::string shown = profile::CleanText(directory);
  if (kind == model::InputKind::kTicks) {
    return WrongUse(
        "{0} is a recording of jprof tprof, which has no call tree; print its stacks with: jprof "
        "report tprof --format collapsed {0}",
        shown);
  }
  if (kind == model::InputKind::kScale) {
    return WrongUse(
        "{0} is {1}; export the profile of one of its sizes, which are in it: jprof info {0}",
        shown, model::NameOf(kind));
  }
  if (kind == model::InputKind::kTrace && (choice.table.uncalibrated || !choice.table.file.empty()))
    return WrongUse("a trace of jprof itrace is exact: leave out --table and --uncalibrated");
  if (kind == model::InputKind::kCombined && !choice.metric.empty()) {
    return WrongUse("{} is a combined profile, which has no --metric; name one of its profiles: {}",
                    shown, model::RunPaths(directory));
  }
  return {};
}

void AddChoices(CommandLine line, ExportChoice& choice) {
  line.Option("--threads", choice.threads, "separate|merged",
              "separate (default) or merged: all threads as one tree");
  line.Option("--metric", choice.metric, "NAME", "Only this metric or event, and the calls");
  AddWindowOption(line, choice.table);
  AddTableOptions(line, choice.table);
}

}  // namespace

void AddExportOptions(CommandLine line, ExportChoice& choice) {
  line.Option("profile", choice.directory, "PROFILE",
              "The profile's directory, or a URL of a fleet; the newest *.jprof here if left out");
  AddChoices(line, choice);
}

void AddExportOptions(CommandLine line, std::vector<std::string>& profiles, ExportChoice& choice) {
  line.Option("profiles", profiles, "PROFILE",
              "The profile's directory, of a fleet also several; the newest *.jprof here if left "
              "out");
  AddChoices(line, choice);
}

Result<reports::ExportInput> OpenForExport(const ExportChoice& choice) {
  const Result<size_t> threads = Choose("--threads", choice.threads, {"separate", "merged"});
  if (!threads) return std::unexpected(threads.error());
  const Result<std::string> directory =
      choice.directory.empty() ? NewestProfile(/*combined=*/true) : choice.directory;
  if (!directory) return std::unexpected(directory.error());
  if (auto fits = CheckChoice(*directory, choice); !fits) return std::unexpected(fits.error());
  auto input = OpenNamed(*directory, choice.table);
  if (!input) return std::unexpected(input.error());
  const bool merged = *threads == 1 || model::KindOf(*input) == model::InputKind::kCombined;
  return reports::ExportInput{.name = profile::CleanText(StemOf(*directory)),
                              .input = *std::move(input),
                              .options = {.merged = merged, .metric = choice.metric}};
}

}  // namespace jprof::cli
