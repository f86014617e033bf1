// `jprof push`: sends a profile as pprof to a server of continuous profiling.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands/http_post.h"
#include "cli/shared/choices.h"
#include "cli/shared/commands.h"
#include "cli/shared/export_source.h"
#include "cli/shared/usage_error.h"
#include "common/base64.h"
#include "profile/files/printable_text.h"
#include "reports/export/pprof_parts.h"
#include "reports/print/json_writer.h"

namespace jprof::cli {
namespace {

constexpr char kAuthorization[] = "JPROF_PUSH_AUTHORIZATION";

struct PushArguments {
  std::string url;
  std::string name;  // the profile's if empty
  std::string server = "pyroscope";
  std::vector<std::string> labels;  // K=V
  std::string tenant;
  std::string at;  // "now", or empty for the date of the recording
  long timeout_seconds = 30;
  // These are the defaults of Pyroscope's limits max-profile-size-bytes and
  // max-profile-stacktrace-samples.
  reports::PprofLimits limits = {.bytes = 4 << 20, .samples = 16'000};
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

bool HasControl(std::string_view text) {
  return std::ranges::any_of(
      text, [](char c) { return (static_cast<unsigned char>(c) < ' ') || c == '\x7f'; });
}

// Fails if the label is not allowed beside `labels`. `job` is Parca's label for the name.
Result<void> CheckLabel(const std::string& name, const std::string& value, const PushLabels& labels,
                        bool parca) {
  if (parca && name == "job")
    return WrongUse("--label job: use --name, which is sent as this label");
  if (name == "__name__")
    return WrongUse("--label {}: this label is the name of the profile; use another one", name);
  if (std::ranges::find(labels, name, &PushLabels::value_type::first) != labels.end())
    return WrongUse("--label {} is given twice; leave one out", name);
  if (value.find_first_of(",{}\"") == value.npos && !HasControl(value)) return {};
  return WrongUse("--label {}: the value must not contain , {{ }}, quotes or control characters",
                  profile::CleanText(name + "=" + value));
}

Result<PushLabels> ParseLabels(const std::vector<std::string>& texts, bool parca) {
  PushLabels labels;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    if (equals == text.npos || !IsLabelName(name)) {
      return WrongUse(
          "--label {}: write NAME=VALUE, with a name of letters, digits and _: --label env=staging",
          profile::CleanText(text));
    }
    if (auto good = CheckLabel(name, text.substr(equals + 1), labels, parca); !good)
      return std::unexpected(good.error());
    labels.emplace_back(name, text.substr(equals + 1));
  }
  return labels;
}

// Keeps the text that an Output writes in memory.
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
  std::vector<std::string> files;  // pprof; each is sent in a request of its own
  std::string types;               // Pyroscope's sample_type_config
  uint64_t from = 0, until = 0;

