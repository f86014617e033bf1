#include "cli/fleet/fetched.h"

#include <sys/stat.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "common/errno_text.h"
#include "common/private_file.h"
#include "fleet/read/load.h"
#include "profile/files/printable_text.h"
#include "record/run/print_error.h"
#include "record/run/temporary_folder.h"

namespace jprof::cli {
namespace {

// Owns the folders of the profiles until the program ends.
std::vector<std::unique_ptr<record::TemporaryFolder>>& Folders() {
  static std::vector<std::unique_ptr<record::TemporaryFolder>> folders;
  return folders;
}

// Returns a name for the profile, of letters and digits: "shop-1.2".
std::string NameOf(const fleet::Url& url) {
  std::string name = url.Get("service").empty() ? url.database : url.Get("service");
  for (const char* part : {"version", "host"})
    if (const std::string value = url.Get(part); !value.empty()) name += "-" + value;
  std::ranges::replace_if(
      name,
      [](unsigned char c) { return std::isalnum(c) == 0 && c != '-' && c != '.' && c != '_'; },
      '_');
  return name.substr(0, 100);
}

}  // namespace

Result<void> FetchIfUrl(std::string& named) {
  if (!fleet::IsUrl(named)) return {};
  const auto url = fleet::ParseUrl(named);
  if (!url) return std::unexpected(url.error());
  const auto selection = fleet::SelectionOf(*url, fleet::NowNanos());
  if (!selection) return std::unexpected(selection.error());
  auto folder = std::make_unique<record::TemporaryFolder>("jprof-fleet");
  const std::string directory = (folder->path() / (NameOf(*url) + ".jprof")).string();
  if (folder->path().empty() || mkdir(directory.c_str(), kPrivateDirectory) != 0)
    return Fail("cannot make a folder for temporary files: {}", ErrnoText());
  fleet::Server server(*url);
  const auto loaded = fleet::Load(server, *selection, directory);
  if (!loaded) return std::unexpected(loaded.error());
  record::PrintError(fmt::format("read {} runs with {} contexts from {}", loaded->runs,
                                 loaded->contexts, profile::CleanText(url->Text())));
  Folders().push_back(std::move(folder));
  named = directory;
  return {};
}

Result<void> FetchIfUrl(std::initializer_list<std::string*> named) {
  for (std::string* one : named) {
    if (auto fetched = FetchIfUrl(*one); !fetched) return fetched;
  }
  return {};
}

}  // namespace jprof::cli
