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

template <typename Visit>
void InterpreterEntries::ForEach(const MemoryReader& memory, Visit visit) const {
  const auto queue = memory.At<uint64_t>(queue_);
  if (queue == 0) return;
  const auto buffer = memory.At<uint64_t>(queue + buffer_);
  const auto end = memory.At<int32_t>(queue + end_);
  for (int64_t at = memory.At<int32_t>(queue + first_); at < end;) {
    const uint64_t codelet = buffer + at;
    const auto size = memory.At<int32_t>(codelet + codelet_size_);
    if (size < codelet_bytes_) return;
    const auto name = memory.At<uint64_t>(codelet + codelet_name_);
    const Range code = {codelet + codelet_bytes_, codelet + size};
    if (name != 0 && !visit(std::string_view(memory.Text(name)), code)) return;
    at += size;
  }
}

InterpreterEntries::Range InterpreterEntries::CodeOf(const MemoryReader& memory,
                                                     std::string_view description) const {
  Range found = {0, 0};
  ForEach(memory, [&](std::string_view name, Range code) {
    if (name == description) found = code;
    return name != description;
  });
  return found;
}

void InterpreterEntries::Find(const MemoryReader& memory) {
  int count = 0;
  ForEach(memory, [&](std::string_view name, Range code) {
    if (!name.starts_with(kMethodEntry)) return true;
    const auto size = static_cast<uint32_t>(code.end - code.begin);
    const int32_t set = FramePointerSet(memory.Bytes(code.begin, code.end), size);
    entries_[count++] = {code.begin, code.end, set < 0 ? 0 : code.begin + set};
    return count < kMost;
  });
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
