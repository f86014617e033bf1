#include "cli/fleet/published_names.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "model/tree/process_attributes.h"

namespace jprof::cli {
namespace {

constexpr std::string_view kUsed[] = {kServiceName, kServiceVersion, "service_namespace",
                                      "service_instance_id", "deployment_environment_name"};

}  // namespace

std::vector<std::pair<std::string, std::string>> PublishedNames(const std::string& directory) {
  std::vector<std::pair<std::string, std::string>> names;
  for (auto [name, value] : model::ReadProcessAttributes(directory)) {
    std::ranges::replace(name, '.', '_');
    if (std::ranges::find(kUsed, name) != std::end(kUsed)) names.emplace_back(name, value);
  }
  return names;
}

}  // namespace jprof::cli
