#include "profile/read/list_file.h"

#include <fcntl.h>
#include <fmt/format.h>

#include "common/errno_text.h"
#include "common/fd.h"
#include "profile/files/json_fields.h"
#include "profile/read/reader_file.h"

namespace jprof::profile {

Result<std::string> ReadListFile(const std::filesystem::path& directory, const ListFileHelp& help) {
  constexpr uint64_t kMostBytes = 1 << 20;
  const Fd folder(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) {
    return WrongUse("{}: cannot be opened: {}; give the directory of {}", directory.string(),
                    ErrnoText(), help.directory);
  }
  const std::string name(help.name);
  const ReaderFile file(folder.get(), name.c_str());
  if (!file.exists()) {
    return WrongUse("{}: not {} (it has no readable file '{}'); make one with: {}",
                    directory.string(), help.directory, name, help.make);
  }
  return file.ReadAll(kMostBytes);
}

nlohmann::json ParseListFile(std::string_view text, uint64_t format, Damages& damages) {
  nlohmann::json root = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!root.is_object()) {
    damages.Add("not a JSON object");
    return nullptr;
  }
  uint64_t written = 0;
  JsonFields(root).Read("format", written);
  if (written != format)
    damages.Add(fmt::format("written in format {}, this jprof reads format {}", written, format));
  return root;
}

}  // namespace jprof::profile
