// `jprof push`: sends a profile as pprof to a server of continuous profiling.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/choices.h"
#include "cli/commands.h"
#include "cli/export_source.h"
#include "cli/http_post.h"
#include "cli/usage_error.h"
#include "profile/reader_text.h"
#include "reports/json_writer.h"

namespace jprof::cli {
namespace {

constexpr char kAuthorization[] = "JPROF_PUSH_AUTHORIZATION";

struct PushArguments {
  std::string url;
  std::string name;  // empty: the profile's
  std::string server = "pyroscope";
  std::vector<std::string> labels;  // K=V
  std::string tenant;
  long timeout_seconds = 30;
  ExportChoice choice;
};

using PushLabels = std::vector<std::pair<std::string, std::string>>;

bool IsLabelName(std::string_view name) {
  const auto letter = [](char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  if (name.empty() || !letter(name.front())) return false;
  for (const char c : name) {
    if (!letter(c) && !(c >= '0' && c <= '9')) return false;
  }
  return true;
}

Result<PushLabels> ParseLabels(const std::vector<std::string>& texts) {
  PushLabels labels;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    if (equals == text.npos || !IsLabelName(name)) {
      return WrongUse(
          "--label {}: write NAME=VALUE, with a name of letters, digits and _: --label env=staging",
          text);
    }
    const std::string value = text.substr(equals + 1);
    if (value.find_first_of(",{}\"\n") != value.npos)
      return WrongUse("--label {}: the value must not contain , {{ }} or quotes", text);
    labels.emplace_back(name, value);
  }
  return labels;
}

// Text that an Output writes, in memory.
class MemoryFile {
 public:
  MemoryFile() : file_(open_memstream(&text_, &size_)) {}
  ~MemoryFile() {
    if (file_ != nullptr) std::fclose(file_);
    std::free(text_);
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::FILE* file() const { return file_; }
  std::string Take() {
    std::fflush(file_);
    return {text_, size_};
  }

 private:
  char* text_ = nullptr;
  size_t size_ = 0;
  std::FILE* file_;
};

struct Payload {
  std::string pprof;
  std::string types;  // Pyroscope's sample_type_config
  uint64_t from = 0, until = 0;
};

// Pyroscope ignores sample types that it does not know and that are not in this list.
std::string SampleTypes(const reports::ContextTree& tree) {
  MemoryFile memory;
  reports::Output out(memory.file());
  reports::JsonWriter json(out);
  json.StartObject();
  for (const size_t m : tree.Sums()) {
    const reports::Measure& measure = tree.measures[m];
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
  if (!out.Finish()) return "";
  return memory.Take();
}

Result<Payload> MakePayload(reports::ExportInput& input) {
  Result<reports::ContextTree> tree = LoadContexts(input);
  if (!tree) return std::unexpected(tree.error());
  MemoryFile memory;
  if (memory.file() == nullptr) return Fail("not enough memory; free some");
  reports::Output out(memory.file());
  if (auto written = WritePprof(*tree, out); !written) return std::unexpected(written.error());
  if (auto finished = out.Finish(); !finished) return std::unexpected(finished.error());
  constexpr uint64_t kSecond = 1'000'000'000;
  const uint64_t start = tree->run.start_unix_ns;
  const uint64_t seconds = std::max<uint64_t>((tree->run.duration_ns + kSecond - 1) / kSecond, 1);
  return Payload{.pprof = memory.Take(),
                 .types = SampleTypes(*tree),
                 .from = start / kSecond,
                 .until = start / kSecond + seconds};
}

std::string WithoutSlash(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  return url;
}

// POST URL/ingest?name=NAME{K=V,...}&from=S&until=S&format=pprof, a form with the profile.
HttpPost ForPyroscope(const std::string& url, const std::string& name, const PushLabels& labels,
                      Payload payload) {
  std::string application = name + "{";
  for (const auto& [key, value] : labels)
    application += fmt::format("{}{}={}", application.ends_with('{') ? "" : ",", key, value);
  HttpPost post;
  post.url = fmt::format("{}{}?name={}&from={}&until={}&format=pprof&spyName=jprof", url,
                         url.ends_with("/ingest") ? "" : "/ingest", UrlEncoded(application + "}"),
                         payload.from, payload.until);
  post.form = {{"profile", "profile.pprof", "application/octet-stream", std::move(payload.pprof)},
               {"sample_type_config", "sample_type_config.json", "application/json",
                std::move(payload.types)}};
  return post;
}

// POST URL/profiles/writeraw, WriteRawRequest as JSON.
HttpPost ForParca(const std::string& url, const std::string& name, PushLabels labels,
                  const Payload& payload) {
  labels.insert(labels.begin(), {{"__name__", "jprof"}, {"job", name}});
  MemoryFile memory;
  reports::Output out(memory.file());
  reports::JsonWriter json(out);
  json.StartObject();
  json.Key("series");
  json.StartArray();
  json.StartObject();
  json.Key("labels");
  json.StartObject();
  json.Key("labels");
  json.StartArray();
  for (const auto& [key, value] : labels) {
    json.StartObject();
    json.Member("name", key);
    json.Member("value", value);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  json.Key("samples");
  json.StartArray();
  json.StartObject();
  json.Member("rawProfile", Base64(payload.pprof));
  json.EndObject();
  json.EndArray();
  json.EndObject();
  json.EndArray();
  json.EndObject();
  json.Finish();
  HttpPost post;
  if (out.Finish()) post.body = memory.Take();
  post.url = url + (url.ends_with("/profiles/writeraw") ? "" : "/profiles/writeraw");
  post.headers = {"Content-Type: application/json"};
  return post;
}

// What to do about an answer that is not a success.
std::string NextStep(long status) {
  if (status == 401 || status == 403) {
    return fmt::format(
        "put what the header Authorization must be into {} (for instance 'Bearer "
        "TOKEN'), or name the tenant with --tenant",
        kAuthorization);
  }
  if (status >= 300 && status < 400) return "use the address that it redirects to";
  if (status == 404 || status == 405)
    return "check the URL and --server: a Pyroscope server answers at URL/ingest, Parca at "
           "URL/profiles/writeraw";
  if (status == 413) return "the profile is too large for the server: raise its limit";
  return status >= 500 ? "look into the server's log, and try again" : "see what the server says";
}

std::string FirstLine(const std::string& text) {
  const std::string line =
      profile::CleanText(text.substr(0, std::min<size_t>(text.find('\n'), 200)));
  return line.empty() ? "" : ": " + line;
}

Result<void> Send(const HttpPost& post, const std::string& shown) {
  const Result<HttpAnswer> answer = Post(post);
  if (!answer) {
    return Fail("{}: {}; is the server running, and is the URL right?", shown,
                profile::CleanText(answer.error().message));
  }
  if (answer->status >= 200 && answer->status < 300) return {};
  return Fail("{}: the server answered with status {}{}; {}", shown, answer->status,
              FirstLine(answer->text), NextStep(answer->status));
}

Result<void> CheckUrl(const std::string& url) {
  if (url.starts_with("http://") || url.starts_with("https://")) return {};
  return WrongUse("{} is no URL of a server: write http://HOST:PORT or https://HOST",
                  profile::CleanText(url));
}

Result<void> PushProfile(const PushArguments& arguments) {
  if (auto good = CheckUrl(arguments.url); !good) return good;
  const Result<size_t> server = Choose("--server", arguments.server, {"pyroscope", "parca"});
  if (!server) return std::unexpected(server.error());
  const Result<PushLabels> labels = ParseLabels(arguments.labels);
  if (!labels) return std::unexpected(labels.error());
  auto opened = OpenForExport(arguments.choice);
  if (!opened) return std::unexpected(opened.error());
  reports::ExportInput input = opened->Input(arguments.choice);
  const auto& pprof = reports::ExportFormats().front();
  if (auto can = CheckExportable(pprof, input); !can) return can;
  Result<Payload> payload = MakePayload(input);
  if (!payload) return std::unexpected(payload.error());
  const size_t bytes = payload->pprof.size();
  const std::string name = arguments.name.empty() ? input.name : arguments.name;
  const std::string url = WithoutSlash(arguments.url);
  HttpPost post = *server == 0 ? ForPyroscope(url, name, *labels, *std::move(payload))
                               : ForParca(url, name, *labels, *payload);
  post.timeout_seconds = arguments.timeout_seconds;
  if (const char* value = std::getenv(kAuthorization); value != nullptr && *value != '\0')
    post.headers.push_back(fmt::format("Authorization: {}", value));
  if (!arguments.tenant.empty()) post.headers.push_back("X-Scope-OrgID: " + arguments.tenant);
  const std::string shown = profile::CleanText(url);
  if (auto sent = Send(post, shown); !sent) return sent;
  fmt::print(stderr, "jprof: pushed:  {} to {} ({:.1f} kB)\n", profile::CleanText(name), shown,
             static_cast<double>(bytes) / 1e3);
  return {};
}

}  // namespace

Action PushCommand(CLI::App& sub, const Command&) {
  auto arguments = std::make_shared<PushArguments>();
  sub.footer(
      fmt::format("The environment variable {} is sent as the header Authorization.\n\n"
                  "Examples:\n"
                  "  jprof push http://localhost:4040 app.jprof              to Pyroscope\n"
                  "  jprof push http://localhost:4040 --name shop --label env=staging\n"
                  "  jprof push http://localhost:7070/api app.jprof --server parca",
                  kAuthorization));
  sub.add_option("URL", arguments->url, "The server, http://HOST:PORT; a path in front is kept")
      ->type_name("URL")
      ->required();
  AddExportOptions(sub, arguments->choice);
  sub.add_option("--server", arguments->server, "pyroscope (default) or parca")
      ->type_name("pyroscope|parca");
  sub.add_option("--name", arguments->name, "The application's name (default: the profile's)")
      ->type_name("NAME");
  sub.add_option("--label", arguments->labels, "A label of the profile; may be repeated")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  sub.add_option("--tenant", arguments->tenant, "Sent as the header X-Scope-OrgID")
      ->type_name("NAME");
  sub.add_option("--timeout", arguments->timeout_seconds,
                 "Seconds that the whole request may take (30)")
      ->type_name("SECONDS")
      ->check(CLI::Range(1l, 86400l));
  return [arguments] { return StatusOf(PushProfile(*arguments)); };
}

}  // namespace jprof::cli
