// The user's calibration tables on disk: one JSON file per fingerprint in DataDirectory(), written
// to a temporary beside it and renamed, so that a table is either the old one or the new one,
// whole.
#pragma once

#include <filesystem>
#include <string>

#include "calibrate/model/table.h"
#include "common/result.h"

namespace jprof::calibrate {

struct StoredTable {
  std::filesystem::path path;
  Table table;
};

// ${XDG_DATA_HOME:-$HOME/.local/share}/jprof/calibration. Not created here.
std::filesystem::path DataDirectory();

// Where the table of this fingerprint belongs: a readable name and a hash of all parts.
std::filesystem::path TablePath(const Fingerprint& fingerprint);

// The table that fits. Error: none there (tells to run jprof calibrate, and how the nearest table
// differs), or damaged. The message is whole sentences without the word "error".
Result<StoredTable> FindTable(const Fingerprint& fingerprint);

// A table by file name, whether it fits or not (see Differences).
Result<StoredTable> LoadTable(const std::filesystem::path& path);

// Writes to `path`, or to TablePath() if that is empty; creates directories. Returns where it is.
Result<std::filesystem::path> SaveTable(const Table& table, std::filesystem::path path = {});

// Makes the file with this text, whole or not at all; creates directories. Returns where it is.
Result<std::filesystem::path> WriteWhole(const std::filesystem::path& path,
                                         const std::string& text);

// FNV-1a of the fingerprint's parts: the hash in the file name.
uint64_t Hash(const Fingerprint& fingerprint);

}  // namespace jprof::calibrate
