// The door for profiles that are in the database of a fleet: a URL becomes a directory.
#pragma once

#include <chrono>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "common/result.h"
#include "fleet/server/url.h"
#include "record/run/temporary_folder.h"

namespace jprof::cli {

// A profile with the sums of the runs that a URL selects, in a temporary folder.
struct Fetched {
  std::unique_ptr<record::TemporaryFolder> folder;
  std::string directory;  // of the profile, which what is printed calls by its URL
};

// Makes the profile of a URL of a fleet (clickhouse://HOST/DATABASE?...), and says so on stderr.
// Fails if the URL is wrong, if the server does not answer, or if the runs cannot be added.
Result<Fetched> Fetch(const std::string& url);

// Replaces a URL of a fleet by the directory of its profile, which exists until the program ends.
// Leaves other names as they are. Fails as Fetch does.
Result<void> FetchIfUrl(std::string& named);
Result<void> FetchIfUrl(std::initializer_list<std::string*> named);

// The profiles of a program that runs for long: each is fetched again when it is asked for after
// some minutes, because runs are pushed all the time.
class KeptProfiles {
 public:
  // `databases` are URLs of the databases that may be read. Fails with kWrongUse if one is none.
  static Result<KeptProfiles> Of(const std::vector<std::string>& databases);

  // Returns the directory of a URL's profile, which exists for some minutes. Fails as Fetch does,
  // and with kWrongUse if the URL is one of another database.
  Result<std::string> DirectoryOf(const std::string& url);

 private:
  struct Kept {
    std::string url;
    Fetched fetched;
    std::chrono::steady_clock::time_point since;
  };
  std::vector<fleet::Url> databases_;
  std::vector<Kept> kept_;
};

}  // namespace jprof::cli
