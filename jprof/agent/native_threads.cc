#include "jprof/agent/native_threads.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

namespace jprof::agent {
namespace {

constexpr size_t kKernelNameBytes = 15;

}  // namespace

uint32_t CurrentTid() { return static_cast<uint32_t>(syscall(SYS_gettid)); }

std::string KernelName(uint32_t tid) {
  std::ifstream in("/proc/self/task/" + std::to_string(tid) + "/comm");
  std::string name;
  std::getline(in, name);
  return name;
}

std::vector<uint32_t> NativeThreads() {
  std::vector<uint32_t> tids;
  std::error_code failed;
  for (std::filesystem::directory_iterator task("/proc/self/task", failed), end;
       !failed && task != end; task.increment(failed)) {
    const std::string number = task->path().filename();
    uint32_t tid = 0;
    std::from_chars(number.data(), number.data() + number.size(), tid);
    tids.push_back(tid);
  }
  std::ranges::sort(tids);
  return tids;
}

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
