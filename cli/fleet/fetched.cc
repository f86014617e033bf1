#include "cli/fleet/fetched.h"

#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "common/errno_text.h"
#include "common/private_file.h"
#include "fleet/read/load.h"
#include "profile/files/printable_text.h"
#include "profile/read/shown_name.h"
#include "record/run/print_error.h"

namespace jprof::cli {
namespace {

constexpr std::chrono::minutes kKeptFor{5};

// Owns the folders of the profiles until the program ends.
std::vector<Fetched>& Folders() {
  static std::vector<Fetched> folders;
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

Result<Fetched> Fetch(const std::string& named) {
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
  profile::SetShownName(directory, named);
  return Fetched{.folder = std::move(folder), .directory = directory};
}

Result<void> FetchIfUrl(std::string& named) {
  if (!fleet::IsUrl(named)) return {};
  auto fetched = Fetch(named);
  if (!fetched) return std::unexpected(fetched.error());
  named = fetched->directory;
  Folders().push_back(*std::move(fetched));
  return {};
}

Result<void> FetchIfUrl(std::initializer_list<std::string*> named) {
  for (std::string* one : named) {
    if (auto fetched = FetchIfUrl(*one); !fetched) return fetched;
  }
  return {};
}

Result<KeptProfiles> KeptProfiles::Of(const std::vector<std::string>& databases) {
  KeptProfiles profiles;
  for (const std::string& text : databases) {
    const auto url = fleet::ParseUrl(text);
    if (!url) return std::unexpected(url.error());
    if (!url->parameters.empty())
      return WrongUse("--fleet names a database; parameters belong to the questions: --fleet {}",
                      profile::CleanText(url->Text()));
    profiles.databases_.push_back(*url);
  }
  return profiles;
}

Result<std::string> KeptProfiles::DirectoryOf(const std::string& named) {
  const auto url = fleet::ParseUrl(named);
  if (!url) return std::unexpected(url.error());
  const auto is_it = [&](const fleet::Url& database) { return database.Text() == url->Text(); };
  if (std::ranges::none_of(databases_, is_it)) {
    return WrongUse("jprof mcp does not read {}; start it with: jprof mcp --fleet {}",
                    profile::CleanText(url->Text()), profile::CleanText(url->Text()));
  }
  const auto now = std::chrono::steady_clock::now();
  // What is too old to be read again may still be read by the question that has asked for it.
  std::erase_if(kept_, [&](const Kept& kept) { return now - kept.since > 2 * kKeptFor; });
  for (const Kept& kept : kept_)
    if (kept.url == named && now - kept.since <= kKeptFor) return kept.fetched.directory;
  auto fetched = Fetch(named);
  if (!fetched) return std::unexpected(fetched.error());
  kept_.push_back({named, *std::move(fetched), now});
  return kept_.back().fetched.directory;
}

}  // namespace jprof::cli
