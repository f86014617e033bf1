// What a program has published of itself that names its profiles where they are pushed.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace jprof::cli {

// Names the attribute that is the application's name, and the one that is its version.
inline constexpr char kServiceName[] = "service_name";
inline constexpr char kServiceVersion[] = "service_version";

// Returns the attributes of the process context in a profile that pushes use, with _ in place of
// dots: the two above, service_namespace, service_instance_id and deployment_environment_name.
std::vector<std::pair<std::string, std::string>> PublishedNames(const std::string& directory);

}  // namespace jprof::cli
