// `jprof push`: sends a profile as pprof to a server of continuous profiling.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/shared/choices.h"
#include "cli/shared/commands.h"
#include "cli/shared/export_source.h"
#include "cli/shared/usage_error.h"
#include "options/option_table.h"
#include "profile/files/printable_text.h"
#include "record/push/push.h"
#include "reports/export/pprof_parts.h"
#include "reports/print/json_writer.h"

namespace jprof::cli {
namespace {

struct PushArguments {
  record::PushTarget target;  // without what other members state
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

Result<void> PushProfile(const PushArguments& arguments) {
  auto target = TargetOf(arguments);
  if (!target) return std::unexpected(target.error());
  auto opened = OpenForExport(arguments.choice);
  if (!opened) return std::unexpected(opened.error());
  reports::ExportInput& input = *opened;
  if (auto can = RefuseEvents(std::string(input.directory()), "pushed"); !can) return can;
  const auto& pprof = reports::ExportFormats().front();
  if (auto can = CheckExportable(pprof, input); !can) return can;
  if (target->name.empty()) target->name = input.name;
  if (auto good = CheckTarget(*target); !good) return good;
  const auto payload = MakePayload(input, arguments);
  if (!payload) return std::unexpected(payload.error());
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
  line.Footer(
      fmt::format("The environment variable {} is sent as the header Authorization.\n\n"
                  "Examples:\n"
                  "  jprof push http://localhost:4040 app.jprof              to Pyroscope\n"
                  "  jprof push http://localhost:4040 --name shop --label env=staging\n"
                  "  jprof push http://localhost:7070/api app.jprof --server parca",
                  record::kAuthorization));
  line.Option("URL", arguments->target.url, "URL",
              "The server, http://HOST:PORT; a path in front is kept")
      .Required();
  AddExportOptions(line, arguments->choice);
  line.Option("--server", arguments->server, "pyroscope|parca", "pyroscope (default) or parca");
  line.Option("--name", arguments->target.name, "NAME",
              "The application's name (default: the profile's)");
  line.Option("--label", arguments->labels, "NAME=VALUE", "A label of the profile; may be repeated")
      .OneValueEach();
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
              "Seconds that a request may take (default 30)")
      .Between(1l, 86400l);
  return [arguments] { return StatusOf(PushProfile(*arguments)); };
}

}  // namespace jprof::cli
