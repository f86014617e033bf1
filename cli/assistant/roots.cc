#include "cli/assistant/roots.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <system_error>

#include "profile/files/printable_text.h"

namespace jprof::cli {

namespace fs = std::filesystem;

Result<Roots> Roots::Of(const std::vector<std::string>& folders) {
  Roots roots;
  for (const std::string& folder : folders) {
    std::error_code error;
    const fs::path path = fs::canonical(folder, error);
    if (error || !fs::is_directory(path, error))
      return WrongUse("--root {}: not a folder; name one that has profiles", folder);
    roots.folders_.push_back(path);
  }
  return roots;
}

Result<std::string> Roots::Admit(const std::string& named) const {
  if (folders_.empty()) return named;
  std::error_code error;
  const fs::path path = fs::weakly_canonical(folders_.front() / named, error);
  const auto contains = [&](const fs::path& folder) {
    return std::ranges::mismatch(folder, path).in1 == folder.end();
  };
  if (!error && std::ranges::any_of(folders_, contains)) return path.string();
  std::vector<std::string> folders;
  for (const fs::path& folder : folders_) folders.push_back(folder.string());
  return WrongUse("{} is outside of {}: jprof mcp was started with --root, and reads nothing else",
                  profile::CleanText(named), fmt::join(folders, ", "));
}

}  // namespace jprof::cli
