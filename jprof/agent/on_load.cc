// The entry points of the agent, and its only global. The global is needed because JVMTI callbacks,
// signal handlers and the fork() handler have no argument for it. There is no Agent_OnUnload:
// nothing may be freed, and OnVmDeath (lifecycle.cc) has completed the profile.
#include <jvmti.h>
#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "jprof/agent/agent.h"
#include "jprof/agent/print_message.h"
#include "jprof/agent/profile_directory.h"
#include "options/agent_options.h"

namespace jprof::agent {
namespace {

Agent* agent = nullptr;

std::string_view EnvironmentOf(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

// Creates the agent and starts it; does nothing if another JVM uses the directory (ONCE).
Result<void> Start(JavaVM* java, AgentOptions options) {
  auto plan = MakePlan(options);
  if (!plan) return std::unexpected(plan.error());
  jvmtiEnv* jvmti = NewJvmtiEnv(java);
  if (jvmti == nullptr) return Fail("this JVM has no JVMTI 11");
  if (options.interrupt_ns == 0) {  // else the command has measured it and reported the change
    for (const std::string& line : options.lowered)
      PrintMessage(line + "; FORCE_RATE keeps the rate");
  }
  auto directory = MakeProfileDirectory(options);
  if (!directory) return std::unexpected(directory.error());
  if (directory->empty()) return {};
  agent = new Agent(java, jvmti, std::move(options), *std::move(plan), *std::move(directory));
  pthread_atfork(nullptr, nullptr, [] { agent->control.LeaveToParent(); });
  auto started = agent->Start();
  if (!started) rmdir(agent->directory.c_str());  // only if nothing was written
  return started;
}

}  // namespace

Agent& TheAgent() { return *agent; }

}  // namespace jprof::agent

extern "C" JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM* vm, char* text, void*) {
  using namespace jprof::agent;
  auto options = ParseAgentOptions(text != nullptr ? text : "", EnvironmentOf("JPROFOPTS"));
  if (!options) {
    PrintMessage(options.error().message);
    return JNI_ERR;
  }
  if (options->help) {
    std::fputs(std::string(AgentHelp()).c_str(), stdout);
    return JNI_ERR;
  }
  const auto started = Start(vm, *std::move(options));
  if (started) return JNI_OK;
  // Wrong use stops the JVM. Other failures (a full disk, a directory that cannot be made) do not.
  const bool wrong_use = started.error().kind == jprof::Error::Kind::kWrongUse;
  PrintMessage(started.error().message +
               (wrong_use ? "" : "; the program runs without being profiled"));
  return wrong_use ? JNI_ERR : JNI_OK;
}

extern "C" JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM*, char*, void*) {
  jprof::agent::PrintMessage("cannot be attached to a running JVM yet: start it with -agentpath");
  return JNI_ERR;
}
