// The address of a fleet's database, and what a URL selects of it:
// clickhouse://USER@HOST:PORT/DATABASE?service=shop&from=7d
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/result.h"

namespace jprof::fleet {

// Names the environment variable that has the password of the database.
inline constexpr char kPasswordVariable[] = "JPROF_FLEET_PASSWORD";

struct Url {
  bool secure = false;  // by TLS
  std::string user, host, database;
  int port = 0;
  std::vector<std::pair<std::string, std::string>> parameters;  // decoded, in the order given

  // Returns the URL without its parameters. It contains no password.
  std::string Text() const;
  // Returns the address of the HTTP interface: "http://host:8123", or "http://user@host:8123".
  std::string Http(bool with_user) const;
  // Returns the value of the parameter, or an empty text.
  std::string Get(std::string_view name) const;
};

// Returns whether the text is such a URL and no path.
bool IsUrl(std::string_view text);

// Fails with kWrongUse if the text is no URL of a database, or contains a password.
Result<Url> ParseUrl(std::string_view text);

}  // namespace jprof::fleet
