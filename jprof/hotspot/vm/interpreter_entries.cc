#include "jprof/hotspot/vm/interpreter_entries.h"

#include <string_view>

#include "jprof/hotspot/vm/frame_code.h"

namespace jprof::hotspot {
namespace {

constexpr std::string_view kMethodEntry = "method entry point";

}  // namespace

InterpreterEntries::InterpreterEntries(Fields& field)
    : queue_(field.Address("AbstractInterpreter", "_code")),
      buffer_(field("StubQueue", "_stub_buffer")),
      limit_(field("StubQueue", "_buffer_limit")),
      first_(field("StubQueue", "_queue_begin")),
      end_(field("StubQueue", "_queue_end")),
      codelet_size_(field("InterpreterCodelet", "_size")),
      codelet_name_(field("InterpreterCodelet", "_description")),
      codelet_bytes_(field.Size("InterpreterCodelet")) {}

InterpreterEntries::Range InterpreterEntries::Code(const MemoryReader& memory) const {
  const auto queue = memory.At<uint64_t>(queue_);
  if (queue == 0) return {0, 0};
  const auto buffer = memory.At<uint64_t>(queue + buffer_);
  return {buffer, buffer + memory.At<int32_t>(queue + limit_)};
}

void InterpreterEntries::Find(const MemoryReader& memory) {
  const auto queue = memory.At<uint64_t>(queue_);
  if (queue == 0) return;
  const auto buffer = memory.At<uint64_t>(queue + buffer_);
  const auto end = memory.At<int32_t>(queue + end_);
  int count = 0;
  for (int64_t at = memory.At<int32_t>(queue + first_); at < end && count < kMost;) {
    const uint64_t codelet = buffer + at;
    const auto size = memory.At<int32_t>(codelet + codelet_size_);
    if (size < codelet_bytes_) break;
    const auto name = memory.At<uint64_t>(codelet + codelet_name_);
    if (name != 0 && std::string_view(memory.Text(name)).starts_with(kMethodEntry)) {
      const uint64_t begin = codelet + codelet_bytes_;
      const int32_t set = FramePointerSet(memory.Bytes(begin, codelet + size),
                                          static_cast<uint32_t>(size - codelet_bytes_));
      entries_[count++] = {begin, codelet + size, set < 0 ? 0 : begin + set};
    }
    at += size;
  }
  count_.store(count, std::memory_order_release);
}

const uint64_t* InterpreterEntries::FrameFrom(const MemoryReader& memory, uint64_t pc) {
  if (count_.load(std::memory_order_acquire) < 0) Find(memory);
  const int count = count_.load(std::memory_order_acquire);
  if (count <= 0 || pc < entries_[0].begin || pc >= entries_[count - 1].end) return nullptr;
  for (int i = 0; i < count; ++i) {
    if (pc >= entries_[i].begin && pc < entries_[i].end) return &entries_[i].frame_from;
  }
  return nullptr;
}

}  // namespace jprof::hotspot
