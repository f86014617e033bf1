// The native threads of this process as the kernel knows them, and how Java threads are recognised
// among them. No JVM in it.
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

// A thread that began before JVMTI reported threads, so that its Java name is not known yet.
struct UnnamedThread {
  std::string kernel_name;
  uintptr_t value = 0;  // what the caller knows it by; not 0
};

// Removes from `threads` the first one that may have this Java name; none: no thread may.
std::optional<UnnamedThread> TakeByJavaName(std::vector<UnnamedThread>& threads,
                                            std::string_view java_name);

}  // namespace jprof::agent
