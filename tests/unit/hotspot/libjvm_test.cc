// The lookups of jprof/hotspot in libjvm.so, in every JDK below the JVM directory. Each library is
// loaded in its own process, because two JVMs do not fit into one.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>

#include "jprof/hotspot/probe/compile_focus.h"
#include "jprof/hotspot/probe/probe.h"
#include "jprof/hotspot/vm/libjvm_image.h"
#include "jprof/hotspot/vm/memory_reader.h"
#include "jprof/hotspot/vm/vm.h"
#include "jprof/hotspot/vm/vm_structs.h"

namespace jprof::hotspot {
namespace {

namespace fs = std::filesystem;

std::set<std::string> Libraries() {
  std::set<std::string> found;
  std::error_code error;
  for (const auto& jdk : fs::directory_iterator("/usr/lib/jvm", error)) {
    const fs::path library = jdk.path() / "lib/server/libjvm.so";
    if (fs::exists(library, error)) found.insert(fs::canonical(library));
  }
  return found;
}

// Runs `check` in a child that has loaded the library, and returns its result.
std::string In(const std::string& library, std::string (*check)()) {
  int pipes[2];
  if (pipe(pipes) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    std::string verdict = "cannot load it";
    if (dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL) != nullptr) verdict = check();
    const bool told = write(pipes[1], verdict.data(), verdict.size()) >= 0;
    _exit(told ? 0 : 1);
  }
  close(pipes[1]);
  std::string verdict;
  char buffer[256];
  for (ssize_t n; (n = read(pipes[0], buffer, sizeof buffer)) > 0;) verdict.append(buffer, n);
  close(pipes[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? verdict : "the child died";
}

void InEach(std::string (*check)()) {
  const auto libraries = Libraries();
  if (libraries.empty()) GTEST_SKIP() << "no JDK found";
  for (const std::string& library : libraries) EXPECT_EQ(In(library, check), "good") << library;
}

TEST(LibjvmTest, SymbolsAndUsdtNotesNameTheSameProbes) {
  InEach([]() -> std::string {
    const auto image = LibjvmImage::Open();
    if (!image) return image.error().message;
    const uint64_t entry = image->Symbol("_ZN13SharedRuntime19dtrace_method_entryE").begin;
    const uint64_t exit = image->Symbol("_ZN13SharedRuntime18dtrace_method_exitE").begin;
    if (entry == 0 || exit == 0) return "no symbols";
    if (image->FunctionWithProbe("method__entry") != entry) return "entry differs";
    if (image->FunctionWithProbe("method__return") != exit) return "exit differs";
    if (image->FunctionWithProbe("no__such") != 0) return "found a probe that does not exist";
    if (image->Symbol("_ZN13SharedRuntime_no_such").begin != 0)
      return "found a symbol that does not exist";
    if (image->BuildId().size() != 40) return "build id: " + image->BuildId();
    return "good";
  });
}

TEST(LibjvmTest, EveryOffsetThatTheProbeNeedsIsThere) {
  InEach([]() -> std::string {
    const auto structs = VmStructs::Load();
    if (!structs) return "no VM structs";
    const auto vm = Vm::Open(*structs);
    if (!vm) return vm.error().message;
    if (structs->Offset("Method", "_no_such") != -1) return "found a field that does not exist";
    if (structs->Static("Method", "_constMethod") != nullptr) return "an offset is not a static";
    if (structs->SizeOf("NoSuchType") != 0) return "found a type that does not exist";
    return "good";
  });
}

// The function that survives loads of unmapped memory (MemoryReader). Without it the kernel is
// queried, with a gap between check and load.
TEST(LibjvmTest, HasTheFunctionThatSurvivesAFault) {
  InEach([]() -> std::string {
    const auto image = LibjvmImage::Open();
    if (!image) return image.error().message;
    const MemoryReader::Fetch fetch = MemoryReader::FetchOf(*image);
    if (fetch == nullptr) return "no SafeFetchN_impl";
    const intptr_t word = 4711;
    return fetch(&word, 1) == 4711 ? "good" : "it answers something else";
  });
}

TEST(LibjvmTest, EntryAndExitProbesAreTwoFunctions) {
  InEach([]() -> std::string {
    const auto image = LibjvmImage::Open();
    const auto targets = FindTargets(*image);
    if (!targets) return targets.error().message;
    return targets->entry != targets->exit ? "good" : "one function for both";
  });
}

TEST(LibjvmTest, FocusFindsItsCallsAndTheByteThatFollowsTheFlag) {
  InEach([]() -> std::string {
    const auto image = LibjvmImage::Open();
    const auto structs = VmStructs::Load();
    const uint8_t* flag = Vm::Flag(*structs, "DTraceMethodProbes");
    const auto focus = CompileFocus::Find(*image, *structs);
    if (!focus) return focus.error().message;
    return *flag == 0 ? "good" : "the flag was left set";
  });
}

TEST(LibjvmTest, FocusIsInstalledAsAWhole) {
  InEach([]() -> std::string {
    const auto image = LibjvmImage::Open();
    const auto structs = VmStructs::Load();
    auto vm = Vm::Open(*structs);
    const auto targets = FindTargets(*image);
    const Function caller = image->Symbol("_ZN5ciEnv15register_methodE"),
                   parser = image->Symbol("_ZN5Parse7do_callEv");
    const uint64_t callee = image->Symbol("_ZNK5ciEnv19jvmti_state_changedE").begin;
    const uint64_t generator = image->Symbol("_ZN7Compile14call_generatorE").begin;
    if (CallsOf(caller, callee).size() != 1 || CallsOf(parser, generator).empty())
      return "calls are not as expected";
    profile::ControlHeader header;
    const auto everything = [](std::string_view, std::string_view) { return true; };
    const auto no_room =
        (*CompileFocus::Find(*image, *structs))
            ->Install({caller.begin + (1ull << 40), 0, 4096}, &*vm, everything, true, &header);
    if (no_room || CallsOf(caller, callee).size() != 1) return "installed where it cannot reach";
    const auto installed = (*CompileFocus::Find(*image, *structs))
                               ->Install(*targets, &*vm, everything, false, &header);
    if (!installed) return installed.error().message;
    if (!CallsOf(caller, callee).empty()) return "a call was not redirected";
    if (CallsOf(parser, generator).empty())
      return "C2's parser was redirected without being asked to";
    return CompileFocus::Find(*image, *structs) ? "found a second time" : "good";
  });
}

}  // namespace
}  // namespace jprof::hotspot
