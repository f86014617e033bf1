#include "jprof/hotspot/vm/compilations.h"

#include <algorithm>
#include <string>
#include <thread>

#include "common/procfs.h"

namespace jprof::hotspot {
namespace {

// Recognises a compiler thread by its name. HotSpot names them "C1 CompilerThread0", ...; the
// kernel keeps 15 bytes.
bool IsCompiler(uint32_t tid) {
  const std::string name = procfs::ThreadName(procfs::kSelf, tid);
  return name.starts_with("C1 Compiler") || name.starts_with("C2 Compiler");
}

}  // namespace

Compilations::Compilations(Fields& field, const NativeThreads& threads, MemoryReader::Fetch fetch)
    : threads_(threads),
      fetch_(fetch),
      list_(field.Address("ThreadsSMRSupport", "_java_thread_list")),
      length_(field("ThreadsList", "_length")),
      array_(field("ThreadsList", "_threads")),
      env_(field("CompilerThread", "_env")),
      task_(field("ciEnv", "_task")),
      id_(field("CompileTask", "_compile_id")) {}

Result<Compilations> Compilations::Open(const LibjvmImage& image, const VmStructs& structs) {
  auto threads = NativeThreads::Open(structs);
  if (!threads) return std::unexpected(threads.error());
  Fields field(structs);
  Compilations compilations(field, *threads, MemoryReader::FetchOf(image));
  if (auto found = field.Check(); !found) return std::unexpected(found.error());
  return compilations;
}

std::vector<Compilations::Running> Compilations::Now() const {
  std::vector<Running> running;
  MemoryReader memory(fetch_);
  const auto at = [](uint64_t address, int64_t offset) {
    return address + static_cast<uint64_t>(offset);
  };
  const auto list = memory.Get<uint64_t>(list_);
  const auto threads = memory.Get<uint64_t>(at(list, array_));
  const auto count = memory.Get<uint32_t>(at(list, length_));
  for (uint64_t i = 0; i < count; ++i) {
    const auto thread = memory.Get<uint64_t>(threads + i * sizeof(uint64_t));
    const uint32_t tid = threads_.Of(thread).tid;
    if (tid == 0 || !IsCompiler(tid)) continue;
    const auto env = memory.Get<uint64_t>(at(thread, env_));
    const auto task = env != 0 ? memory.Get<uint64_t>(at(env, task_)) : 0;
    if (task != 0) running.push_back({thread, memory.Get<int32_t>(at(task, id_))});
  }
  return running;
}

bool Compilations::AwaitRunning(std::chrono::nanoseconds patience) const {
  const auto end = std::chrono::steady_clock::now() + patience;
  std::vector<Running> left = Now();
  while (!left.empty() && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const std::vector<Running> now = Now();
    std::erase_if(left,
                  [&](const Running& old) { return std::ranges::find(now, old) == now.end(); });
  }
  return left.empty();
}

}  // namespace jprof::hotspot
