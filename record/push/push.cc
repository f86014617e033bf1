#include "record/push/push.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>
#include <utility>

#include "common/base64.h"
#include "profile/files/printable_text.h"
#include "record/push/http_post.h"

namespace jprof::record {
namespace {

// Returns "/api" of "http://host/api".
std::string_view PathOf(std::string_view url) {
  const size_t host = url.find("//") + 2;
  return url.substr(std::min(url.find('/', host), url.size()));
}

// Makes POST URL/ingest?name=NAME{K=V,...}&from=S&until=S&format=pprof, a form with the profile.
HttpPost ForPyroscope(const PushTarget& target, const PushPayload& payload,
                      const std::string& file) {
  std::string application = target.name + "{";
  for (const auto& [key, value] : target.labels)
    application += fmt::format("{}{}={}", application.ends_with('{') ? "" : ",", key, value);
  HttpPost post;
  post.url = fmt::format("{}{}?name={}&from={}&until={}&format=pprof&spyName=jprof", target.url,
                         PathOf(target.url).ends_with("/ingest") ? "" : "/ingest",
                         UrlEncoded(application + "}"), payload.from, payload.until);
  post.form = {
      {"profile", "profile.pprof", "application/octet-stream", file},
      {"sample_type_config", "sample_type_config.json", "application/json", payload.types}};
  return post;
}

// Makes POST URL/profiles/writeraw, a WriteRawRequest as JSON.
HttpPost ForParca(const PushTarget& target, const std::string& file) {
  nlohmann::ordered_json body, series;
  nlohmann::ordered_json& labels = series["labels"]["labels"];
  const auto add = [&labels](const std::string& name, const std::string& value) {
    labels.push_back({{"name", name}, {"value", value}});
  };
  add("__name__", "jprof");
  add("job", target.name);
  for (const auto& [name, value] : target.labels) add(name, value);
  series["samples"].push_back({{"rawProfile", Base64(file)}});
  body["series"].push_back(std::move(series));
  const bool whole = PathOf(target.url).ends_with("/profiles/writeraw");
  return {.url = target.url + (whole ? "" : "/profiles/writeraw"),
          .headers = {"Content-Type: application/json"},
          .body = body.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)};
}

HttpPost RequestFor(const PushTarget& target, const PushPayload& payload, const std::string& file) {
  HttpPost post = target.server == PushServer::kPyroscope ? ForPyroscope(target, payload, file)
                                                          : ForParca(target, file);
  post.timeout_seconds = target.timeout_seconds;
  if (!target.authorization.empty())
    post.headers.push_back("Authorization: " + target.authorization);
  if (!target.tenant.empty()) post.headers.push_back("X-Scope-OrgID: " + target.tenant);
  return post;
}

bool Mentions(std::string_view text, std::span<const std::string_view> words) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::ranges::any_of(
      words, [&](std::string_view word) { return !word.empty() && lower.contains(word); });
}

// The limits by which servers refuse profiles: the status (0 for any from 400 to 499), what the
// answer then says, and what to do about it.
struct RefusalRow {
  long status;
  std::array<std::string_view, 3> words;  // one of them; if there are none, the status alone
  std::string_view step;
};
constexpr RefusalRow kRefusals[] = {
    {0,
     {"ingestion window", "too old", "out of order"},
     "the server accepts only recent profiles (Pyroscope: reject-older-than, an hour): send it "
     "with the present time (--at now), or raise that limit"},
    {413,
     {},
     "it is too large for the server: send it in smaller parts (--max-size), or raise the limit "
     "(Pyroscope: max-profile-size-bytes)"},
    {0,
     {"size limit", "too large"},
     "it is too large for the server: send it in smaller parts (--max-size), or raise the limit "
     "(Pyroscope: max-profile-size-bytes)"},
    {0,
     {"samples limit"},
     "it has too many samples for the server: send it in smaller parts (--max-samples), or raise "
     "the limit (Pyroscope: max-profile-stacktrace-samples)"},
    {0,
     {"label names; limit"},
     "leave out a --label, or raise the limit (Pyroscope: max-label-names-per-series)"},
    {0,
     {"label name too long"},
     "shorten the name of the --label, or raise the limit (Pyroscope: max-length-label-name)"},
    {0,
     {"label value too long"},
     "shorten --name or the value of the --label, or raise the limit (Pyroscope: "
     "max-length-label-value)"},
    {429,
     {},
     "the server accepts no more bytes for now: push again later, or raise the limit (Pyroscope: "
     "ingestion-rate-limit-mb, ingestion-burst-size-mb)"},
};

// Returns what to do about a response that is not a success.
std::string NextStep(long status, std::string_view text) {
  const bool refused = status >= 400 && status < 500;
  for (const RefusalRow& row : kRefusals) {
    const bool is_status = row.status == 0 ? refused : status == row.status;
    if (is_status && (row.words.front().empty() || Mentions(text, row.words)))
      return std::string(row.step);
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

}  // namespace

size_t PushPayload::Bytes() const {
  size_t sum = 0;
  for (const std::string& file : files) sum += file.size();
  return sum;
}

Result<void> Push(const PushTarget& target, const PushPayload& payload) {
  const size_t parts = payload.files.size();
  for (size_t part = 0; part < parts; ++part) {
    auto sent =
        Send(RequestFor(target, payload, payload.files[part]), profile::CleanText(target.url));
    if (sent) continue;
    if (parts == 1) return sent;
    return Fail("part {} of {}: {}{}", part + 1, parts, sent.error().message,
                part > 0 ? " (the server has accepted the parts before it: pushing again sends "
                           "them once more)"
                         : "");
  }
  return {};
}

}  // namespace jprof::record
