#include "record/push/push_target.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "profile/files/printable_text.h"

namespace jprof::record {
namespace {

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
                        PushServer server) {
  if (server == PushServer::kParca && name == "job")
    return WrongUse("--label job: use --name, which is sent as this label");
  if (name == "__name__")
    return WrongUse("--label {}: this label is the name of the profile; use another one", name);
  if (std::ranges::find(labels, name, &PushLabels::value_type::first) != labels.end())
    return WrongUse("--label {} is given twice; leave one out", name);
  if (value.find_first_of(",{}\"") == value.npos && !HasControl(value)) return {};
  return WrongUse("--label {}: the value must not contain , {{ }}, quotes or control characters",
                  profile::CleanText(name + "=" + value));
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

}  // namespace

std::string Authorization() {
  const char* value = std::getenv(kAuthorization);
  return value != nullptr ? value : "";
}

std::string WithoutSlash(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  return url;
}

Result<PushLabels> ParseLabels(const std::vector<std::string>& texts, PushServer server) {
  PushLabels labels;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    if (equals == text.npos || !IsLabelName(name)) {
      return WrongUse(
          "--label {}: write NAME=VALUE, with a name of letters, digits and _: --label env=staging",
          profile::CleanText(text));
    }
    if (auto good = CheckLabel(name, text.substr(equals + 1), labels, server); !good)
      return std::unexpected(good.error());
    labels.emplace_back(name, text.substr(equals + 1));
  }
  return labels;
}

Result<void> CheckTarget(const PushTarget& target) {
  if (auto good = CheckUrl(target.url); !good) return good;
  if (auto good = CheckHeader(kAuthorization, target.authorization); !good) return good;
  if (auto good = CheckHeader("--tenant", target.tenant); !good) return good;
  return CheckName(target.name);
}

}  // namespace jprof::record
