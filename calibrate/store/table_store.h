// Stores the user's calibration tables on disk: one JSON file per fingerprint in DataDirectory().
// A table is written to a temporary file beside it, which is then renamed, so that a file is
// never incomplete.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "calibrate/model/table.h"
#include "common/result.h"

namespace jprof::calibrate {

struct StoredTable {
  std::filesystem::path path;
  Table table;
};

// Returns ${XDG_DATA_HOME:-$HOME/.local/share}/jprof/calibration, which is not created here.
std::filesystem::path DataDirectory();

// Returns the paths of the tables in DataDirectory(), sorted.
std::vector<std::filesystem::path> StoredTables();

// Returns the path of the table with this fingerprint: a readable name and a hash of all parts.
std::filesystem::path TablePath(const Fingerprint& fingerprint);

// Finds the table that fits. Fails if there is none (the message recommends jprof calibrate and
// lists the differences of the nearest table) or if it is damaged.
Result<StoredTable> FindTable(const Fingerprint& fingerprint);

// Loads a table by file name without checking that it fits (see Differences).
Result<StoredTable> LoadTable(const std::filesystem::path& path);

// Writes to `path`, or to TablePath() if that is empty, and creates directories. Returns the path.
Result<std::filesystem::path> SaveTable(const Table& table, std::filesystem::path path = {});

// Writes the file atomically, whole or not at all, and creates directories. Returns its path.
Result<std::filesystem::path> WriteWhole(const std::filesystem::path& path,
                                         const std::string& text);

// Returns FNV-1a of the fingerprint's parts, which is the hash in the file name.
uint64_t Hash(const Fingerprint& fingerprint);

}  // namespace jprof::calibrate
