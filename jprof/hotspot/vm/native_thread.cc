#include "jprof/hotspot/vm/native_thread.h"

#include "jprof/hotspot/vm/libjvm_image.h"

namespace jprof::hotspot {

NativeThreads::NativeThreads(Fields& field)
    : os_(field("Thread", "JavaThread", "_osthread")),
      os_id_(field("OSThread", "_thread_id")),
      stack_base_(field("JavaThread", "_stack_base")),
      stack_size_(field("JavaThread", "_stack_size")) {}

Result<NativeThreads> NativeThreads::Open(const VmStructs& structs) {
  Fields field(structs);
  NativeThreads threads(field);
  if (auto found = field.Check(); !found) return std::unexpected(found.error());
  if (const auto image = LibjvmImage::Open()) threads.fetch_ = MemoryReader::FetchOf(*image);
  return threads;
}

NativeThread NativeThreads::Of(uint64_t vm_thread) const {
  if (vm_thread == 0) return {};
  MemoryReader memory(fetch_);
  const auto field = [&](uint64_t of, int64_t offset) {
    return memory.Get<uint64_t>(of + static_cast<uint64_t>(offset));
  };
  const uint64_t os = field(vm_thread, os_);
  const uint64_t base = field(vm_thread, stack_base_), size = field(vm_thread, stack_size_);
  if (os == 0 || base == 0 || size >= base) return {};
  return {memory.Get<uint32_t>(os + static_cast<uint64_t>(os_id_)), {base - size, base}};
}

}  // namespace jprof::hotspot
