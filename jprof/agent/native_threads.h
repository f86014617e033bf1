// Lists the native threads of this process by kernel name and matches Java threads to them. Does
// not use the JVM.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace jprof::agent {

uint32_t CurrentTid();

// The kernel's name of a thread of this process; empty if the thread has ended. HotSpot sets it to
// the first 15 bytes of the Java name.
std::string KernelName(uint32_t tid);

// The threads of this process, by ascending tid.
std::vector<uint32_t> NativeThreads();

// A thread that began before JVMTI reported threads; its Java name is not known yet.
struct UnnamedThread {
  std::string kernel_name;
  uintptr_t value = 0;  // the caller's identifier of the thread; not 0
};

// Removes from `threads` the first thread that may have this Java name; none: there is none.
std::optional<UnnamedThread> TakeByJavaName(std::vector<UnnamedThread>& threads,
                                            std::string_view java_name);

}  // namespace jprof::agent
