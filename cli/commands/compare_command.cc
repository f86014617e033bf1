// `jprof compare`: compares the flat and the contextual view of a profile, or two profiles.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/fleet/fetched.h"
#include "cli/gate/gate.h"
#include "cli/gate/saved.h"
#include "cli/shared/choices.h"
#include "cli/shared/commands.h"
#include "cli/shared/pager.h"
#include "cli/shared/profile_source.h"
#include "cli/shared/report_options.h"
#include "cli/shared/usage_error.h"
#include "common/errno_text.h"
#include "common/shell_word.h"
#include "reports/compare/compare.h"

namespace jprof::cli {
namespace {

namespace fs = std::filesystem;

enum class Format { kText, kJson, kHtml };
const std::vector<std::string_view> kFormatNames = {"text", "json", "html"};

struct CompareArguments {
  std::optional<CommandLine> line;  // knows which options are given
  std::string a, b, out;
  std::string format;  // if empty, by the extension of --out, else text
  TableChoice table;
  std::string base_window, new_window;
  TextChoice text;
  reports::CompareOptions options;
  GateChoice gate;
};

Result<Format> FormatOf(const CompareArguments& arguments) {
  std::string name = arguments.format;
  const std::string extension = fs::path(arguments.out).extension();
  if (name.empty()) name = extension == ".html" ? "html" : extension == ".json" ? "json" : "text";
  if (name == "junit" || name == "markdown")
    return WrongUse("--format {} is that of a verdict: add --fail-if '{}'", name,
                    kDefaultCondition);
  const Result<size_t> format = Choose("--format", name, kFormatNames);
  if (!format) return std::unexpected(format.error());
  return static_cast<Format>(*format);
}

template <typename Compared>
Result<void> PrintAs(Format format, const Compared& compared,
                     const reports::CompareOptions& options, reports::Output& out) {
  switch (format) {
    case Format::kText:
      PrintText(compared, options, out);
      break;
    case Format::kJson:
      PrintJson(compared, options, out);
      break;
    case Format::kHtml:
      PrintHtml(compared, options, out);
      break;
  }
  return out.Finish();
}

std::string ViewCommandOf(const CompareArguments& arguments) {
  std::string command = "jprof view";
  for (const std::string& profile : {arguments.a, arguments.b})
    if (!profile.empty()) command += " " + ShellWord(profile);
  return command;
}

template <typename Compared>
Result<void> PrintToTerminal(const CompareArguments& arguments, Format format,
                             const Compared& compared) {
  Pager pager(format == Format::kText && !arguments.text.no_pager);
  reports::Output out([&pager] { return pager.file(); }, reports::ShowsColour(stdout));
  return PrintAs(format, compared, arguments.options, out);
}

// Opens --out only when there is something to write.
template <typename Compared>
Result<void> Print(const CompareArguments& arguments, Format format,
                   const Result<Compared>& compared) {
  if (!compared) return std::unexpected(compared.error());
  if (arguments.out.empty()) {
    auto printed = PrintToTerminal(arguments, format, *compared);
    if (printed && format == Format::kText && isatty(STDOUT_FILENO) != 0)
      PrintNext(ViewCommandOf(arguments));
    return printed;
  }
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
      std::fopen(arguments.out.c_str(), "we"), std::fclose);
  if (!file) {
    return WrongUse("cannot write {}: {}; choose another file with -o", arguments.out, ErrnoText());
  }
  reports::Output out(file.get());
  return PrintAs(format, *compared, arguments.options, out);
}

// Returns the format of a gate, that of --format, else that of the extension of --out.
Result<const reports::GateFormat*> GateFormatOf(const CompareArguments& arguments) {
  const std::string extension = fs::path(arguments.out).extension();
  std::vector<std::string_view> names;
  for (const reports::GateFormat& format : reports::kGateFormats) {
    names.push_back(format.name);
    if (arguments.format.empty() && format.extension == extension) return &format;
  }
  if (arguments.format.empty()) return &reports::kGateFormats[0];
  const Result<size_t> chosen = Choose("--format", arguments.format, names);
  if (!chosen) return WrongUse("{}, with --fail-if", chosen.error().message);
  return &reports::kGateFormats[*chosen];
}

// The tables of the two sides, with their windows.
struct SideTables {
  TableChoice base, now;
};
Result<SideTables> TablesOf(const CompareArguments& arguments) {
  SideTables tables = {.base = arguments.table, .now = arguments.table};
  const bool two = !arguments.b.empty();
  if (arguments.base_window.empty() && arguments.new_window.empty()) return tables;
  if (!two && (arguments.base_window.empty() || arguments.new_window.empty()))
    return WrongUse(
        "two windows of one profile need both: jprof compare A --base-window 0s..10s --new-window "
        "10s..20s");
  if (!arguments.base_window.empty()) tables.base.window = arguments.base_window;
  if (!arguments.new_window.empty()) tables.now.window = arguments.new_window;
  return tables;
}

Result<int> RunGate(const CompareArguments& arguments) {
  if (arguments.b.empty())
    return WrongUse(
        "--fail-if compares two profiles: jprof compare BASE NEW --fail-if '{}'",
        arguments.gate.fail_if.empty() ? kDefaultCondition : arguments.gate.fail_if.front());
  for (const char* option : {"--metric", "--absolute"}) {
    if (arguments.line->IsGiven(option))
      return WrongUse("{} is not for --fail-if, whose conditions name what they compare", option);
  }
  const auto conditions = arguments.gate.Conditions();
  if (!conditions) return std::unexpected(conditions.error());
  const auto format = GateFormatOf(arguments);
  if (!format) return std::unexpected(format.error());
  const Result<model::NameForm> names = arguments.text.Form();
  if (!names) return std::unexpected(names.error());
  const auto chosen = TablesOf(arguments);
  if (!chosen) return std::unexpected(chosen.error());
  auto base = OpenNamed(SavedOr(arguments.a), chosen->base);
  if (!base) return std::unexpected(base.error());
  auto now = OpenNamed(SavedOr(arguments.b), chosen->now);
  if (!now) return std::unexpected(now.error());
  const bool to_file = !arguments.out.empty();
  return CompareByConditions(
      *base, *now, *conditions, arguments.gate,
      {.print = (*format)->print,
       .names = *names,
       .width = to_file ? arguments.text.width.value_or(0) : arguments.text.Width(),
       .top = arguments.options.top,
       .out = arguments.out});
}

Result<void> Run(CompareArguments arguments) {
  const Result<Format> format = FormatOf(arguments);
  if (!format) return std::unexpected(format.error());
  const std::string_view name = kFormatNames[static_cast<size_t>(*format)];
  if (auto fits = CheckTextOptions(*arguments.line, name); !fits) return fits;
  const Result<model::NameForm> names = arguments.text.Form();
  if (!names) return std::unexpected(names.error());
  arguments.options.names = *names;
  arguments.options.width =
      arguments.out.empty() ? arguments.text.Width() : arguments.text.width.value_or(0);
  const auto chosen = TablesOf(arguments);
  if (!chosen) return std::unexpected(chosen.error());
  Result<model::Source> a = OpenComparable(SavedOr(arguments.a), chosen->base);
  if (!a) return std::unexpected(a.error());
  if (arguments.b.empty() && !arguments.new_window.empty())
    arguments.b = a->reader.directory();  // two windows of one profile
  if (arguments.b.empty()) {
    if (arguments.options.absolute)
      return WrongUse("--absolute requires two profiles: jprof compare A B --absolute");
    return Print(arguments, *format, CompareWithin(*a, arguments.options));
  }
  Result<model::Source> b = OpenComparable(SavedOr(arguments.b), chosen->now);
  if (!b) return std::unexpected(b.error());
  return Print(arguments, *format, CompareTwo(*a, *b, arguments.options));
}

Result<int> RunEither(CompareArguments& arguments) {
  if (arguments.options.top == 0) return WrongUse("--top must be at least 1");
  if (auto fetched = FetchIfUrl({&arguments.a, &arguments.b}); !fetched)
    return std::unexpected(fetched.error());
  return arguments.gate.IsGiven() ? RunGate(arguments) : StatusOf(Run(arguments));
}

}  // namespace

