#include "profile/read/shown_name.h"

#include <map>
#include <utility>

namespace jprof::profile {
namespace {

std::map<std::string, std::string>& ShownNames() {
  static std::map<std::string, std::string> names;
  return names;
}

}  // namespace

void SetShownName(const std::string& directory, std::string name) {
  ShownNames().emplace(directory, std::move(name));
}

const std::string& ShownName(const std::string& directory) {
  const auto found = ShownNames().find(directory);
  return found != ShownNames().end() ? found->second : directory;
}

}  // namespace jprof::profile