  size_t bytes() const {
    size_t sum = 0;
    for (const std::string& file : files) sum += file.size();
    return sum;
  }
};

// Returns the list of sample types. Pyroscope ignores those that it does not know and that are not
// in the list.
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

constexpr uint64_t kSecond = 1'000'000'000;

// Dates the run as one that ends now. Servers that accept only recent profiles check when a profile
// begins, so a long run is shortened to what Pyroscope accepts by default (an hour).
void DateNow(reports::RunDescription& run) {
  constexpr uint64_t kLongest = 1800 * kSecond;
  run.duration_ns = std::min(run.duration_ns, kLongest);
  run.start_unix_ns = static_cast<uint64_t>(std::time(nullptr)) * kSecond - run.duration_ns;
}

Result<Payload> MakePayload(reports::ExportInput& input, const PushArguments& arguments) {
  Result<reports::ContextTree> tree = LoadContexts(input);
  if (!tree) return std::unexpected(tree.error());
  if (!arguments.at.empty()) DateNow(tree->run);
  auto files = PprofFiles(*tree, arguments.limits);
  if (!files) return std::unexpected(files.error());
  const uint64_t start = tree->run.start_unix_ns;
  const uint64_t seconds = std::max<uint64_t>((tree->run.duration_ns + kSecond - 1) / kSecond, 1);
  return Payload{.files = *std::move(files),
                 .types = SampleTypes(*tree),
                 .from = start / kSecond,
                 .until = start / kSecond + seconds};
}

std::string WithoutSlash(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  return url;
}

// Returns "/api" of "http://host/api".
std::string_view PathOf(std::string_view url) {
  const size_t host = url.find("//") + 2;
  return url.substr(std::min(url.find('/', host), url.size()));
}

// Makes POST URL/ingest?name=NAME{K=V,...}&from=S&until=S&format=pprof, a form with the profile.
HttpPost ForPyroscope(const std::string& url, const std::string& name, const PushLabels& labels,
                      const Payload& payload, const std::string& file) {
  std::string application = name + "{";
  for (const auto& [key, value] : labels)
    application += fmt::format("{}{}={}", application.ends_with('{') ? "" : ",", key, value);
  HttpPost post;
  post.url = fmt::format("{}{}?name={}&from={}&until={}&format=pprof&spyName=jprof", url,
                         PathOf(url).ends_with("/ingest") ? "" : "/ingest",
                         UrlEncoded(application + "}"), payload.from, payload.until);
  post.form = {
      {"profile", "profile.pprof", "application/octet-stream", file},
      {"sample_type_config", "sample_type_config.json", "application/json", payload.types}};
  return post;
}

// Makes POST URL/profiles/writeraw, a WriteRawRequest as JSON.
HttpPost ForParca(const std::string& url, const std::string& name, PushLabels labels,
                  const std::string& file) {
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
  json.Member("rawProfile", Base64(file));
  json.EndObject();
  json.EndArray();
  json.EndObject();
  json.EndArray();
  json.EndObject();
  json.Finish();
  HttpPost post;
  if (out.Finish()) post.body = memory.Take();
  post.url = url + (PathOf(url).ends_with("/profiles/writeraw") ? "" : "/profiles/writeraw");
  post.headers = {"Content-Type: application/json"};
  return post;
}

bool Says(std::string_view text, std::initializer_list<std::string_view> words) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::ranges::any_of(words, [&](std::string_view word) { return lower.contains(word); });
}

// Returns what to do about a response that is not a success.
std::string NextStep(long status, std::string_view text) {
  const bool refused = status >= 400 && status < 500;
  if (refused && Says(text, {"ingestion window", "too old", "out of order"})) {
    return "the server accepts only recent profiles (Pyroscope: reject-older-than, an hour): send "
           "it with the present time (--at now), or raise that limit";
  }
  if (status == 413 || (refused && Says(text, {"size limit", "too large"}))) {
    return "it is too large for the server: send it in smaller parts (--max-size), or raise the "
           "limit (Pyroscope: max-profile-size-bytes)";
  }
  if (refused && Says(text, {"samples limit"})) {
    return "it has too many samples for the server: send it in smaller parts (--max-samples), or "
           "raise the limit (Pyroscope: max-profile-stacktrace-samples)";
  }
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
              FirstLine(answer->text), NextStep(answer->status, answer->text));
}

// Returns "host:80" of "http://host:80/path", and of a URL without scheme.
std::string_view ServerOf(std::string_view url) {
  const size_t scheme = url.find("//");
  if (scheme != url.npos) url.remove_prefix(scheme + 2);
  return url.substr(0, url.find_first_of("/?#\\"));
}

// Checks the URL. It is printed, so it must not contain a password.
Result<void> CheckUrl(const std::string& url) {
  if (url.find('@') != url.npos) {  // a password may contain any character
    return WrongUse(
        "the URL names a user (@): leave that out, and put 'Basic ' and the base64 text of "
        "USER:PASSWORD into {}",
        kAuthorization);
  }
  const std::string_view server = ServerOf(url);
  const bool scheme = url.starts_with("http://") || url.starts_with("https://");
  const bool odd = url.find_first_of("?# \\") != url.npos || HasControl(url);
  if (scheme && !odd && !server.empty() && server.front() != ':') return {};
  return WrongUse(
      "{} is no URL of a server: write http://HOST:PORT or https://HOST, and a path "
      "behind it if there is one",
      profile::CleanText(url));
}

Result<void> CheckHeader(const char* name, std::string_view value) {
  if (!HasControl(value)) return {};
  return WrongUse("{} has a control character (a line break at its end?); remove it", name);
}

Result<void> CheckName(const std::string& name) {
  if (name.find_first_of("{}\"") == name.npos && !HasControl(name)) return {};
  return WrongUse(
      "the name {} must not contain {{ }}, quotes or control characters; choose one with --name",
      profile::CleanText(name));
}

