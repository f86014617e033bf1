#include "calibrate/store/table_store.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <optional>

#include "calibrate/store/text_hash.h"
#include "profile/read/reader_file.h"

namespace jprof::calibrate {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kLongestTable = 64 << 20;

// Returns a readable file name of letters, digits and dots, which the hash makes unique.
std::string ReadableName(const Fingerprint& fingerprint) {
  std::string name;
  for (const char* part : {"jvm", "probe", "metrics"}) {
    const auto found = fingerprint.find(part);
    if (found == fingerprint.end()) continue;
    if (!name.empty()) name += '-';
    for (const char c : found->second.substr(0, 32)) {
      const bool plain = std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '+';
      if (plain)
        name += c;
      else if (!name.empty() && name.back() != '-')
        name += '-';
    }
  }
  return name.empty() ? "table" : name;
}

// Returns the table in the user's directory with the fewest differing parts.
std::optional<std::pair<fs::path, std::vector<std::string>>> Nearest(const Fingerprint& wanted) {
  std::optional<std::pair<fs::path, std::vector<std::string>>> nearest;
  for (const fs::path& path : StoredTables()) {
    const auto stored = LoadTable(path);
    if (!stored) continue;
    auto differences = Differences(stored->table.fingerprint, wanted);
    if (!nearest || differences.size() < nearest->second.size()) {
      nearest = {path, std::move(differences)};
    }
  }
  return nearest;
}

}  // namespace

fs::path DataDirectory() {
  fs::path base;
  if (const char* data = std::getenv("XDG_DATA_HOME"); data != nullptr && *data == '/') {
    base = data;
  } else {
    const char* home = std::getenv("HOME");
    base = fs::path(home != nullptr ? home : ".") / ".local" / "share";
  }
  return base / "jprof" / "calibration";
}

std::vector<fs::path> StoredTables() {
  std::vector<fs::path> paths;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(DataDirectory(), ignored)) {
    if (entry.path().extension() == ".json") paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  return paths;
}

uint64_t Hash(const Fingerprint& fingerprint) {
  TextHash hash;
  for (const auto& [part, value] : fingerprint) {
    hash.Add(part);
    hash.Add(value);
  }
  return hash.value();
}

fs::path TablePath(const Fingerprint& fingerprint) {
  return DataDirectory() /
         fmt::format("{}-{:016x}.json", ReadableName(fingerprint), Hash(fingerprint));
}

Result<StoredTable> LoadTable(const fs::path& path) {
  const profile::ReaderFile file(AT_FDCWD, path.c_str());
  if (!file.exists()) return Fail("cannot read the calibration table {}", path.string());
  auto table = FromJson(file.ReadAll(kLongestTable));
  if (!table) return Fail("{}: {}", path.string(), table.error().message);
  return StoredTable{path, std::move(*table)};
}

Result<StoredTable> FindTable(const Fingerprint& fingerprint) {
  const fs::path path = TablePath(fingerprint);
  std::error_code ignored;
  if (fs::exists(path, ignored)) {
    auto stored = LoadTable(path);
    if (!stored || Differences(stored->table.fingerprint, fingerprint).empty()) return stored;
  }
  const auto nearest = Nearest(fingerprint);
  if (!nearest)
    return Fail("there is no calibration table yet: run {}", TrainingCommand(fingerprint));
  std::string differences;
  for (const std::string& difference : nearest->second) {
    differences += (differences.empty() ? "" : "; ") + difference;
  }
  return Fail("no calibration table fits: run {} (the nearest, {}, differs in {})",
              TrainingCommand(fingerprint), nearest->first.filename().string(), differences);
}

Result<fs::path> WriteWhole(const fs::path& path, const std::string& text) {
  std::error_code failed;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), failed);
  const fs::path temporary = path.string() + fmt::format(".{}.tmp", getpid());
  std::ofstream file(temporary, std::ios::binary);
  file << text;
  file.close();
  if (file) fs::rename(temporary, path, failed);
  if (!file || failed) {
    std::error_code ignored;
    fs::remove(temporary, ignored);
    return Fail("cannot write {}: {}", path.string(),
                failed ? failed.message() : "is the disk full, or the directory read-only?");
  }
  return path;
}

Result<fs::path> SaveTable(const Table& table, fs::path path) {
  if (path.empty()) path = TablePath(table.fingerprint);
  auto written = WriteWhole(path, ToJson(table));
  if (!written) return Fail("no calibration table: {}", written.error().message);
  return written;
}

}  // namespace jprof::calibrate
