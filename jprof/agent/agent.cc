// The agent's table of contents: from an option string to a recording JVM, one call a step.
// Everything that can be refused is refused here, before the program runs; from then on nothing of
// ours may stop it.
#include <fcntl.h>
#include <jvmti.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "jprof/agent/focus.h"
#include "jprof/agent/jit_log.h"
#include "jprof/agent/jvmti_probe.h"
#include "jprof/agent/lifecycle.h"
#include "jprof/agent/meta.h"
#include "jprof/agent/plan.h"
#include "jprof/agent/profile_directory.h"
#include "jprof/agent/sampling.h"
#include "jprof/agent/say.h"
#include "jprof/agent/triggers.h"
#include "jprof/engine/session.h"
#include "jprof/hotspot/compile_focus.h"
#include "jprof/hotspot/probe.h"
#include "options/agent_options.h"

namespace jprof::agent {

void Say(const std::string& line) {
  std::fprintf(stderr, "jprof: %s\n", line.c_str());
  std::fflush(stderr);
}

namespace {

std::string_view EnvironmentOf(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

// The session of a plan, in a directory that is made.
engine::SessionOptions SessionIn(const std::string& directory, const Plan& plan,
                                 const AgentOptions& options) {
  engine::SessionOptions session = plan.session;
  session.files.directory = directory;
  session.files.directory_is_made = true;
  session.method_filter = MethodFilter(options);
  return session;
}

// HotSpot's probe, found but not yet installed.
struct HotspotProbe {
  hotspot::VmStructs structs;
  hotspot::Vm vm;
  hotspot::ProbeTargets targets;
  std::string build_id;
};

Result<HotspotProbe> FindHotspotProbe() {
  const auto structs = hotspot::VmStructs::Load();
  if (!structs) return Fail("this JVM is not HotSpot");
  auto vm = hotspot::Vm::Open(*structs);
  if (!vm) return std::unexpected(vm.error());
  auto image = hotspot::LibjvmImage::Open();
  if (!image) return std::unexpected(image.error());
  const auto targets = hotspot::FindTargets(*image);
  if (!targets) return std::unexpected(targets.error());
  return HotspotProbe{*structs, *vm, *targets, image->BuildId()};
}

// TPROF alone: a directory with meta.json and the log, and no probe.
Result<void> StartLogOnly(JavaVM* java, jvmtiEnv* jvmti, const AgentOptions& options,
                          const std::string& directory) {
  const int directory_fd = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  auto started = StartJitLog(java, directory_fd, options.jit_code);
  if (directory_fd >= 0) close(directory_fd);
  if (!started) return started;
  const std::string meta = directory + "/" + profile::kMetaFile, temporary = meta + ".tmp";
  std::ofstream out(temporary, std::ios::binary);
  out << ToJson(GatherMeta(jvmti, options, nullptr, {"none", "", ""}));
  out.close();
  if (!out || std::rename(temporary.c_str(), meta.c_str()) != 0) {
    Say("cannot write " + meta + "; the log of jitted code is written");
  }
  if (options.verbose) Say("recording jitted code into " + directory);
  return {};
}

// The compilers are asked to describe all places in their code, not only those where the VM may
// stop.
void DescribeAllCode(const hotspot::VmStructs& structs) {
  if (uint8_t* everywhere = hotspot::Vm::Flag(structs, "DebugNonSafepoints")) *everywhere = 1;
}

// `jprof ctl`. Without it the program is sampled all the same.
Control* ListenFor(Sampling& sampling, const std::string& directory) {
  auto* control = new Control;
  char* full = realpath(directory.c_str(), nullptr);
  if (const auto listens =
          control->Start(sampling.ControlHandlers(full != nullptr ? full : directory));
      !listens) {
    Say(listens.error().message + "; sampling goes on without `jprof ctl`");
  }
  std::free(full);
  return control;
}

// SCS: stacks, and no probe.
Result<void> StartStacks(JavaVM* java, jvmtiEnv* jvmti, const AgentOptions& options,
                         const Plan& plan, const std::string& directory) {
  const auto structs = hotspot::VmStructs::Load();
  if (!structs) return WrongUse("SCS needs HotSpot, and this JVM is not");
  auto vm = hotspot::Vm::Open(*structs);
  if (!vm) return std::unexpected(vm.error());
  auto* session = new engine::Session;
  auto sampling = Sampling::Open(options, *structs, session);
  if (!sampling) return std::unexpected(sampling.error());
  jvmtiEventCallbacks callbacks = {};
  if (auto ready = PrepareTriggers(jvmti, *sampling, options.object_info, &callbacks); !ready)
    return ready;
  auto started = session->Start(SessionIn(directory, plan, options), new hotspot::Vm(*vm));
  if (!started) return started;
  if (!session->writer().WriteFile(profile::kMetaFile,
                                   ToJson(GatherMeta(jvmti, options, session, {"none", "", ""})))) {
    return Fail("cannot write {}/{}", directory, profile::kMetaFile);
  }
  DescribeAllCode(*structs);
  Control* control = ListenFor(**sampling, directory);
  PrepareLifecycle(jvmti, session, {.sampling = *sampling, .control = control}, &callbacks);
  jvmti->SetEventCallbacks(&callbacks, sizeof callbacks);
  StartLifecycle(jvmti);
  EnableTriggers(jvmti);
  NameVirtualThreads(java);
  if (options.verbose) Say("sampling stacks into " + directory);
  return {};
}

// Lets a Focus decide what is compiled with probes. To be called before the probe is installed.
Result<void> InstallFocus(HotspotProbe& probe, bool keep_intrinsics, engine::Session* session) {
  const auto image = hotspot::LibjvmImage::Open();
  if (!image) return std::unexpected(image.error());
  const auto focus = hotspot::CompileFocus::Find(*image, probe.structs);
  if (!focus) return std::unexpected(focus.error());
  return (*focus)->Install(probe.targets, &probe.vm, session->options().method_filter,
                           keep_intrinsics, session->writer().header());
}

// Whether only what is in focus will be compiled with probes.
bool Focused(HotspotProbe& probe, const AgentOptions& options, engine::Session* session) {
  if (options.focus.Empty()) return false;
  const auto installed = InstallFocus(probe, options.keep_intrinsics, session);
  if (!installed)
    Say("out of focus nothing is recorded, but runs with probes all the same: " +
        installed.error().message);
  return installed.has_value();
}

// Callflow, calltree and trace: entries and exits, from a probe.
Result<void> StartProbe(JavaVM* java, jvmtiEnv* jvmti, const AgentOptions& options,
                        const Plan& plan, const std::string& directory) {
  // These live as long as the process: probes may run until its very end.
  static HotspotProbe* probe = nullptr;
  static engine::MethodSource* source = nullptr;
  auto* session = new engine::Session;
  ProbeFacts facts = {"hotspot", "", ""};
  if (options.probe != ProbeChoice::kJvmti) {
    auto found = FindHotspotProbe();
    if (found) {
      probe = new HotspotProbe(std::move(*found));
      source = &probe->vm;
      facts.build_id = probe->build_id;
    } else if (options.probe == ProbeChoice::kHotspot) {
      return WrongUse("no HotSpot probe: {}; use PROBE=auto", found.error().message);
    } else {
      facts.note = found.error().message;
    }
  } else {
    facts.note = "asked for";
  }
  jvmtiEventCallbacks callbacks = {};
  if (source == nullptr) {
    facts.kind = "jvmti";
    source = new JvmtiSource(jvmti);
    Say("recording with JVMTI events, which is slow: " + facts.note);
    if (auto ready = PrepareJvmtiProbe(jvmti, plan.kind, options.train, &callbacks); !ready)
      return ready;
  }
  if (auto started = session->Start(SessionIn(directory, plan, options), source); !started) {
    return started;
  }
  if (!session->writer().WriteFile(profile::kMetaFile,
                                   ToJson(GatherMeta(jvmti, options, session, facts)))) {
    return Fail("cannot write {}/{}", directory, profile::kMetaFile);
  }
  if (options.jit_log) {
    const int directory_fd = session->writer().directory_fd();
    if (auto logged = StartJitLog(java, directory_fd, options.jit_code); !logged) {
      Say(logged.error().message);
    }
  }
  Sampling* sampling = nullptr;
  if (!options.triggers.empty()) {
    if (probe == nullptr) return WrongUse("SAMPLE needs HotSpot's probe: {}", facts.note);
    auto opened = Sampling::Open(options, probe->structs, session);
    if (!opened) return std::unexpected(opened.error());
    sampling = *opened;
  }
  Control* control = sampling != nullptr ? ListenFor(*sampling, directory) : nullptr;
  PrepareLifecycle(jvmti, session,
                   {.jvmti_probe = probe == nullptr,
                    .sampling = sampling,
                    .control = control,
                    .at_vm_start = options.focus.Empty() ? nullptr : StartFocus},
                   &callbacks);
  jvmti->SetEventCallbacks(&callbacks, sizeof callbacks);
  StartLifecycle(jvmti);
  if (probe != nullptr) {
    const hotspot::Probing probing = {.train = options.train,
                                      .focused = Focused(*probe, options, session)};
    if (auto installed =
            InstallProbe(probe->structs, probe->vm, probe->targets, plan.kind, probing);
        !installed) {
      return installed;
    }
  }
  if (options.verbose) Say("recording into " + directory + " with the " + facts.kind + " probe");
  return {};
}

Result<void> StartMode(JavaVM* java, jvmtiEnv* jvmti, const AgentOptions& options, const Plan& plan,
                       const std::string& directory) {
  if (options.mode == Mode::kTprof) return StartLogOnly(java, jvmti, options, directory);
  if (options.mode == Mode::kScs) return StartStacks(java, jvmti, options, plan, directory);
  return StartProbe(java, jvmti, options, plan, directory);
}

Result<void> Start(JavaVM* java, const AgentOptions& options) {
  const auto plan = MakePlan(options);
  if (!plan) return std::unexpected(plan.error());
  jvmtiEnv* jvmti = nullptr;
  if (java->GetEnv(reinterpret_cast<void**>(&jvmti), JVMTI_VERSION_11) != JNI_OK) {
    return Fail("this JVM has no JVMTI 11");
  }
  if (options.interrupt_ns == 0) {  // else who measured it has said so
    for (const std::string& line : options.lowered) Say(line + "; FORCE_RATE keeps the rate");
  }
  const auto directory = MakeProfileDirectory(options);
  if (!directory) return std::unexpected(directory.error());
  if (directory->empty()) return {};
  auto started = StartMode(java, jvmti, options, *plan, *directory);
  if (!started) rmdir(directory->c_str());  // only if nothing was written
  return started;
}

}  // namespace
}  // namespace jprof::agent

extern "C" JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM* vm, char* text, void*) {
  using namespace jprof::agent;
  const auto options = ParseAgentOptions(text != nullptr ? text : "", EnvironmentOf("JPROFOPTS"));
  if (!options) {
    Say(options.error().message);
    return JNI_ERR;
  }
  if (options->help) {
    std::fputs(std::string(AgentHelp()).c_str(), stdout);
    return JNI_ERR;
  }
  if (const auto started = Start(vm, *options); !started) {
    // Wrong words stop the JVM; a wrong world (a full disk, a directory that cannot be made) does
    // not.
    const bool wrong_use = started.error().kind == jprof::Error::Kind::kWrongUse;
    Say(started.error().message + (wrong_use ? "" : "; the program runs without being profiled"));
    return wrong_use ? JNI_ERR : JNI_OK;
  }
  return JNI_OK;
}

extern "C" JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM*, char*, void*) {
  jprof::agent::Say("cannot be attached to a running JVM yet: start it with -agentpath");
  return JNI_ERR;
}
