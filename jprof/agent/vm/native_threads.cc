#include "jprof/agent/vm/native_threads.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "common/procfs.h"

namespace jprof::agent {
namespace {

constexpr size_t kKernelNameBytes = 15;

}  // namespace

uint32_t CurrentTid() { return static_cast<uint32_t>(syscall(SYS_gettid)); }

std::string KernelName(uint32_t tid) { return procfs::ThreadName(procfs::kSelf, tid); }

std::vector<uint32_t> NativeThreads() { return procfs::Threads(procfs::kSelf); }

std::optional<UnnamedThread> TakeByJavaName(std::vector<UnnamedThread>& threads,
                                            std::string_view java_name) {
  const auto found = std::ranges::find(threads, java_name.substr(0, kKernelNameBytes),
                                       &UnnamedThread::kernel_name);
  if (found == threads.end()) return std::nullopt;
  UnnamedThread taken = std::move(*found);
  threads.erase(found);
  return taken;
}

}  // namespace jprof::agent
