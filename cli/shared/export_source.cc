#include "cli/shared/export_source.h"

#include <filesystem>

#include "cli/shared/choices.h"
#include "cli/shared/report_options.h"
#include "profile/files/printable_text.h"
#include "profile/files/recording_meta.h"
#include "profile/read/combined.h"

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

Result<ExportSource> OpenTrace(const std::string& directory, const ExportChoice& choice) {
  if (choice.table.uncalibrated || !choice.table.file.empty())
    return WrongUse("a trace of jprof itrace is exact: leave out --table and --uncalibrated");
  auto arcs = reports::OpenArcRecording(directory);
  if (!arcs) return std::unexpected(arcs.error());
  ExportSource opened = {.name = profile::CleanText(StemOf(directory))};
  opened.arcs = *std::move(arcs);
  return opened;
}

}  // namespace

reports::ExportInput ExportSource::Input(const ExportChoice& choice) {
  reports::ExportInput input = {.name = name};
  if (combined) input.combined = &*combined;
  if (source) input.source = &*source;
  if (arcs) input.arcs = &*arcs;
  input.options.merged = choice.threads == "merged" || combined.has_value();
  input.options.metric = choice.metric;
  return input;
}

void AddExportOptions(CommandLine line, ExportChoice& choice) {
  line.Option("profile", choice.directory, "PROFILE",
              "The profile's directory; the newest *.jprof here if left out");
  line.Option("--threads", choice.threads, "separate|merged",
              "separate (default) or merged: all threads as one tree");
  line.Option("--metric", choice.metric, "NAME", "Only this metric or event, and the calls");
  AddTableOptions(line, choice.table);
}

Result<ExportSource> OpenForExport(const ExportChoice& choice) {
  const Result<size_t> threads = Choose("--threads", choice.threads, {"separate", "merged"});
  if (!threads) return std::unexpected(threads.error());
  const Result<std::string> directory =
      choice.directory.empty() ? NewestProfile(/*combined=*/true) : choice.directory;
  if (!directory) return std::unexpected(directory.error());
  if (reports::IsArcRecording(*directory)) return OpenTrace(*directory, choice);
  std::error_code error;
  if (fs::exists(fs::path(*directory) / profile::kRecordingFile, error)) {
    return WrongUse(
        "{0} is a recording of jprof tprof, which has no call tree; print its stacks with: jprof "
        "report tprof --format collapsed {0}",
        profile::CleanText(*directory));
  }
  ExportSource opened = {.name = profile::CleanText(StemOf(*directory))};
  if (!profile::IsCombined(*directory)) {
    Result<reports::Source> source = OpenSource(*directory, choice.table);
    if (!source) return std::unexpected(source.error());
    opened.source = *std::move(source);
    return opened;
  }
  if (!choice.metric.empty()) {
    return WrongUse("{} is a combined profile, which has no --metric; name one of its profiles: {}",
                    profile::CleanText(*directory), RunPaths(*directory));
  }
  Result<reports::Combined> combined = OpenCombined(*directory, choice.table);
  if (!combined) return std::unexpected(combined.error());
  opened.combined = *std::move(combined);
  return opened;
}

}  // namespace jprof::cli
