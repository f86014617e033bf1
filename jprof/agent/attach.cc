// The entry point of an agent that is loaded into a running JVM. It starts a recording or, with
// DETACH, ends it. The client that loads it gets only a return code from the JVM, so the outcome is
// written to the file of REPLY, and nothing to the program's standard error. The environment
// variable JPROFOPTS is ignored: it belongs to the program.
#include <fcntl.h>
#include <jvmti.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>

#include "common/control_protocol.h"
#include "common/errno_text.h"
#include "common/fd.h"
#include "common/no_memory.h"
#include "common/write_all.h"
#include "jprof/agent/agent.h"
#include "jprof/agent/start.h"
#include "jprof/agent/vm/in_use.h"
#include "jprof/agent/vm/jvmti_env.h"
#include "jprof/setup/plan.h"
#include "jprof/setup/print_message.h"
#include "options/agent_options.h"
#include "options/option_table.h"

namespace jprof::agent {
namespace {

// Opens the file of the reply. The client may have made it for the JVM's user.
Fd OpenReply(const std::string& path) {
  Fd fd(open(path.c_str(), O_WRONLY | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd && errno == ENOENT)
    fd.Reset(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  return fd;
}

Result<std::string> Attach(JavaVM* java, JNIEnv* jni, options::AgentOptions options) {
  {
    const InUse<Agent> agent;
    if (agent) return WrongUse("jprof is already recording in this JVM; end that recording first");
  }
  ResolveCounter(java, options, true);
  if (auto possible = setup::CheckAttach(options, MajorVersion(java)); !possible)
    return std::unexpected(possible.error());
  const auto directory = StartAgent(java, jni, std::move(options));
  if (directory && directory->empty()) return Fail("the profile's directory exists (ONCE)");
  return directory;
}

Result<std::string> Execute(JavaVM* java, const options::AgentOptions& options) {
  JNIEnv* jni = nullptr;
  if (java->GetEnv(reinterpret_cast<void**>(&jni), JNI_VERSION_1_6) != JNI_OK)
    return Fail("the JVM has loaded the agent on a thread that is not a Java thread");
  constexpr jint kReferences = 64;
  if (jni->PushLocalFrame(kReferences) != 0) {
    jni->ExceptionClear();
    return Fail("the JVM has no memory for local references");
  }
  auto done = options.detach ? DetachAgent(jni) : Attach(java, jni, options);
  jni->ExceptionClear();
  jni->PopLocalFrame(nullptr);
  return done;
}

// Returns the file of REPLY, also if the options are wrong elsewhere, or an empty text if there is
// none.
std::string ReplyOf(std::string_view text) {
  options::AgentOptions options;
  for (const auto part : std::views::split(text, ',')) {
    const std::string_view option(part);
    if (options::FindOption(option.substr(0, option.find('='))) == options::FindOption("REPLY"))
      (void)options::ApplyOptions(option, options);
  }
  return options.reply;
}

// Executes the options. Returns the line of the reply, or the reason of a failure.
Result<std::string> OutcomeOf(JavaVM* java, std::string_view text, bool collect) {
  const auto options = options::ParseAgentOptions(text, "");
  if (!options) return std::unexpected(options.error());
  const setup::MessageCollector notes(collect);
  const auto done = FailWithoutMemory([&] { return Execute(java, *options); });
  if (!done) return done;
  std::vector<control::Field> fields = {{"out", *done}};
  for (const std::string& note : notes.lines()) fields.push_back({"note", note});
  return std::string(control::kOk) + control::JoinFields(fields);
}

Result<std::string> Busy() {
  return Fail("another recording of this JVM is being started or ended; try again");
}

// Returns whether the client has removed the file. It does so when it gives up, for example because
// the JVM's threads did not reach a safepoint for a long time.
bool IsRemoved(int reply) {
  struct stat status = {};
  return fstat(reply, &status) == 0 && status.st_nlink == 0;
}

// Ends a recording whose client has given up.
void EndUnattended(JavaVM* java) { (void)Execute(java, {.detach = true}); }

// Threads of the program may load the agent, too, at the same time as the JVM's. One of them is
// served at a time: an agent is not detached while it opens. The others do not wait, because the
// one that is served may wait for them.
jint OnAttach(JavaVM* java, std::string_view text) {
  static std::mutex serving;
  const std::unique_lock served(serving, std::try_to_lock);
  const std::string path = ReplyOf(text);
  const Fd reply = path.empty() ? Fd() : OpenReply(path);
  if (!path.empty() && !reply) {
    setup::PrintMessage("cannot write the reply to " + path + ": " + ErrnoText());
    return JNI_ERR;
  }
  const auto outcome = served ? OutcomeOf(java, text, !path.empty()) : Busy();
  const std::string line = control::OneLine(outcome ? *outcome : outcome.error().message);
  if (reply) {
    WriteAll(reply.get(), line + "\n");
    if (outcome && IsRemoved(reply.get())) EndUnattended(java);
  } else if (!outcome) {
    setup::PrintMessage(line);
  }
  return outcome ? JNI_OK : JNI_ERR;
}

}  // namespace
}  // namespace jprof::agent

extern "C" JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM* vm, char* text, void*) {
  return jprof::RunOrWithoutMemory(
      [&] { return jprof::agent::OnAttach(vm, text != nullptr ? text : ""); }, JNI_ERR);
}