std::string Authorization() {
  const char* value = std::getenv(kAuthorization);
  return value != nullptr ? value : "";
}

// Checks what can be checked before anything is opened.
Result<void> CheckArguments(const PushArguments& arguments) {
  if (auto good = CheckUrl(arguments.url); !good) return good;
  if (auto good = CheckHeader(kAuthorization, Authorization()); !good) return good;
  if (auto good = CheckHeader("--tenant", arguments.tenant); !good) return good;
  return CheckName(arguments.name);
}

// Sends one request for each file. The error states which parts the server has already accepted.
Result<void> SendAll(const PushArguments& arguments, const Payload& payload,
                     const std::function<HttpPost(const std::string& file)>& request) {
  const size_t parts = payload.files.size();
  for (size_t part = 0; part < parts; ++part) {
    HttpPost post = request(payload.files[part]);
    post.timeout_seconds = arguments.timeout_seconds;
    if (const std::string value = Authorization(); !value.empty())
      post.headers.push_back("Authorization: " + value);
    if (!arguments.tenant.empty()) post.headers.push_back("X-Scope-OrgID: " + arguments.tenant);
    auto sent = Send(post, profile::CleanText(WithoutSlash(arguments.url)));
    if (sent) continue;
    if (parts == 1) return sent;
    return Fail("part {} of {}: {}{}", part + 1, parts, sent.error().message,
                part > 0 ? " (the server has accepted the parts before it: pushing again sends "
                           "them once more)"
                         : "");
  }
  return {};
}

Result<void> PushProfile(const PushArguments& arguments) {
  if (auto good = CheckArguments(arguments); !good) return good;
  const Result<size_t> server = Choose("--server", arguments.server, {"pyroscope", "parca"});
  if (!server) return std::unexpected(server.error());
  if (!arguments.at.empty()) {
    if (const auto at = Choose("--at", arguments.at, {"now"}); !at)
      return std::unexpected(at.error());
  }
  const Result<PushLabels> labels = ParseLabels(arguments.labels, *server == 1);
  if (!labels) return std::unexpected(labels.error());
  auto opened = OpenForExport(arguments.choice);
  if (!opened) return std::unexpected(opened.error());
  reports::ExportInput input = opened->Input(arguments.choice);
  const auto& pprof = reports::ExportFormats().front();
  if (auto can = CheckExportable(pprof, input); !can) return can;
  const std::string name = arguments.name.empty() ? input.name : arguments.name;
  if (auto good = CheckName(name); !good) return good;
  Result<Payload> payload = MakePayload(input, arguments);
  if (!payload) return std::unexpected(payload.error());
  const std::string url = WithoutSlash(arguments.url);
  const auto request = [&](const std::string& file) {
    return *server == 0 ? ForPyroscope(url, name, *labels, *payload, file)
                        : ForParca(url, name, *labels, file);
  };
  if (auto sent = SendAll(arguments, *payload, request); !sent) return sent;
  const size_t parts = payload->files.size();
  fmt::print(stderr, "jprof: pushed:  {} to {} ({:.1f} kB{})\n", profile::CleanText(name),
             profile::CleanText(url), static_cast<double>(payload->bytes()) / 1e3,
             parts == 1 ? "" : fmt::format(" in {} parts", parts));
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
  sub.add_option("--at", arguments->at,
                 "now: date the profile as one that ends now and took at most half an hour "
                 "(default: the time of the recording)")
      ->type_name("now");
  sub.add_option("--max-size", arguments->limits.bytes,
                 "Most bytes of a part before compression: a larger profile is sent in several "
                 "parts (4M, Pyroscope's default limit)")
      ->type_name("N[K|M|G]")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(uint64_t{64} << 10, uint64_t{1} << 40));
  sub.add_option("--max-samples", arguments->limits.samples,
                 "Most contexts of a part (16000, Pyroscope's default limit)")
      ->type_name("N")
      ->check(CLI::Range(uint64_t{100}, uint64_t{1} << 40));
  sub.add_option("--timeout", arguments->timeout_seconds, "Seconds that a request may take (30)")
      ->type_name("SECONDS")
      ->check(CLI::Range(1l, 86400l));
  return [arguments] { return StatusOf(PushProfile(*arguments)); };
}

}  // namespace jprof::cli
