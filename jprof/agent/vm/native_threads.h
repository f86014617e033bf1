// Lists the native threads of this process by kernel name and matches Java threads to them.
// Does not use the JVM.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace jprof::agent {

uint32_t CurrentTid();

// Returns the kernel's name of a thread of this process, or an empty string if the thread has
// ended. HotSpot sets it to the first 15 bytes of the Java name.
std::string KernelName(uint32_t tid);

// Returns the threads of this process in the order of their tids.
std::vector<uint32_t> NativeThreads();

// A thread that began before JVMTI reported threads. Its Java name is not known yet.
struct UnnamedThread {
  std::string kernel_name;
  uintptr_t value = 0;  // not 0; identifies the thread for the caller
};

// Removes from `threads` the first thread that may have this Java name, and returns it. Returns
// nothing if there is no such thread.
std::optional<UnnamedThread> TakeByJavaName(std::vector<UnnamedThread>& threads,
                                            std::string_view java_name);

}  // namespace jprof::agent
