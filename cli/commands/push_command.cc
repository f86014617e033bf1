// `jprof push`: sends a profile as pprof to a server of continuous profiling, or as rows to the
// database of a fleet.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/fleet/fetched.h"
#include "cli/fleet/fleet_push.h"
#include "cli/fleet/published_names.h"
#include "cli/shared/choices.h"
#include "cli/shared/commands.h"
#include "cli/shared/export_source.h"
#include "cli/shared/usage_error.h"
#include "model/tree/deep_recursion.h"
#include "options/option_table.h"
#include "profile/files/printable_text.h"
#include "record/push/push.h"
#include "reports/export/pprof_parts.h"
#include "reports/print/json_writer.h"

namespace jprof::cli {
namespace {

struct PushArguments {
  record::PushTarget target;        // without what other members state
  std::optional<CommandLine> line;  // knows which options are given
  std::vector<std::string> profiles;
  FleetPush fleet;
  std::string server = "pyroscope";
  std::vector<std::string> labels;  // K=V
  std::string at;                   // "now", or empty for the date of the recording
  // These are the defaults of Pyroscope's limits max-profile-size-bytes and
  // max-profile-stacktrace-samples.
  reports::PprofLimits limits = {.bytes = 4 << 20, .samples = 16'000};
  ExportChoice choice;
};

// Returns the list of sample types. Pyroscope ignores those that it does not know and that are not
// in the list.
std::string SampleTypes(const model::ContextTree& tree) {
  const auto text = reports::PrintedText([&](reports::Output& out) -> Result<void> {
    reports::JsonWriter json(out);
    json.StartObject();
    for (const size_t m : tree.Sums()) {
      const model::Measure& measure = tree.measures[m];
      json.Key(measure.name);
      json.StartObject();
      json.Member("units", measure.unit == "count" ? std::string("samples") : measure.unit);
      json.Member("display-name", measure.name);
      json.Member("aggregation", "sum");
      json.Member("cumulative", false);
      json.Member("sampled", measure.period > 0 && measure.unit == "count");
      json.EndObject();
    }
    json.EndObject();
    json.Finish();
    return {};
  });
  return text.value_or("");
}

constexpr uint64_t kSecond = 1'000'000'000;

// Dates the run as one that ends now. Servers that accept only recent profiles check when a profile
// begins, so a long run is shortened to what Pyroscope accepts by default (an hour).
void DateNow(model::RunDescription& run) {
  constexpr uint64_t kLongest = 1800 * kSecond;
  run.duration_ns = std::min(run.duration_ns, kLongest);
  run.start_unix_ns = static_cast<uint64_t>(std::time(nullptr)) * kSecond - run.duration_ns;
}

// Returns the number of frames of the deepest stack, as pprof files have it.
size_t DeepestStack(const model::ContextTree& tree) {
  const auto folded = model::FoldDeep(tree, model::kWholeFrames);
  const std::vector<uint32_t> levels = model::Levels(folded ? *folded : tree);
  return levels.empty() ? 0 : std::ranges::max(levels);
}

Result<record::PushPayload> MakePayload(reports::ExportInput& input,
                                        const PushArguments& arguments) {
  Result<model::ContextTree> tree = model::LoadContexts(input.input, input.options);
  if (!tree) return std::unexpected(tree.error());
  if (!arguments.at.empty()) DateNow(tree->run);
  auto files = PprofFiles(*tree, arguments.limits);
  if (!files) return std::unexpected(files.error());
  const uint64_t start = tree->run.start_unix_ns;
  const uint64_t seconds = std::max<uint64_t>((tree->run.duration_ns + kSecond - 1) / kSecond, 1);
  return record::PushPayload{.files = *std::move(files),
                             .deepest = DeepestStack(*tree),
                             .types = SampleTypes(*tree),
                             .from = start / kSecond,
                             .until = start / kSecond + seconds};
}

// Checks what can be checked before anything is opened. The name may still be empty.
Result<record::PushTarget> TargetOf(const PushArguments& arguments) {
  record::PushTarget target = arguments.target;
  target.authorization = record::Authorization();
  if (auto good = CheckTarget(target); !good) return std::unexpected(good.error());
  const Result<size_t> server = Choose("--server", arguments.server, {"pyroscope", "parca"});
  if (!server) return std::unexpected(server.error());
  target.server = *server == 0 ? record::PushServer::kPyroscope : record::PushServer::kParca;
  if (!arguments.at.empty()) {
    if (const auto at = Choose("--at", arguments.at, {"now"}); !at)
      return std::unexpected(at.error());
  }
  auto labels = record::ParseLabels(arguments.labels, target.server);
  if (!labels) return std::unexpected(labels.error());
  target.labels = *std::move(labels);
  target.url = record::WithoutSlash(target.url);
  return target;
}

// Fills in what the program has published of itself, as far as the user has not typed it.
void AddPublished(const std::string& directory, record::PushTarget& target) {
  for (const auto& [name, value] : PublishedNames(directory)) {
    if (name == kServiceName) {
      if (target.name.empty()) target.name = value;
    } else {
      auto label = record::ParseLabels({name + "=" + value}, target.server);
      const bool is_typed = std::ranges::find(target.labels, name, [](const auto& typed) {
                              return typed.first;
                            }) != target.labels.end();
      if (label && !is_typed) target.labels.push_back(label->front());
    }
  }
}

// Fails for an option that servers of the other kind have.
Result<void> CheckOptions(const PushArguments& arguments,
                          std::initializer_list<const char*> options, std::string_view kind) {
  for (const char* option : options) {
    if (arguments.line->IsGiven(option)) return WrongUse("{} is for {}", option, kind);
  }
  return {};
}

Result<void> PushRuns(PushArguments& arguments) {
  auto can = CheckOptions(arguments,
                          {"--metric", "--window", "--uncalibrated", "--table", "--server",
                           "--tenant", "--at", "--max-size", "--max-samples"},
                          "servers of continuous profiling (http://...)");
  if (!can) return can;
  const auto threads = Choose("--threads", arguments.choice.threads, {"separate", "merged"});
  if (!threads) return std::unexpected(threads.error());
  auto labels = record::ParseLabels(arguments.labels, record::PushServer::kPyroscope);
  if (!labels) return std::unexpected(labels.error());
  FleetPush push = arguments.fleet;
  push.url = arguments.target.url;
  push.profiles = arguments.profiles;
  push.names.service = arguments.target.name;
  push.names.labels = *std::move(labels);
  push.names.merge_threads = *threads == 1;
  if (arguments.line->IsGiven("--timeout")) push.silence_seconds = arguments.target.timeout_seconds;
  if (push.profiles.empty() && !push.spooled) {
    const auto newest = NewestProfile(/*combined=*/true);
    if (!newest) return std::unexpected(newest.error());
    push.profiles.push_back(*newest);
  }
  for (const std::string& profile : push.profiles)
    if (auto refused = RefuseEvents(profile, "pushed"); !refused) return refused;
  return PushToFleet(push);
}

Result<void> PushProfile(PushArguments& arguments) {
  if (fleet::IsUrl(arguments.target.url)) return PushRuns(arguments);
  auto fits = CheckOptions(
      arguments, {"--app-version", "--host", "--redact", "--spool", "--spool-limit", "--spooled"},
      "the database of a fleet (clickhouse://...)");
  if (!fits) return fits;
  if (arguments.profiles.size() > 1) {
    return WrongUse(
        "several profiles can be sent to the database of a fleet only "
        "(clickhouse://...); send one after the other");
  }
  if (!arguments.profiles.empty()) arguments.choice.directory = arguments.profiles.front();
  if (auto fetched = FetchIfUrl(arguments.choice.directory); !fetched) return fetched;
  auto target = TargetOf(arguments);
  if (!target) return std::unexpected(target.error());
  auto opened = OpenForExport(arguments.choice);
  if (!opened) return std::unexpected(opened.error());
  reports::ExportInput& input = *opened;
  if (auto can = RefuseEvents(std::string(input.directory()), "pushed"); !can) return can;
  const auto& pprof = reports::ExportFormats().front();
  if (auto can = CheckExportable(pprof, input); !can) return can;
  AddPublished(std::string(input.directory()), *target);
  if (target->name.empty()) target->name = input.name;
  if (auto good = CheckTarget(*target); !good) return good;
  auto payload = MakePayload(input, arguments);
  if (!payload) return std::unexpected(payload.error());
  for (const std::string& warning : LimitWarnings(*target, payload->deepest)) PrintError(warning);
  if (auto sent = record::Push(*target, *payload); !sent) return sent;
  const size_t parts = payload->files.size();
  fmt::print(stderr, "jprof: pushed:  {} to {} ({:.1f} kB{})\n", profile::CleanText(target->name),
             profile::CleanText(target->url), static_cast<double>(payload->Bytes()) / 1e3,
             parts == 1 ? "" : fmt::format(" in {} parts", parts));
  return {};
}

}  // namespace

Action PushCommand(CommandLine line, const Command&) {
  auto arguments = std::make_shared<PushArguments>();
  arguments->line.emplace(line);
  line.Footer(
      fmt::format("The environment variable {} is sent as the header Authorization.\n\n"
                  "Examples:\n"
                  "  jprof push http://localhost:4040 app.jprof              to Pyroscope\n"
                  "  jprof push http://localhost:4040 --name shop --label env=staging\n"
                  "  jprof push http://localhost:7070/api app.jprof --server parca\n"
                  "  jprof push clickhouse://db/fleet *.jprof --name shop --app-version 1.2",
                  record::kAuthorization));
  line.Option("URL", arguments->target.url, "URL",
              "The server, http://HOST:PORT, where a path is kept; or the database of a fleet, "
              "clickhouse://HOST:PORT/DATABASE (docs/FLEET.md)")
      .Required();
  AddExportOptions(line, arguments->profiles, arguments->choice);
  line.Option("--server", arguments->server, "pyroscope|parca", "pyroscope (default) or parca");
  line.Option(
      "--name", arguments->target.name, "NAME",
      "The application's name (default: its service.name, if it has published that, else the "
      "profile's)");
  line.Option("--label", arguments->labels, "NAME=VALUE", "A label of the profile; may be repeated")
      .OneValueEach();
  line.Group("Fleet");
  FleetPush& fleet = arguments->fleet;
  line.Option("--app-version", fleet.names.version, "VERSION",
              "The version of the application (default: its service.version, if published)");
  line.Option("--host", fleet.names.host, "NAME", "The machine's name (default: the host name)");
  line.Flag("--redact", fleet.names.redact,
            "Without command line, working directory, path of the profile and thread names");
  line.Flag("--spooled", fleet.spooled, "Send what earlier pushes could not send");
  line.Option("--spool", fleet.spool, "DIR",
              "Keep there what cannot be sent (default ~/.local/state/jprof/spool)");
  line.Option("--spool-limit", fleet.spool_limit, "N[K|M|G]", "Most bytes there (default 1G)")
      .Size()
      .Between(uint64_t{1} << 10, uint64_t{1} << 50);
  line.Group(options::kRarelyNeeded);
  line.Option("--tenant", arguments->target.tenant, "NAME", "Sent as the header X-Scope-OrgID");
  line.Option("--at", arguments->at, "now",
              "now: date the profile as one that ends now and took at most half an hour "
              "(default: the time of the recording)");
  line.Option("--max-size", arguments->limits.bytes, "N[K|M|G]",
              "Most bytes of a part before compression: a larger profile is sent in several "
              "parts (default 4M, Pyroscope's default limit)")
      .Size()
      .Between(uint64_t{64} << 10, uint64_t{1} << 40);
  line.Option("--max-samples", arguments->limits.samples, "N",
              "Most contexts of a part (default 16000, Pyroscope's default limit)")
      .Between(uint64_t{100}, uint64_t{1} << 40);
  line.Option("--timeout", arguments->target.timeout_seconds, "SECONDS",
              "Seconds that a request may take (default 30); of the database of a fleet: that it "
              "may be silent (default 120), before the profiles are kept for later")
      .Between(1l, 86400l);
  return [arguments] { return StatusOf(PushProfile(*arguments)); };
}

}  // namespace jprof::cli
