// Describes a server of continuous profiling, and under which name a profile is sent to it. Checks
// what a user typed before anything is opened or sent.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "common/result.h"

namespace jprof::record {

// Names the environment variable whose value is sent as the header Authorization.
inline constexpr char kAuthorization[] = "JPROF_PUSH_AUTHORIZATION";

enum class PushServer { kPyroscope, kParca };

using PushLabels = std::vector<std::pair<std::string, std::string>>;

struct PushTarget {
  PushServer server = PushServer::kPyroscope;
  std::string url;            // http or https, without a '/' at its end
  std::string name;           // of the application
  PushLabels labels;          // besides the name
  std::string tenant;         // the header X-Scope-OrgID; none if empty
  std::string authorization;  // the header Authorization; none if empty
  long timeout_seconds = 30;  // of each request
};

// Returns the value of the variable kAuthorization.
std::string Authorization();

// Returns the URL without '/' at its end.
std::string WithoutSlash(std::string url);

// Parses NAME=VALUE. Fails with kWrongUse if a label is not allowed, or is given twice.
Result<PushLabels> ParseLabels(const std::vector<std::string>& texts, PushServer server);

// Fails with kWrongUse if the URL, the name or a header cannot be sent as it is. The URL is
// printed, so it must not contain a password.
Result<void> CheckTarget(const PushTarget& target);

}  // namespace jprof::record
