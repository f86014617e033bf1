#include "profile/import/sample_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <utility>

#include "profile/files/cut_stack.h"

namespace jprof::profile {
namespace {

constexpr size_t kMostNodes = size_t{1} << 28;
constexpr size_t kMostMethods = size_t{1} << 24;
constexpr size_t kMostThreads = size_t{1} << 20;
constexpr size_t kLongestText = 0xffff;         // a method record has lengths of 16 bits
constexpr size_t kMostTexts = size_t{1} << 30;  // bytes of the names of all methods
// What a node needs at most, with its place in the table of children, while the tables grow; and a
// byte of a name, which is also part of a key.
constexpr uint64_t kNodeMemory = 3 * sizeof(SampleTree::Node) + 64;
constexpr uint64_t kTextMemory = 8;
constexpr uint64_t kMostSamples = uint64_t{1} << 62;

constexpr char kNoStack[] = "(no stack in the imported file)";

std::string_view Cut(std::string_view text) { return text.substr(0, kLongestText); }

// Returns a key that distinguishes all methods: its parts may contain any byte.
std::string KeyOf(const ForeignMethod& method) {
  return fmt::format("{} {} {}\n{}{}{}", method.flags, method.class_name.size(), method.name.size(),
                     method.class_name, method.name, method.signature);
}

}  // namespace

SampleTree::SampleTree(uint64_t memory)
    : most_nodes_(std::min<uint64_t>(kMostNodes, memory / kNodeMemory)),
      most_texts_(std::min<uint64_t>(kMostTexts, memory / kTextMemory)) {}

MethodId SampleTree::AddMethod(const ForeignMethod& method) {
  const ForeignMethod kept = {.class_name = Cut(method.class_name),
                              .name = Cut(method.name),
                              .signature = Cut(method.signature),
                              .flags = method.flags};
  if (methods_.size() >= kMostMethods || texts_ >= most_texts_) {
    is_full_ = true;
    return MethodId{1};
  }
  const auto next = static_cast<MethodId>(methods_.size() + 1);
  const auto [entry, is_new] = ids_.try_emplace(KeyOf(kept), next);
  if (is_new) {
    methods_.push_back({std::string(kept.class_name), std::string(kept.name),
                        std::string(kept.signature), kept.flags});
    texts_ += kept.class_name.size() + kept.name.size() + kept.signature.size();
  }
  return entry->second;
}

MethodId SampleTree::AddSite(std::string_view file, int64_t bytecode, uint32_t line) {
  has_sites_ = true;
  const std::string name = fmt::format("{}:{}", std::max<int64_t>(bytecode, 0), line);
  return AddMethod({.class_name = file, .name = name, .signature = {}, .flags = kMethodSite});
}

uint32_t SampleTree::AddThread(const ForeignThread& thread) {
  const auto next = static_cast<uint32_t>(threads_.size());
  if (next >= kMostThreads) {
    is_full_ = true;
    return 0;
  }
  const auto [entry, is_new] =
      thread_ids_.try_emplace(fmt::format("{} {}", thread.tid, thread.name), next);
  if (is_new) {
    const auto root = static_cast<uint32_t>(nodes_.size());
    nodes_.push_back({.ref = PackMethod(FrameKind::kThread, kRootMethod), .parent = root});
    threads_.push_back({.name = std::string(thread.name),
                        .tid = thread.tid,
                        .is_virtual = thread.is_virtual,
                        .root = root});
  }
  return entry->second;
}

uint32_t SampleTree::Child(uint32_t parent, MethodRef ref) {
  const uint64_t key = uint64_t{parent} << 32 | std::to_underlying(ref);
  const auto next = static_cast<uint32_t>(nodes_.size());
  if (nodes_.size() >= most_nodes_) {
    is_full_ = true;
    return parent;
  }
  const uint32_t child = children_.FindOrAdd(key, next);
  if (child == next) nodes_.push_back({.ref = ref, .parent = parent});
  return child;
}

uint32_t SampleTree::Step(uint32_t from, const ForeignFrame& frame) {
  const uint32_t node = Child(from, PackMethod(frame.kind, frame.method));
  return frame.site == kRootMethod ? node : Child(node, PackMethod(FrameKind::kSite, frame.site));
}

uint32_t SampleTree::Note(uint32_t from, std::string_view text) {
  const MethodId note =
      AddMethod({.class_name = {}, .name = text, .signature = {}, .flags = kMethodStub});
  return Child(from, PackMethod(FrameKind::kOther, note));
}

void SampleTree::Add(uint32_t thread, std::span<const ForeignFrame> stack,
                     const ForeignSample& sample) {
  const auto count = static_cast<uint64_t>(sample.count);
  if (count > kMostSamples - samples_ ||
      __builtin_add_overflow(all_values_, sample.value, &all_values_)) {
    is_too_large_ = true;
    return;
  }
  Thread& of = threads_[thread];
  uint32_t node = of.root;
  if (sample.is_cut) node = Note(node, kOuterFramesCut);
  for (const ForeignFrame& frame : stack | std::views::reverse) node = Step(node, frame);
  if (stack.empty()) node = Note(node, kNoStack);
  nodes_[node].value += sample.value;
  nodes_[node].count += sample.count;
  samples_ += count;
  of.samples += count;
  of.unknown += sample.is_unknown || stack.empty() ? count : 0;
  of.cut += sample.is_cut ? count : 0;
  cut_ += sample.is_cut ? count : 0;
}

Result<void> SampleTree::Check() const {
  if (is_too_large_) return Fail("the sum of its samples is too large: more than 2^62");
  if (!is_full_) return {};
  if (most_nodes_ < kMostNodes && (nodes_.size() >= most_nodes_ || texts_ >= most_texts_)) {
    return Fail(
        "it has more than {} calling contexts, or {} MiB of names, for which the available memory "
        "does not suffice: import it on a machine with more memory, or only a part of it",
        most_nodes_, most_texts_ >> 20);
  }
  return Fail("it has more than {} calling contexts, {} methods or {} threads, or 1 GiB of names",
              kMostNodes, kMostMethods, kMostThreads);
}

}  // namespace jprof::profile
