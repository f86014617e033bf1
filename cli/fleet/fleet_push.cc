#include "cli/fleet/fleet_push.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "cli/fleet/published_names.h"
#include "common/shell_word.h"
#include "fleet/push/sender.h"
#include "profile/files/printable_text.h"
#include "profile/read/combined.h"
#include "record/place/jvm_profiles.h"
#include "record/place/profile_place.h"
#include "record/place/recording_summary.h"
#include "record/run/print_error.h"

namespace jprof::cli {
namespace {

namespace fs = std::filesystem;

std::string HostName() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

// Returns the profiles that a directory stands for.
Result<std::vector<std::string>> ProfilesOf(const std::string& directory) {
  std::vector<std::string> profiles;
  if (profile::IsCombined(directory)) {
    const auto combined = profile::ReadCombined(directory);
    if (!combined) return std::unexpected(combined.error());
    for (const profile::Run& run : combined->runs)
      profiles.push_back((fs::path(directory) / run.profile).string());
  } else if (record::IsSeveral(directory)) {
    for (const fs::path& path : record::ProfilesAt(directory)) profiles.push_back(path.string());
  } else {
    profiles.push_back(directory);
  }
  return profiles;
}

// Returns "app" of "runs/app.jprof/".
std::string ServiceOf(const std::string& directory) {
  fs::path path = fs::path(directory).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  return path.extension() == ".jprof" ? path.stem() : path.filename();
}

// Returns "1 run" or "2 runs".
std::string NumberOf(uint64_t count, std::string_view one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

// Sends what the spool has, and removes what was sent. Fails at what cannot be sent, after it has
// sent all else that the server takes.
Result<uint64_t> SendSpooled(fleet::Sender& sender, const fleet::Spool& spool) {
  const std::vector<fleet::Spool::Entry> entries = spool.Entries();
  uint64_t sent_entries = 0;
  bool is_refused = false;  // by the server
  sender.OnBatch([&](const std::vector<std::string>& directories, const Result<void>& sent) {
    is_refused |= !sent;
    if (!sent) return sent;
    for (const fleet::Spool::Entry& entry : entries) {
      if (std::ranges::count(directories, entry.directory) == 0) continue;
      fleet::Spool::Remove(entry);
      ++sent_entries;
    }
    return Result<void>();
  });
  Result<void> unreadable;
  for (const fleet::Spool::Entry& entry : entries) {
    auto added = sender.Add(entry.directory, entry.names);
    std::error_code error;
    if (!added && !fs::exists(entry.path, error)) continue;  // another process has sent it
    if (!added && is_refused) return std::unexpected(added.error());
    if (!added) unreadable = added;
  }
  if (auto flushed = sender.Flush(); !flushed) return std::unexpected(flushed.error());
  if (!unreadable) return std::unexpected(unreadable.error());
  return sent_entries;
}

class Pusher {
 public:
  Pusher(const FleetPush& push, const fleet::Url& url)
      : push_(push),
        url_(url),
        spool_(push.spool.empty() ? fleet::DefaultSpool() : push.spool, url, push.spool_limit),
        sender_(MakeSender()) {
    sender_.OnBatch([this](const std::vector<std::string>& directories, const Result<void>& sent) {
      return sent ? sent : Keep(directories, sent.error());
    });
  }

  Result<void> Push() {
    if (auto spooled = TrySpooled(); !spooled) return spooled;
    for (const std::string& directory : push_.profiles) Note(Add(directory));
    Note(sender_.Flush());
    Report();
    if (kept_ > 0) {
      Note(Fail("{}; {} {} kept in {}, to be sent by the next push, or by: jprof push {} --spooled",
                reason_, NumberOf(kept_, "profile"), kept_ == 1 ? "is" : "are",
                record::DisplayPath(spool_.folder()), ShellWord(url_.Text())));
    }
    return failed_;
  }

 private:
  Result<void> Add(const std::string& directory) {
    const auto profiles = ProfilesOf(directory);
    if (!profiles) return std::unexpected(profiles.error());
    for (const std::string& profile : *profiles) {
      names_[profile] = NamesOf(directory, profile);
      Note(sender_.Add(profile, names_[profile]));
    }
    return {};
  }

  // Returns the names of one of the profiles that `directory` stands for: as they were typed, else
  // as the program has published them.
  fleet::RunNames NamesOf(const std::string& directory, const std::string& profile) const {
    fleet::RunNames names = push_.names;
    for (const auto& [name, value] : PublishedNames(profile)) {
      if (name == kServiceName) {
        if (names.service.empty()) names.service = value;
      } else if (name == kServiceVersion) {
        if (names.version.empty()) names.version = value;
      } else if (!names.redact && std::ranges::find(names.labels, name, [](const auto& label) {
                                    return label.first;
                                  }) == names.labels.end()) {
        names.labels.emplace_back(name, value);
      }
    }
    if (names.service.empty()) names.service = ServiceOf(directory);
    return names;
  }

  fleet::Sender MakeSender() const {
    return fleet::Sender(fleet::Server(url_, push_.silence_seconds), push_.silence_seconds);
  }

  // Prints a failure, except for the last one, which is what the push returns: what one profile
  // lacks does not keep the others from being sent.
  void Note(const Result<void>& done) {
    if (done) return;
    if (!failed_) record::PrintError(failed_.error().message);
    failed_ = done;
  }

  // Sends what is left of earlier pushes. A failure matters only if it was asked for.
  Result<void> TrySpooled() {
    fleet::Sender sender = MakeSender();
    const auto sent = SendSpooled(sender, spool_);
    if (!sender.given_up()) sender_.GiveUp(sender.given_up().error());
    if (sent && *sent > 0)
      record::PrintError(fmt::format("pushed:  {} of the spool", NumberOf(*sent, "profile")));
    if (sent && *sent == 0 && push_.spooled) record::PrintError("the spool is empty");
    return sent || !push_.spooled ? Result<void>() : std::unexpected(sent.error());
  }

  Result<void> Keep(const std::vector<std::string>& directories, const Error& why) {
    reason_ = why.message;
    if (why.kind == Error::Kind::kWrongUse) return std::unexpected(why);
    for (const std::string& directory : directories) {
      if (auto kept = spool_.Keep(directory, names_[directory]); !kept)
        return Fail("{}; and it could not be kept for later: {}", why.message,
                    kept.error().message);
      ++kept_;
    }
    return {};
  }

  void Report() const {
    const fleet::Sent& sent = sender_.sent();
    if (sent.runs > 0) {
      record::PrintError(fmt::format("pushed:  {} ({} calls, {} rows) to {}",
                                     NumberOf(sent.runs, "run"), sent.calls, sent.rows,
                                     profile::CleanText(url_.Text())));
    }
    if (sent.known_runs > 0)
      record::PrintError(fmt::format("{} {} there already", NumberOf(sent.known_runs, "run"),
                                     sent.known_runs == 1 ? "was" : "were"));
  }

  const FleetPush& push_;
  fleet::Url url_;
  fleet::Spool spool_;
  fleet::Sender sender_;
  std::map<std::string, fleet::RunNames> names_;  // by directory
  Result<void> failed_;
  std::string reason_;
  size_t kept_ = 0;
};

}  // namespace

Result<void> PushToFleet(const FleetPush& given) {
  const auto url = fleet::ParseUrl(given.url);
  if (!url) return std::unexpected(url.error());
  if (!url->parameters.empty()) {
    return WrongUse(
        "parameters of the URL select what is read; a push names a run by --name, --app-version, "
        "--host and --label");
  }
  FleetPush push = given;
  if (push.names.host.empty()) push.names.host = HostName();
  return Pusher(push, *url).Push();
}

}  // namespace jprof::cli
