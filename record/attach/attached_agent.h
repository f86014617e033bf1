// Controls an agent in a running JVM, from its start to its end.
//
// Agent and client meet in a private directory in the JVM's /tmp (AltTempDir), which belongs
// to the JVM's user:
// - The agent writes its replies there (option REPLY), because a return code has no message.
// - If the JVM has another root directory, mount namespace or user than this process, the library
//   is copied into it, unless the JVM has loaded such a copy before, and the profile is recorded in
//   it; Detach moves the profile to where the user wants it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/fd.h"
#include "common/result.h"
#include "options/agent_options.h"
#include "record/attach/attach_target.h"

namespace jprof::record {

class AttachFolder {
 public:
  static Result<AttachFolder> Make(const AttachTarget& target);
  // Returns the folder of another client, in which the JVM writes a profile. Returns nothing if the
  // profile is in no such folder.
  static std::optional<AttachFolder> Of(const AttachTarget& target, const std::string& profile);
  AttachFolder(AttachFolder&& other) noexcept = default;

  std::filesystem::path LocalPath(std::string_view name) const;  // valid as long as the object
  std::string PathInJvm(std::string_view name) const;            // for the JVM

  // Removes the folder with all files. The destructor does not: a client that was killed leaves
  // what the agent still needs.
  void Remove(const AttachTarget& target);

 private:
  AttachFolder(const AttachTarget& target, std::string name);

  std::string name_;
  std::string path_;  // for the JVM
  Fd parent_, folder_;
};

class AttachedAgent {
 public:
  // Loads the agent `library` with the options, of which `out` is absolute and does not exist. If
  // it fails, nothing is recorded, and the message is the agent's or the JVM's.
  static Result<AttachedAgent> Load(AttachTarget target, const std::filesystem::path& library,
                                    const options::AgentOptions& options);

  const AttachTarget& target() const { return target_; }
  const std::vector<std::string>& notes() const { return notes_; }  // of the agent

  // Has the agent stop, unless the JVM has ended, and moves the profile to its place. If it fails,
  // the agent may still record, or the profile is elsewhere; the message states what to do.
  Result<void> Detach();

 private:
  AttachedAgent(AttachTarget target, AttachFolder folder, std::filesystem::path out)
      : target_(std::move(target)), folder_(std::move(folder)), out_(std::move(out)) {}

  Result<void> Start(const std::filesystem::path& library, options::AgentOptions options);

  AttachTarget target_;
  AttachFolder folder_;
  std::filesystem::path out_;
  bool moves_ = false;   // the profile is recorded in the folder
  std::string library_;  // as the JVM calls it
  std::vector<std::string> notes_;
};

// Ends the recording of an agent whose client has ended. A profile in the folder of that client is
// moved to `out`. Returns the directory of the profile, which is empty if it is not known. Fails
// with kWrongUse if the process has no agent.
Result<std::filesystem::path> DetachAgent(const AttachTarget& target,
                                          const std::filesystem::path& out);

// Returns TEXT of an agent's reply "ok TEXT". Fails if there is another text, or none at all.
// `code` is the result of Agent_OnAttach.
Result<std::string> ParseReply(std::string_view reply, int code);

}  // namespace jprof::record