Action CompareCommand(CommandLine line, const Command&) {
  auto arguments = std::make_shared<CompareArguments>();
  arguments->line.emplace(line);
  line.Footer(
      "Examples:\n"
      "  jprof compare before.jprof after.jprof       what became slower, and what is noise\n"
      "  jprof compare app.jprof                      which callers make methods hot\n"
      "  jprof compare exact.jprof sampled.jprof      callflow and sampling of the same program\n"
      "  jprof compare a.jprof b.jprof -o diff.html   the same as a page for a browser\n"
      "  jprof compare a.jprof --base-window ..10s --new-window 10s..\n"
      "                                               two parts of one recording\n"
      "  jprof compare main new.jprof --fail-if 'calls > 0%'\n"
      "                                               exits with 1 if anything is called more\n"
      "                                               often; main: by jprof profile --save main");
  line.Option(
      "A", arguments->a, "PROFILE",
      "A profile of callflow, scs or calltree --sample, or the name of a saved one; default: "
      "the newest *.jprof here");
  line.Option("B", arguments->b, "PROFILE", "The profile to compare it with");
  line.Option(
      "--format", arguments->format, "text|json|html|junit|markdown",
      "text (default), json or html, and with --fail-if text, json, junit or markdown; else "
      "by the extension of -o");
  line.Option("-o,--out", arguments->out, "FILE", "Write to this file");
  line.Option("--metric", arguments->options.metric, "NAME",
              "The metric or event to compare; NAME,NAME: A's and B's");
  line.Option("--top", arguments->options.top, "", "Rows of each list (default 10)");
  line.Flag("--absolute", arguments->options.absolute,
            "Compare values, not shares; both must have the same unit");
  AddWindowOption(line, arguments->table);
  line.Option("--base-window", arguments->base_window, "FROM..TO", "The window of A, as --window");
  line.Option("--new-window", arguments->new_window, "FROM..TO",
              "The window of B or, without B, another one of A");
  AddGateOptions(line, arguments->gate);
  AddTextOptions(line, arguments->text);
  AddTableOptions(line, arguments->table);
  return [arguments] { return RunEither(*arguments); };
}

}  // namespace jprof::cli
