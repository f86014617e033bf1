// `jprof fleet`: the database of profiles of many machines.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/fleet/fleet_output.h"
#include "cli/shared/choices.h"
#include "cli/shared/commands.h"
#include "cli/shared/report_options.h"
#include "cli/shared/usage_error.h"
#include "fleet/read/dump.h"
#include "fleet/read/questions.h"
#include "fleet/schema/schema.h"
#include "profile/files/printable_text.h"

namespace jprof::cli {
namespace {

struct FleetArguments {
  std::optional<CommandLine> line;  // knows which options are given
  std::string action;
  std::vector<std::string> urls;
  std::string cluster, keep, by, method, context, out;
  std::string format = "text";
  bool contexts = false;
  size_t top = 20;
  double score = 3.5;
  TextChoice text;
};

// An action, and the options that it has.
struct ActionRow {
  const char* name;
  std::vector<std::string_view> options;
  Result<void> (*run)(const FleetArguments& arguments);
};

// Returns the days of "90d".
Result<uint64_t> DaysOf(const std::string& text) {
  uint64_t days = 0;
  for (const char c : text.substr(0, text.size() - 1))
    days = c >= '0' && c <= '9' && days < 100'000 ? days * 10 + static_cast<uint64_t>(c - '0')
                                                  : 1'000'000;
  if (text.size() >= 2 && text.ends_with('d') && days > 0 && days < 100'000) return days;
  return WrongUse("--keep {}: write a number of days: --keep 90d", profile::CleanText(text));
}

Result<void> RunInit(const FleetArguments& arguments) {
  const Result<uint64_t> keep =
      arguments.keep.empty() ? Result<uint64_t>(0) : DaysOf(arguments.keep);
  if (!keep) return std::unexpected(keep.error());
  for (const std::string& text : arguments.urls) {
    const auto url = fleet::ParseUrl(text);
    if (!url) return std::unexpected(url.error());
    fleet::Server server(*url);
    const auto done = fleet::Init(server, arguments.cluster);
    if (!done) return std::unexpected(done.error());
    const std::string shown = profile::CleanText(url->Text());
    PrintError(done->before == done->now
                   ? fmt::format("{}: has the tables of version {} already", shown, done->now)
                   : fmt::format("{}: made the tables of version {}", shown, done->now));
    if (*keep == 0) continue;
    const auto removed = fleet::RemoveOld(server, *keep);
    if (!removed) return std::unexpected(removed.error());
    PrintError(
        fmt::format("{}: removed {} days of runs, older than {} days", shown, *removed, *keep));
  }
  return {};
}

// What every question needs.
struct Asking {
  fleet::Server server;
  fleet::Selection selection;
  reports::Format format;
};

Result<Asking> AskingOf(const FleetArguments& arguments) {
  if (arguments.urls.size() != 1)
    return WrongUse("fleet {} takes one URL, not {}", arguments.action, arguments.urls.size());
  const auto format = ChooseFormat(arguments.format);
  if (!format) return std::unexpected(format.error());
  const auto url = fleet::ParseUrl(arguments.urls.front());
  if (!url) return std::unexpected(url.error());
  auto selection = fleet::SelectionOf(*url, fleet::NowNanos());
  if (!selection) return std::unexpected(selection.error());
  return Asking{fleet::Server(*url), *std::move(selection), *format};
}

Result<void> RunTop(const FleetArguments& arguments) {
  auto asking = AskingOf(arguments);
  if (!asking) return std::unexpected(asking.error());
  const auto top =
      fleet::AskTop(asking->server, asking->selection,
                    {.by = arguments.by, .contexts = arguments.contexts, .most = arguments.top});
  if (!top) return std::unexpected(top.error());
  return PrintTop(*top, asking->format, arguments.text.Width());
}

Result<void> RunHistory(const FleetArguments& arguments) {
  if (arguments.method.empty() == arguments.context.empty())
    return WrongUse("fleet history takes either --method NAME or --context DIGITS");
  auto asking = AskingOf(arguments);
  if (!asking) return std::unexpected(asking.error());
  const auto history = fleet::AskHistory(
      asking->server, asking->selection,
      {.by = arguments.by, .method = arguments.method, .context = arguments.context});
  if (!history) return std::unexpected(history.error());
  return PrintHistory(*history, asking->format, arguments.text.Width());
}

Result<void> RunOutliers(const FleetArguments& arguments) {
  auto asking = AskingOf(arguments);
  if (!asking) return std::unexpected(asking.error());
  const auto outliers =
      fleet::AskOutliers(asking->server, asking->selection,
                         {.by = arguments.by, .methods = 50, .score = arguments.score});
  if (!outliers) return std::unexpected(outliers.error());
  return PrintOutliers(*outliers, asking->format, arguments.text.Width());
}

Result<void> RunDump(const FleetArguments& arguments) {
  if (arguments.urls.size() != 1) return WrongUse("fleet dump takes one URL");
  if (arguments.out.empty()) return WrongUse("fleet dump needs a folder for its files: -o DIR");
  const auto format =
      Choose("--format", arguments.format == "text" ? "csv" : arguments.format, {"csv", "json"});
  if (!format) return std::unexpected(format.error());
  const auto url = fleet::ParseUrl(arguments.urls.front());
  if (!url) return std::unexpected(url.error());
  const auto selection = fleet::SelectionOf(*url, fleet::NowNanos());
  if (!selection) return std::unexpected(selection.error());
  fleet::Server server(*url);
  const auto dumped = fleet::Dump(server, *selection, arguments.out, *format == 1);
  if (!dumped) return std::unexpected(dumped.error());
  PrintError(fmt::format("dumped {} runs into {}", *dumped, profile::CleanText(arguments.out)));
  return {};
}

const std::vector<ActionRow>& Actions() {
  static const std::vector<ActionRow> actions = {
      {"init", {"--cluster", "--keep"}, RunInit},
      {"top", {"--by", "--contexts", "--top", "--format", "--width"}, RunTop},
      {"history", {"--by", "--method", "--context", "--format", "--width"}, RunHistory},
      {"outliers", {"--by", "--score", "--format", "--width"}, RunOutliers},
      {"dump", {"--out", "--format"}, RunDump},
  };
  return actions;
}

Result<void> Run(const FleetArguments& arguments) {
  std::vector<std::string_view> names;
  for (const ActionRow& row : Actions()) names.emplace_back(row.name);
  const auto chosen = Choose("action", arguments.action, names);
  if (!chosen) return std::unexpected(chosen.error());
  const ActionRow& row = Actions()[*chosen];
  for (const std::string& option : arguments.line->GivenOptions()) {
    if (std::ranges::count(row.options, option) == 0)
      return WrongUse("fleet {} has no {}", row.name, option);
  }
  return row.run(arguments);
}

}  // namespace

Action FleetCommand(CommandLine line, const Command&) {
  auto arguments = std::make_shared<FleetArguments>();
  FleetArguments& a = *arguments;
  a.line.emplace(line);
  line.Footer(
      "init makes the tables of a database of ClickHouse; jprof push URL sends profiles there. "
      "report, view, compare, export, merge and info take such a URL in place of a profile. "
      "Parameters of the URL select runs: service, version, host, mode, metrics, from, to (dates, "
      "or 7d), label.NAME, min_share (docs/FLEET.md).\n\n"
      "Examples:\n"
      "  jprof fleet init clickhouse://db/fleet                    the tables of one server\n"
      "  jprof fleet init clickhouse://a/fleet clickhouse://b/fleet --cluster profiles\n"
      "                                                            of a cluster of two shards\n"
      "  jprof fleet top 'clickhouse://db/fleet?service=shop&from=7d'\n"
      "  jprof fleet history 'clickhouse://db/fleet?service=shop' --method Cart.total\n"
      "  jprof fleet outliers 'clickhouse://db/fleet?service=shop' --by calls\n"
      "  jprof fleet dump 'clickhouse://db/fleet?from=1d' -o dump   files for DuckDB\n"
      "  jprof fleet init clickhouse://db/fleet --keep 90d         removes what is older");
  line.Option("ACTION", a.action, "init|top|history|outliers|dump", "What to do").Required();
  line.Option("URLS", a.urls, "URL", "clickhouse://USER@HOST:PORT/DATABASE; of init also several")
      .Required();
  line.Option("--by", a.by, "NAME", "calls, or a metric of the runs (default: their first metric)");
  line.Flag("--contexts", a.contexts, "top: calling contexts, not methods");
  line.Option("--top", a.top, "N", "top: so many rows (default 20)").Between(1l, 100000l);
  line.Option("--method", a.method, "NAME", "history: of Class.method, in all contexts");
  line.Option("--context", a.context, "DIGITS",
              "history: of one context, as top --format json shows it");
  line.Option("--score", a.score, "X", "outliers: least score (default 3.5)").Between(0.0, 1e6);
  line.Option("--format", a.format, "text|json|csv",
              "text (default), json or csv; dump: csv or json");
  line.Option("-o,--out", a.out, "DIR", "dump: the folder for the files");
  line.Option("--cluster", a.cluster, "NAME",
              "init: the cluster of the servers' configuration whose shards hold the runs");
  line.Option("--keep", a.keep, "DAYS", "init: remove runs that are older, for example 90d");
  AddWidthOption(line, a.text);
  return [arguments] { return StatusOf(Run(*arguments)); };
}

}  // namespace jprof::cli
