#include "record/run/pages_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "a2n/hooks.h"
#include "profile/files/whole_file.h"
#include "record/run/installation.h"
#include "record/run/musl.h"

namespace jprof::record {

namespace fs = std::filesystem;

namespace {

constexpr uint64_t kThreshold = 128 << 10;  // smaller blocks are not logged

}  // namespace

Result<void> CheckPagesLibrary(const fs::path& program) {
  const fs::path library = LibraryPath(kPagesLibrary);
  std::error_code ignored;
  if (!fs::exists(library, ignored))
    return Fail("{} is missing; reinstall jprof", library.string());
  if (library.string().find_first_of(" :") != std::string::npos)
    return Fail("a library cannot be preloaded from a path with blanks or colons: {}",
                library.string());
  if (NeedsMusl(program)) return Fail("it is linked with musl");
  if (a2n::HooksOf(program.string()).is_static) return Fail("it is linked statically");
  return {};
}

void PreloadPagesLibrary(const fs::path& folder, Launch& launch) {
  launch.environment.emplace_back("JPROF_PAGES", PagesPlan(folder).string());
  AddInFront("LD_PRELOAD", LibraryPath(kPagesLibrary).string(), ' ', launch);
}

Result<void> WritePagesPlan(const fs::path& folder, std::string_view directives) {
  return profile::WriteWholeFile(PagesPlan(folder).string(),
                                 fmt::format("jprof-pages 1\nlog {}\nthreshold {}\n{}",
                                             folder.string(), kThreshold, directives));
}

fs::path PagesPlan(const fs::path& folder) { return folder / "plan"; }

void AddInFront(const std::string& name, const std::string& value, char separator, Launch& launch) {
  auto& variables = launch.environment;
  const auto changed =
      std::ranges::find(variables, name, &std::pair<std::string, std::string>::first);
  const char* const inherited = std::getenv(name.c_str());
  const std::string old = changed != variables.end() ? changed->second
                          : inherited != nullptr     ? inherited
                                                     : "";
  const std::string all = old.empty() ? value : value + separator + old;
  if (changed != variables.end()) {
    changed->second = all;
  } else {
    variables.emplace_back(name, all);
  }
}

}  // namespace jprof::record
