#include "fleet/push/spool.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "common/errno_text.h"
#include "common/private_file.h"
#include "fleet/push/run_row.h"
#include "profile/files/printable_text.h"
#include "profile/files/whole_file.h"
#include "profile/read/reader.h"
#include "record/place/profile_copy.h"

namespace jprof::fleet {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr char kNamesFile[] = "push.json";
constexpr char kProfileFolder[] = "profile.jprof";
constexpr char kUnfinished[] = ".unfinished";
constexpr std::chrono::hours kLongestCopy(24);

std::string Hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text;
}

// Returns the bytes that a folder occupies on the disk.
uint64_t Occupied(const fs::path& folder) {
  std::error_code error;
  uint64_t bytes = 0;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    struct stat status = {};
    if (lstat(at->path().c_str(), &status) == 0 && S_ISREG(status.st_mode))
      bytes += static_cast<uint64_t>(status.st_blocks) * 512;
  }
  return bytes;
}

std::string TextOf(const RunNames& names) {
  json labels = json::array();
  for (const auto& [name, value] : names.labels) labels.push_back({name, value});
  return json{{"service", names.service},
              {"version", names.version},
              {"host", names.host},
              {"labels", labels},
              {"merge_threads", names.merge_threads},
              {"redact", names.redact}}
      .dump(-1, ' ', false, json::error_handler_t::replace);
}

bool Parse(const std::string& text, RunNames& names) {
  const json object = json::parse(text, nullptr, false);
  if (!object.is_object()) return false;
  const auto take = [&](const char* name, auto& to) {
    const auto at = object.find(name);
    using Type = std::remove_cvref_t<decltype(to)>;
    if (at == object.end()) return;
    if constexpr (std::is_same_v<Type, bool>) {
      if (at->is_boolean()) to = at->get<bool>();
    } else {
      if (at->is_string()) to = at->get<std::string>();
    }
  };
  take("service", names.service);
  take("version", names.version);
  take("host", names.host);
  take("merge_threads", names.merge_threads);
  take("redact", names.redact);
  const auto labels = object.find("labels");
  if (labels == object.end() || !labels->is_array()) return true;
  for (const json& label : *labels) {
    if (label.is_array() && label.size() == 2 && label[0].is_string() && label[1].is_string())
      names.labels.emplace_back(label[0].get<std::string>(), label[1].get<std::string>());
  }
  return true;
}

}  // namespace

std::string DefaultSpool() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value != nullptr ? value : "");
  };
  std::string state = variable("XDG_STATE_HOME");
  if (state.empty()) state = variable("HOME") + "/.local/state";
  return state + "/jprof/spool";
}

SpoolUse UseOf(const std::string& folder) {
  SpoolUse use;
  std::error_code error;
  for (const fs::directory_entry& database : fs::directory_iterator(folder, error)) {
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(database.path(), ignored)) {
      if (fs::exists(entry.path() / kNamesFile, ignored) &&
          !entry.path().string().ends_with(kUnfinished))
        ++use.profiles;
    }
  }
  use.bytes = Occupied(folder);
  return use;
}

Spool::Spool(std::string folder, const Url& url, uint64_t limit)
    : all_(std::move(folder)), limit_(limit) {
  mine_ = all_ + "/" + Hex(Below({}, url.Text()).text());
}

Result<void> Spool::Keep(const std::string& directory, const RunNames& names) const {
  auto reader = profile::Reader::Open(directory);
  if (!reader) return std::unexpected(reader.error());
  std::error_code error;
  fs::create_directories(mine_, error);
  if (error) return Fail("cannot make the folder {}: {}", mine_, error.message());
  // The folder of all may be one that the user has chosen, and shares.
  fs::permissions(mine_, fs::perms::owner_all, error);
  if (error) return Fail("cannot make the folder {} private: {}", mine_, error.message());
  // Another state of the run may be there, and may be being sent: that remains.
  const std::string path =
      fmt::format("{}/{}-{}-{}", mine_, Hex(RunOf(*reader, names.host).text()), getpid(),
                  std::chrono::system_clock::now().time_since_epoch().count());
  const std::string made = path + kUnfinished;
  fs::create_directory(made, error);
  if (error) return Fail("cannot make the folder {}: {}", made, error.message());
  auto kept = record::CopyProfile(directory, fs::path(made) / kProfileFolder);
  if (kept) kept = profile::WriteWholeFile(fmt::format("{}/{}", made, kNamesFile), TextOf(names));
  if (kept && Occupied(all_) > limit_) {
    kept = Fail(
        "the spool {} is full ({} MB): send it (jprof push URL --spooled), or raise "
        "--spool-limit",
        all_, limit_ / 1'000'000);
  }
  if (kept) {
    fs::rename(made, path, error);
    if (error) kept = Fail("cannot make the folder {}: {}", path, error.message());
  }
  if (!kept) fs::remove_all(made, error);
  return kept;
}

std::vector<Spool::Entry> Spool::Entries() const {
  std::vector<std::pair<fs::file_time_type, Entry>> found;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(mine_, error)) {
    const std::string path = entry.path();
    if (path.ends_with(kUnfinished)) {
      const auto age = fs::file_time_type::clock::now() - entry.last_write_time(error);
      if (!error && age > kLongestCopy) fs::remove_all(path, error);
      continue;
    }
    std::ifstream file(fmt::format("{}/{}", path, kNamesFile));
    const std::string text(std::istreambuf_iterator<char>(file), {});
    RunNames names;
    if (!Parse(text, names)) continue;
    found.emplace_back(entry.last_write_time(error),
                       Entry{path, fmt::format("{}/{}", path, kProfileFolder), names});
  }
  std::ranges::sort(found, {}, [](const auto& one) { return one.first; });
  std::vector<Entry> entries;
  for (auto& [time, entry] : found) entries.push_back(std::move(entry));
  return entries;
}

void Spool::Remove(const Entry& entry) {
  std::error_code error;
  fs::remove_all(entry.path, error);
}

}  // namespace jprof::fleet
