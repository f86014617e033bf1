#include "record/kernel/context_counts.h"

#include <kernel_layout.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace jprof::record {
namespace {

template <typename Layout>
Layout Decoded(std::string_view record) {
  Layout layout = {};
  std::memcpy(&layout, record.data(), std::min(record.size(), sizeof layout));
  return layout;
}

}  // namespace

void ContextCounts::Add(uint32_t processor, std::string_view record) {
  Processor& at = processors_[processor];
  uint32_t id = 0;
  constexpr size_t kIdAt = offsetof(kernel_processor_dispatch_layout, id);
  if (record.size() < kIdAt + sizeof id) return;
  std::memcpy(&id, record.data() + kIdAt, sizeof id);
  if (id == KERNEL_PROCESSOR_DISPATCH_ID) {
    const auto dispatch = Decoded<kernel_processor_dispatch_layout>(record);
    if (dispatch.previous_context != 0)
      ++At(dispatch.previous_process, dispatch.previous_context).dispatches;
    at.process = dispatch.next_process;
    at.depth = 0;  // as in the kernel's program: the end of an interrupt may not have been recorded
  } else if (id == KERNEL_PROCESSOR_INTERRUPT_BEGIN_ID) {
    if (at.depth++ != 0) return;
    const auto begin = Decoded<kernel_processor_interrupt_begin_layout>(record);
    at.begin = begin.time;
    at.context = begin.calling_context;
  } else if (id == KERNEL_PROCESSOR_INTERRUPT_END_ID) {
    if (at.depth == 0 || --at.depth != 0 || at.context == 0) return;
    profile::KernelCounts& counts = At(at.process, at.context);
    ++counts.interrupts;
    counts.interrupt_ns += Decoded<kernel_processor_interrupt_end_layout>(record).time - at.begin;
  }
}

profile::KernelCounts& ContextCounts::At(uint32_t process, uint64_t context) {
  profile::KernelCounts& counts = counts_[process][context];
  counts.node = static_cast<uint32_t>(context);
  return counts;
}

std::vector<profile::KernelCounts> ContextCounts::Of(uint32_t process) const {
  std::vector<profile::KernelCounts> found;
  const auto nodes = counts_.find(process);
  if (nodes == counts_.end()) return found;
  for (const auto& [context, counts] : nodes->second) found.push_back(counts);
  std::ranges::sort(found, {}, &profile::KernelCounts::node);
  return found;
}

}  // namespace jprof::record
