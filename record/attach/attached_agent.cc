#include "record/attach/attached_agent.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "common/control_protocol.h"
#include "common/errno_text.h"
#include "common/procfs.h"
#include "options/filter.h"
#include "options/tool_options.h"
#include "record/attach/attach.h"
#include "record/attach/loaded_copy.h"
#include "record/place/profile_copy.h"
#include "record/run/small_file.h"

namespace jprof::record {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFolderStart = "jprof-attach-";
constexpr std::string_view kReply = "reply", kProfile = "profile",
                           kLibrary = options::kAgentLibrary;

constexpr std::string_view kDetach = "DETACH";

// Makes the agent carry out the options, and returns the text of its reply.
Result<std::string> CallAgent(const AttachTarget& target, const AttachFolder& folder,
                              const std::string& library, std::string_view options) {
  const fs::path reply = folder.LocalPath(kReply);
  {
    const ScopedUser user(target.ids);
    unlink(reply.c_str());
  }
  const auto code =
      LoadAgent(target, library,
                fmt::format("{},REPLY={}", options, options::Encode(folder.PathInJvm(kReply))),
                options == kDetach ? OnSignal::kGoOn : OnSignal::kGiveUp);
  if (!code) return std::unexpected(code.error());
  const ScopedUser user(target.ids);
  return ParseReply(ReadSmallFile(reply), *code);
}

std::vector<std::string> FactsNamed(std::string_view key, std::string_view answer) {
  std::vector<std::string> values;
  for (const control::Field& field : control::SplitFields(answer)) {
    if (field.key == key) values.push_back(field.value);
  }
  return values;
}

// Fails for a stopped JVM, which would reply only after it is continued.
Result<std::string> CallDetach(const AttachTarget& target, const AttachFolder& folder,
                               const std::string& library) {
  const char state = procfs::ReadStatus(target.pid).state;
  if (state == 'T' || state == 't')
    return Fail("it is stopped; continue it (kill -CONT {})", target.pid);
  return CallAgent(target, folder, library, kDetach);
}

// Stops the recording in the copy of the agent that made it: the JVM may have copies of several
// versions.
Result<std::string> CallDetach(const AttachTarget& target, const AttachFolder& folder) {
  Result<std::string> done;
  for (const procfs::Mapping& agent : target.loaded_agents) {
    done = CallDetach(target, folder, agent.path);
    if (done || !done.error().message.contains(control::kNotRecording)) break;
  }
  return done;
}

// Reads as this user, and writes as that of the JVM.
Result<void> CopyLibrary(const AttachTarget& target, const fs::path& from, const fs::path& to) {
  const Fd source(open(from.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status = {};
  if (!source || fstat(source.get(), &status) != 0)
    return Fail("cannot read {}: {}", from.string(), ErrnoText());
  const ScopedUser user(target.ids);
  const Fd copy(open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700));
  const int error = copy ? CopyData(source.get(), copy.get(), status.st_size) : errno;
  if (error == 0) return {};
  return Fail("cannot copy the agent into {} of process {}: {}", target.temporary_path, target.pid,
              ErrnoText(error));
}

// Does not follow a link that the user of the JVM put in place of the profile.
Result<void> MoveProfile(const AttachTarget& target, const AttachFolder& folder,
                         const fs::path& out) {
  const Fd profile(
      open(folder.LocalPath(kProfile).c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!profile) return Fail("process {} has made no profile: {}", target.pid, ErrnoText());
  auto copied = CopyProfile(procfs::DescriptorPath(profile.get()), out, target.ids);
  if (copied) return {};
  return Fail("{}; the profile remains in {} of process {}", copied.error().message,
              folder.PathInJvm(kProfile), target.pid);
}

}  // namespace

AttachFolder::AttachFolder(const AttachTarget& target, std::string name)
    : name_(std::move(name)),
      path_((fs::path(target.temporary_path) / name_).string()),
      parent_(fcntl(target.temporary.get(), F_DUPFD_CLOEXEC, 0)),
      folder_(parent_ ? openat(parent_.get(), name_.c_str(),
                               O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                      : -1) {}

Result<AttachFolder> AttachFolder::Make(const AttachTarget& target) {
  const ScopedUser user(target.ids);
  std::string path =
      fmt::format("{}/{}XXXXXX", procfs::DescriptorPath(target.temporary.get()), kFolderStart);
  if (mkdtemp(path.data()) == nullptr)
    return Fail("cannot make a directory in {} of process {}: {}", target.temporary_path,
                target.pid, ErrnoText());
  AttachFolder folder(target, fs::path(path).filename());
  if (folder.folder_) return folder;
  return Fail("cannot open {}: {}", folder.PathInJvm(""), ErrnoText());
}

std::optional<AttachFolder> AttachFolder::Of(const AttachTarget& target,
                                             const std::string& profile) {
  const fs::path path = fs::path(profile).parent_path();
  if (path.parent_path() != fs::path(target.temporary_path) ||
      !path.filename().string().starts_with(kFolderStart))
    return std::nullopt;
  AttachFolder folder(target, path.filename());
  if (!folder.folder_) return std::nullopt;
  return folder;
}

fs::path AttachFolder::LocalPath(std::string_view name) const {
  return fs::path(procfs::DescriptorPath(folder_.get())) / name;
}

std::string AttachFolder::PathInJvm(std::string_view name) const {
  return (fs::path(path_) / name).string();
}

void AttachFolder::Remove(const AttachTarget& target) {
  const ScopedUser user(target.ids);
  std::error_code ignored;
  fs::remove_all(fs::path(procfs::DescriptorPath(parent_.get())) / name_, ignored);
}

Result<AttachedAgent> AttachedAgent::Load(AttachTarget target, const fs::path& library,
                                          const options::AgentOptions& options) {
  auto folder = AttachFolder::Make(target);
  if (!folder) return std::unexpected(folder.error());
  AttachedAgent attached(std::move(target), *std::move(folder), options.out);
  if (auto started = attached.Start(library, options); !started) {
    attached.folder_.Remove(attached.target_);
    return std::unexpected(started.error());
  }
  return attached;
}

Result<void> AttachedAgent::Start(const fs::path& library, options::AgentOptions options) {
  library_ = library.string();
  moves_ = !target_.shares_files || target_.ids.user != geteuid();
  if (moves_) options.out = folder_.PathInJvm(kProfile);
  if (auto copy = LoadedCopy(target_, library); !copy.empty()) {
    library_ = std::move(copy);
  } else if (moves_) {
    auto copied = CopyLibrary(target_, library, folder_.LocalPath(kLibrary));
    if (!copied) return copied;
    library_ = folder_.PathInJvm(kLibrary);
  }
  auto answer = CallAgent(target_, folder_, library_, options::ToString(options));
  if (!answer) return std::unexpected(answer.error());
  for (const std::string& note : FactsNamed("note", *answer))
    notes_.push_back(control::OneLine(note));
  return {};
}

Result<void> AttachedAgent::Detach() {
  if (!target_.Ended()) {
    const auto done = CallDetach(target_, folder_, library_);
    if (!done && !target_.Ended()) {
      return Fail("process {} may still record into {}: {}; then end it with: jprof detach {}",
                  target_.pid, moves_ ? folder_.PathInJvm(kProfile) : out_.string(),
                  done.error().message, target_.pid);
    }
  }
  if (moves_) {
    if (auto moved = MoveProfile(target_, folder_, out_); !moved) return moved;
  }
  folder_.Remove(target_);
  return {};
}

Result<fs::path> DetachAgent(const AttachTarget& target, const fs::path& out) {
  if (target.loaded_agents.empty())
    return WrongUse("process {} has no jprof agent; `jprof ps` shows which has", target.pid);
  auto folder = AttachFolder::Make(target);
  if (!folder) return std::unexpected(folder.error());
  const auto done = CallDetach(target, *folder);
  folder->Remove(target);
  if (!done) return Fail("process {}: {}", target.pid, done.error().message);
  const auto profile = FactsNamed("out", *done);
  if (profile.empty()) return fs::path();
  if (auto left = AttachFolder::Of(target, profile.front())) {
    if (auto moved = MoveProfile(target, *left, out); !moved) return std::unexpected(moved.error());
    left->Remove(target);
    return out;
  }
  return target.shares_files ? fs::path(profile.front()) : fs::path();
}

Result<std::string> ParseReply(std::string_view reply, int code) {
  reply = reply.substr(0, reply.find('\n'));
  const std::string text = control::OneLine(reply);
  if (reply == "ok" || reply.starts_with("ok ")) {
    if (code == 0) return text.substr(std::min<size_t>(3, text.size()));
    return Fail("the agent failed after it had answered '{}'", text);
  }
  if (reply.empty()) return Fail("the agent did not start and did not say why (code {})", code);
  return Fail("{}", text);
}

}  // namespace jprof::record
