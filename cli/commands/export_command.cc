// `jprof export`: writes a profile in a format of other tools.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/fleet/fetched.h"
#include "cli/shared/choices.h"
#include "cli/shared/commands.h"
#include "cli/shared/export_source.h"
#include "cli/shared/output_file.h"
#include "cli/shared/usage_error.h"
#include "common/shell_word.h"
#include "profile/files/printable_text.h"
#include "reports/print/output.h"

namespace jprof::cli {
namespace {

namespace fs = std::filesystem;

struct ExportArguments {
  ExportChoice choice;
  std::string format;  // if empty, by the extension of `out`, else by the profile
  std::string out;     // named after the profile if empty; "-" is standard output
};

const reports::ExportFormat& FormatNamed(std::string_view name) {
  for (const reports::ExportFormat& format : reports::ExportFormats()) {
    if (format.name == name) return format;
  }
  return reports::ExportFormats().front();
}

std::string ExportNames(std::string_view separator) {
  std::string names;
  for (const reports::ExportFormat& format : reports::ExportFormats())
    names += fmt::format("{}{}", names.empty() ? "" : separator, format.name);
  return names;
}

// Returns the format of --format, else that of the extension of -o, else the one that suits the
// profile.
const reports::ExportFormat& FormatFor(const ExportArguments& arguments,
                                       const reports::ExportInput& input) {
  if (!arguments.format.empty()) return FormatNamed(arguments.format);
  for (const reports::ExportFormat& format : reports::ExportFormats()) {
    if (arguments.out.ends_with(format.extension)) return format;
  }
  return FormatNamed(model::HasContexts(input.input) ? "pprof" : "perfetto");
}

Result<void> CheckOutput(const ExportArguments& arguments, const reports::ExportFormat& format) {
  if (arguments.out != "-") return {};
  if (format.write == nullptr)
    return WrongUse("{} needs a file: name one with -o, or leave -o out", format.name);
  if (format.binary && isatty(STDOUT_FILENO) != 0) {
    return WrongUse("{} is binary, and standard output is a terminal; name a file with -o",
                    format.name);
  }
  return {};
}

Result<void> WriteTo(std::FILE* file, const reports::ExportFormat& format,
                     reports::ExportInput& input) {
  reports::Output out(file);
  if (auto written = format.write(input, out); !written) return written;
  return out.Finish();
}

// Writes a new file.
Result<void> WriteNewFile(const std::string& path, const reports::ExportFormat& format,
                          reports::ExportInput& input) {
  if (format.write_file != nullptr) return format.write_file(input, path);
  return PrintToNewFile(path, [&](std::FILE* file) { return WriteTo(file, format, input); });
}

// Returns the command that opens the file.
std::string OpenCommand(const reports::ExportFormat& format, const std::string& path) {
  std::string command = format.open;
  command.replace(command.find("FILE"), 4, ShellWord(profile::CleanText(path)));
  return command;
}

// Fails for a path in the folder that is exported, or the folder itself.
Result<void> CheckOutside(const std::string& path, std::string_view directory) {
  std::error_code ignored;
  const fs::path target = fs::weakly_canonical(path, ignored);
  const fs::path from = fs::canonical(directory, ignored);
  const auto [in_from, in_target] = std::ranges::mismatch(from, target);
  if (from.empty() || in_from != from.end()) return {};
  return WrongUse("{} is {}what is exported; choose another place with -o",
                  profile::CleanText(path), in_target == target.end() ? "" : "in ");
}

Result<void> Run(ExportArguments& arguments) {
  if (!arguments.format.empty()) {  // an unknown format is an error before anything is opened
    std::vector<std::string_view> names;
    for (const auto& format : reports::ExportFormats()) names.push_back(format.name);
    if (auto chosen = Choose("--format", arguments.format, names); !chosen)
      return std::unexpected(chosen.error());
  }
  if (auto fetched = FetchIfUrl(arguments.choice.directory); !fetched) return fetched;
  auto opened = OpenForExport(arguments.choice);
  if (!opened) return std::unexpected(opened.error());
  reports::ExportInput& input = *opened;
  const reports::ExportFormat& format = FormatFor(arguments, input);
  if (auto can = CheckExportable(format, input); !can) return can;
  if (auto can = CheckOutput(arguments, format); !can) return can;
  if (arguments.out == "-") {
    auto written = WriteTo(stdout, format, input);
    if (written) PrintEventLosses(input.input);
    return written;
  }
  const std::string path = arguments.out.empty() ? input.name + format.extension : arguments.out;
  if (auto can = CheckOutside(path, input.directory()); !can) return can;
  auto written = (format.is_folder ? WriteEventFolder : WriteOutputFile)(
      path, [&](const std::string& place) { return WriteNewFile(place, format, input); });
  if (!written) return written;
  PrintEventLosses(input.input);
  std::error_code error;
  const auto size = SizeOf(path, error);
  if (error) return {};  // a pipe or a device
  PrintError(fmt::format("export:  {} ({}, {:.1f} kB)", path, format.name,
                         static_cast<double>(size) / 1e3));
  PrintNext(OpenCommand(format, path));
  return {};
}

}  // namespace

Action ExportCommand(CommandLine line, const Command&) {
  auto arguments = std::make_shared<ExportArguments>();
  std::string list = "Formats:\n";
  for (const reports::ExportFormat& format : reports::ExportFormats())
    list += fmt::format("  {:<11}{}\n", format.name, format.help);
  line.Footer(list +
              "\nExamples:\n"
              "  jprof export app.jprof                           app.pb.gz, for go tool pprof\n"
              "  jprof export app.jprof --format callgrind        for KCachegrind\n"
              "  jprof export app.jprof -o app.speedscope.json    the format of the file's name\n"
              "  jprof export trace.jprof --format perfetto       every call, for ui.perfetto.dev\n"
              "  jprof export app.itrace --format perfetto        the same of jprof itrace\n"
              "  jprof export app.jprof --format collapsed -o - | flamegraph.pl >app.svg");
  AddExportOptions(line, arguments->choice);
  line.Option("--format", arguments->format, ExportNames("|"),
              "The format (default: that of -o's extension, else pprof, or perfetto for jprof "
              "trace)");
  line.Option("-o,--out", arguments->out, "FILE",
              "Write this file; - is standard output (default: named after the profile)");
  return [arguments] { return StatusOf(Run(*arguments)); };
}

}  // namespace jprof::cli
