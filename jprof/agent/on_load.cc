// The entry point of an agent that is loaded when the JVM starts. There is no Agent_OnUnload:
// nothing may be freed, and OnVmDeath (lifecycle.cc) has completed the profile.
#include <jvmti.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "common/no_memory.h"
#include "jprof/agent/start.h"
#include "jprof/setup/print_message.h"
#include "options/agent_options.h"
#include "options/tool_options.h"

namespace jprof::agent {
namespace {

std::string_view EnvironmentOf(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

// Restores the variable, so that JVMs that this JVM starts get the agent, too (java_launch.cc).
void RestoreToolOptions() {
  const char* const kept = std::getenv(options::kToolOptionsKept);
  if (kept == nullptr) return;
  setenv(options::kToolOptions, kept, 1);
  unsetenv(options::kToolOptionsKept);
}

Result<void> StartWithJvm(JavaVM* java, options::AgentOptions options) {
  if (options.detach || !options.reply.empty())
    return WrongUse("DETACH and REPLY are for a running JVM; remove them from -agentpath");
  ResolveCounter(java, options, false);
  const auto started = StartAgent(java, nullptr, std::move(options));
  if (!started) return std::unexpected(started.error());
  return {};
}

jint OnLoad(JavaVM* vm, const char* text) {
  auto options =
      options::ParseAgentOptions(text != nullptr ? text : "", EnvironmentOf("JPROFOPTS"));
  if (!options) {
    setup::PrintMessage(options.error().message);
    return JNI_ERR;
  }
  if (options->help) {
    std::fputs(std::string(options::AgentHelp()).c_str(), stdout);
    return JNI_ERR;
  }
  const auto started = FailWithoutMemory([&] { return StartWithJvm(vm, *std::move(options)); });
  if (started) return JNI_OK;
  // Wrong use stops the JVM. Other failures (a full disk, a directory that cannot be made) do not.
  const bool wrong_use = started.error().kind == Error::Kind::kWrongUse;
  setup::PrintMessage(started.error().message +
                      (wrong_use ? "" : "; the program runs without being profiled"));
  return wrong_use ? JNI_ERR : JNI_OK;
}

}  // namespace
}  // namespace jprof::agent

extern "C" JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM* vm, char* text, void*) {
  jprof::agent::RestoreToolOptions();
  return jprof::RunOrWithoutMemory([&] { return jprof::agent::OnLoad(vm, text); }, JNI_OK);
}
