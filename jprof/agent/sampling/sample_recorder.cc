#include "jprof/agent/sampling/sample_recorder.h"

#include <link.h>

#include <ranges>
#include <utility>

#include "jprof/agent/sampling/frame_names.h"
#include "jprof/engine/samples.h"
#include "jprof/engine/woven.h"
#include "profile/files/cut_stack.h"

namespace jprof::agent {
namespace {

constexpr uint32_t kMostMethods = 32;

// Represents the executable segment that contains `address`; `begin` and `end` are 0 if there is
// none.
struct CodeRange {
  uint64_t address, begin = 0, end = 0;
};
CodeRange CodeAround(uint64_t address) {
  CodeRange range{address};
  const auto visit = [](dl_phdr_info* info, size_t, void* data) {
    auto* wanted = static_cast<CodeRange*>(data);
    for (const ElfW(Phdr) & part : std::span(info->dlpi_phdr, info->dlpi_phnum)) {
      const uint64_t begin = info->dlpi_addr + part.p_vaddr, end = begin + part.p_memsz;
      if (part.p_type != PT_LOAD || !(part.p_flags & PF_X)) continue;
      if (wanted->address < begin || wanted->address >= end) continue;
      wanted->begin = begin;
      wanted->end = end;
      return 1;
    }
    return 0;
  };
  dl_iterate_phdr(visit, &range);
  return range;
}

}  // namespace

SampleRecorder::SampleRecorder(const options::AgentOptions& options, HotspotVm& hotspot,
                               engine::Session& session)
    : java_(hotspot.vm),
      sites_(hotspot.vm),
      session_(session),
      attributes_to_current_(options.mode == options::Mode::kCalltree),
      java_only_(options.java_only),
      by_name_(options.name_at_sample),
      virtual_rows_(session) {
  for (const options::Trigger& trigger : options.triggers) {
    const auto metrics = MetricsOf(trigger);
    triggers_.push_back({metric_count_, metrics.front().is_weighted()});
    metric_count_ += static_cast<uint32_t>(metrics.size());
  }
  const CodeRange own = CodeAround(reinterpret_cast<uint64_t>(&CodeAround));
  own_begin_ = own.begin;
  own_end_ = own.end;
}

Result<std::unique_ptr<SampleRecorder>> SampleRecorder::Open(const options::AgentOptions& options,
                                                             HotspotVm& hotspot,
                                                             engine::Session& session) {
  std::unique_ptr<SampleRecorder> recorder(new SampleRecorder(options, hotspot, session));
  if (auto read = recorder->unwinder_.Refresh(); !read && !options.java_only)
    return std::unexpected(read.error());
  auto walker = hotspot::StackWalker::Open(hotspot.structs, recorder->unwinder_);
  if (!walker) return std::unexpected(walker.error());
  recorder->walker_ = std::make_unique<hotspot::StackWalker>(*walker);
  return recorder;
}

void SampleRecorder::AttributeToCurrent(engine::Thread& thread, size_t trigger, int64_t weight,
                                        uint64_t pc) {
  profile::Node* node = IsOwn(pc) ? nullptr : engine::CurrentNode(thread);
  if (node == nullptr) {
    thread.record->samples_own += weight;
    return;
  }
  if (thread.woven_current != nullptr) node = InlinedNode(thread, node, pc);
  engine::AddToMetric(thread, node, triggers_[trigger].first, weight, metric_count_);
  thread.record->samples += weight;
}

// Returns the node of the inlined method at `pc`. From the second statement on the thread is known
// to be in C2's code, so it holds no lock.
profile::Node* SampleRecorder::InlinedNode(engine::Thread& thread, profile::Node* current,
                                           uint64_t pc) {
  uint64_t methods[kMostMethods];
  profile::MethodId ids[kMostMethods];
  const uint32_t count = walker_->OptimisedMethods(pc, methods);
  if (count == 0 || !engine::HandleAttention(thread)) return current;
  const engine::TreeClaim tree(thread);
  for (uint32_t i = 0; i < count; ++i) ids[i] = engine::SampledMethod(thread, java_, methods[i]);
  return engine::WovenLeaf(thread, current, std::span(ids, count));
}

void SampleRecorder::TakeStack(engine::Thread& thread, size_t trigger, int64_t weight,
                               const void* context, ptm::ThreadTimer* timer) {
  const engine::TreeClaim tree(thread);
  profile::ThreadRecord& record = *thread.record;
  if (!tree.acquired()) {
    record.samples_lost += weight;
    return;
  }
  SampledThread& sampled = *SampledThreadOf(thread);
  if (!engine::HandleAttention(thread)) return;
  if (std::exchange(sampled.last_forgets, thread.forgets) != thread.forgets) sampled.last.Forget();
  if (IsOwn(unwind::OfSignal(context).pc)) {
    record.samples_own += weight;
    return;
  }
  const size_t leaves = KernelLeaves(thread, sampled, timer);
  ThreadNames names(thread, java_, unwinder_);
  const hotspot::StackWalk walk =
      walker_->WalkSignal(context, sampled.stack, thread.vm_thread, names, sampled.last);
  engine::Timeline& timeline = TimelineOf(thread, walk);
  const bool same = sampled.last_timeline == &timeline && sampled.last_folded == timeline.folded;
  const uint32_t kept = same && engine::MayReuseNodes(thread, timeline) ? walk.kept : 0;
  profile::Node* node =
      ContextOf(thread, timeline, walk.in_heap, sampled.last.frames(), kept, leaves);
  sampled.last_timeline = &timeline;
  sampled.last_folded = timeline.folded;
  Add(thread, timeline, walk, node, trigger, weight);
}

void SampleRecorder::TakeJavaStack(engine::Thread& thread, SampledThread& sampled, size_t trigger,
                                   int64_t weight, const char* class_signature) {
  const engine::TreeClaim tree(thread);
  if (!tree.acquired() || !engine::HandleAttention(thread)) return;
  size_t leaves = 0;
  if (class_signature != nullptr)
    sampled.leaves[leaves++] = ClassReference(thread, class_signature);
  ThreadNames names(thread, java_, unwinder_);
  const hotspot::StackWalk walk =
      walker_->WalkJava(sampled.stack, thread.vm_thread, sampled.frames, kMostFrames, &names);
  engine::Timeline& timeline = TimelineOf(thread, walk);
  profile::Node* node =
      ContextOf(thread, timeline, walk.in_heap, {sampled.frames, walk.depth}, 0, leaves);
  Add(thread, timeline, walk, node, trigger, weight);
}

engine::Timeline& SampleRecorder::TimelineOf(engine::Thread& thread,
                                             const hotspot::StackWalk& walk) {
  if (walk.is_virtual) return virtual_rows_.TimelineFor(thread);
  return by_name_ ? virtual_rows_.TimelineOfName(thread) : thread.timeline;
}

// Writes the method references of the kernel frames to sampled.leaves. Returns their number.
size_t SampleRecorder::KernelLeaves(engine::Thread& thread, SampledThread& sampled,
                                    ptm::ThreadTimer* timer) {
  if (timer == nullptr || java_only_) return 0;
  const size_t frames = timer->KernelFrames(sampled.kernel, kMostKernelFrames);
  if (frames != 0) saw_kernel_frames_.store(true, std::memory_order_relaxed);
  size_t leaves = 0;
  for (size_t i = 0; i < frames; ++i) {
    const profile::MethodRef leaf = KernelReference(thread, kernel_functions_, sampled.kernel[i]);
    if (leaf != profile::kNoMethodRef) sampled.leaves[leaves++] = leaf;
  }
  return leaves;
}

// Returns the node of a stack. The nodes of the `kept` outermost frames are known. The first
// `leaves` of the thread's leaves are below the frames.
profile::Node* SampleRecorder::ContextOf(engine::Thread& thread, engine::Timeline& timeline,
                                         bool in_heap, std::span<hotspot::StackFrame> frames,
                                         uint32_t kept, size_t leaves) {
  const size_t fresh = frames.size() - kept;
  engine::Path path(thread, timeline, kept != 0 ? frames[fresh].context : 0);
  if (kept == 0 && in_heap) path.Step(NoteReference(thread, profile::kOuterFramesInHeap));
  for (hotspot::StackFrame& frame : frames.first(fresh) | std::views::reverse) {
    if (!java_only_ || IsJava(frame.type)) path.Step(frame.ref);
    const profile::MethodRef site = SiteReference(thread, sites_, frame);
    if (site != profile::kNoMethodRef) path.StepToSite(site);
    frame.context = path.index();
  }
  const std::span below(SampledThreadOf(thread)->leaves, leaves);
  for (const profile::MethodRef leaf : below | std::views::reverse) path.Step(leaf);
  return path.node();
}

void SampleRecorder::Add(engine::Thread& thread, engine::Timeline& timeline,
                         const hotspot::StackWalk& walk, profile::Node* node, size_t trigger,
                         int64_t weight) {
  const auto [first, weighted] = triggers_[trigger];
  engine::AddToMetric(thread, node, first, weight, metric_count_);
  if (weighted) engine::AddToMetric(thread, node, first + 1, 1, metric_count_);
  const int64_t count = weighted ? 1 : weight;
  timeline.record->samples += count;
  timeline.record->samples_unknown += walk.unknown ? count : 0;
  timeline.record->samples_truncated += walk.truncated ? count : 0;
  if (walk.in_heap) {
    __atomic_fetch_add(&session_.writer().header()->samples_in_heap, static_cast<uint64_t>(count),
                       __ATOMIC_RELAXED);
  }
}

}  // namespace jprof::agent
