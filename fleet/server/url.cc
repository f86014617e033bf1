#include "fleet/server/url.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "profile/files/printable_text.h"
#include "record/push/http_post.h"

namespace jprof::fleet {
namespace {

constexpr std::string_view kPlain = "clickhouse://";
constexpr std::string_view kSecure = "clickhouses://";
constexpr int kPlainPort = 8123;
constexpr int kSecurePort = 8443;

std::unexpected<Error> NoUrl(std::string_view why) {
  return WrongUse(
      "{}; write clickhouse://HOST:PORT/DATABASE (port 8123 if left out), or "
      "clickhouses:// for TLS",
      why);
}

std::unexpected<Error> HasPassword() {
  return WrongUse(
      "the URL contains a password, which every user of this machine could read; put it into "
      "~/.netrc (machine HOST login USER password ...) or into the variable {}, and leave it "
      "out of the URL",
      kPasswordVariable);
}

// Expands %XX and, in a query, +.
std::string Decoded(std::string_view text, bool is_query) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    uint8_t value = 0;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(&text[i + 1], &text[i + 3], value, 16).ptr == &text[i + 3]) {
      out += static_cast<char>(value);
      i += 2;
    } else {
      out += is_query && text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

bool IsName(std::string_view text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) == 0 &&
         std::ranges::all_of(text,
                             [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

bool IsHost(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("-._:[]").find(static_cast<char>(c)) != std::string_view::npos;
  });
}

// Splits "user@host:port".
Result<void> TakeServer(std::string_view text, Url& url) {
  const size_t at = text.rfind('@');
  if (at != text.npos) {
    url.user = Decoded(text.substr(0, at), false);
    if (url.user.find(':') != url.user.npos) return HasPassword();
    text.remove_prefix(at + 1);
  }
  const size_t bracket = text.rfind(']');
  const size_t colon = text.find(':', bracket == text.npos ? 0 : bracket);
  url.host = text.substr(0, colon);
  url.port = url.secure ? kSecurePort : kPlainPort;
  if (colon != text.npos) {
    const std::string_view port = text.substr(colon + 1);
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), url.port);
    if (error != std::errc() || end != port.data() + port.size() || url.port < 1 ||
        url.port > 65535)
      return NoUrl(fmt::format("the port {} is no number up to 65535", profile::CleanText(port)));
  }
  if (IsHost(url.host)) return {};
  return NoUrl("the URL names no host");
}

}  // namespace

std::string Url::Text() const {
  return fmt::format("{}{}{}:{}/{}", secure ? kSecure : kPlain,
                     user.empty() ? "" : record::UrlEncoded(user) + "@", host, port, database);
}

std::string Url::Http(bool with_user) const {
  return fmt::format("{}://{}{}:{}", secure ? "https" : "http",
                     with_user && !user.empty() ? record::UrlEncoded(user) + "@" : "", host, port);
}

std::string Url::Get(std::string_view name) const {
  for (const auto& [key, value] : parameters)
    if (key == name) return value;
  return "";
}

bool IsUrl(std::string_view text) { return text.starts_with(kPlain) || text.starts_with(kSecure); }

namespace {

// Takes what is before the parameters.
Result<void> TakePlace(std::string_view text, Url& url) {
  const size_t slash = std::min(text.find('/'), text.size());
  if (auto taken = TakeServer(text.substr(0, slash), url); !taken) return taken;
  url.database = text.substr(std::min(slash + 1, text.size()));
  while (url.database.ends_with('/')) url.database.pop_back();
  if (!IsName(url.database)) {
    return NoUrl(url.database.empty()
                     ? "the URL names no database"
                     : fmt::format("the database {} is no name of letters, digits and _",
                                   profile::CleanText(url.database)));
  }
  return {};
}

}  // namespace

Result<Url> ParseUrl(std::string_view text) {
  // Whatever is before an @ may be a password, which is not printed.
  const bool may_have_password = text.find('@') != text.npos;
  if (!IsUrl(text)) {
    return NoUrl(fmt::format("{} is no URL of a fleet",
                             may_have_password ? "it" : profile::CleanText(text)));
  }
  Url url = {.secure = text.starts_with(kSecure)};
  text.remove_prefix(url.secure ? kSecure.size() : kPlain.size());
  const size_t question = std::min(text.find('?'), text.size());
  const std::string_view query = text.substr(std::min(question + 1, text.size()));
  if (auto taken = TakePlace(text.substr(0, question), url); !taken)
    return may_have_password ? HasPassword() : std::unexpected(taken.error());
  for (size_t at = 0; at < query.size();) {
    const size_t end = std::min(query.find('&', at), query.size());
    const std::string_view one = query.substr(at, end - at);
    const size_t equals = std::min(one.find('='), one.size());
    if (!one.empty()) {
      url.parameters.emplace_back(Decoded(one.substr(0, equals), true),
                                  Decoded(one.substr(std::min(equals + 1, one.size())), true));
    }
    at = end + 1;
  }
  return url;
}

}  // namespace jprof::fleet
