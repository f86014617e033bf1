#include "jprof/engine/labels/labels.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "common/mapped_memory.h"
#include "common/sleep_lock.h"
#include "common/uninterrupted_lock.h"
#include "jprof/engine/event.h"
#include "jprof/engine/session.h"
#include "jprof/engine/shadow_stack.h"
#include "jprof/engine/tree.h"

namespace jprof::engine {
namespace {

using profile::MethodId;

constexpr std::string_view kMark = "mark ";

// Counts in one 64-bit number.
void CountLabel(profile::Node& node) {
  if (++node.entries[0] == 0) ++node.entries[1];
}

// Returns the text without what is beyond `most` bytes, which ends between two characters of UTF-8.
std::string_view CutTo(std::string_view text, size_t most) {
  if (text.size() <= most) return text;
  size_t end = most;
  while (end > 0 && (static_cast<uint8_t>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end);
}

uint32_t HashOf(std::string_view text) {  // FNV-1a
  uint32_t hash = 0x811c9dc5;
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x01000193;
  return hash;
}

std::string_view Cut(std::string_view text) { return CutTo(text, kLongestLabel); }

struct KnownLabel {
  std::atomic<uint32_t> id;  // 0: free. It is set last
  uint32_t size;
  char text[kLongestLabel];
};

// The labels of one session, which are found without a lock. Its memory is never freed, and is used
// by the next session of the process, if there is one.
class KnownLabels {
 public:
  // Returns the root if the label is not known and there is space for one more.
  LabelId Find(uint64_t session, std::string_view text) const {
    if (session_.load(std::memory_order_acquire) != session) return {};
    for (uint32_t at = HashOf(text) & kLast;; at = (at + 1) & kLast) {
      const KnownLabel& label = labels_[at];
      const uint32_t id = label.id.load(std::memory_order_acquire);
      if (id == 0) return {MethodId{others_.load(std::memory_order_relaxed)}, true};
      if (label.size == text.size() && std::memcmp(label.text, text.data(), label.size) == 0)
        return {MethodId{id}, false};
    }
  }

  // Add a label, or the one for all others. Require a lock. Do nothing without memory.
  void Add(uint64_t session, std::string_view text, MethodId id) {
    if (!Begin(session)) return;
    uint32_t at = HashOf(text) & kLast;
    while (labels_[at].id.load(std::memory_order_relaxed) != 0) at = (at + 1) & kLast;
    labels_[at].size = static_cast<uint32_t>(text.size());
    std::memcpy(labels_[at].text, text.data(), text.size());
    labels_[at].id.store(IndexOf(id), std::memory_order_release);
  }
  void SetOthers(uint64_t session, MethodId id) {
    if (Begin(session)) others_ = IndexOf(id);
  }

  // Forgets the table, which may be half made. Its memory is not freed.
  void Abandon() {
    session_ = 0;
    labels_ = nullptr;
  }

 private:
  static constexpr uint32_t kCount = 1u << 15, kLast = kCount - 1;
  static_assert(kCount > 2 * kMostLabels);

  // Returns whether the table is that of the session, which it becomes if necessary.
  bool Begin(uint64_t session) {
    if (session_ == session) return true;
    session_ = 0;
    if (labels_ != nullptr) UnmapArray(labels_, kCount);
    labels_ = MapArray<KnownLabel>(kCount);
    others_ = 0;
    if (labels_ != nullptr) session_.store(session, std::memory_order_release);
    return labels_ != nullptr;
  }

  std::atomic<uint64_t> session_ = 0;  // its start; 0: there is no table
  KnownLabel* labels_ = nullptr;
  std::atomic<uint32_t> others_ = 0;  // 0: there is space for one more
};
constinit KnownLabels known_labels;
constinit SleepLock adding;  // held while it is decided whether there is space for one more

}  // namespace

LabelId FindLabel(Session& session, std::string_view text) {
  const std::string_view cut = Cut(text);
  const uint64_t start = session.start_unix_ns();
  profile::ControlHeader& header = *session.writer().header();
  if (const LabelId known = known_labels.Find(start, cut); known.id != profile::kRootMethod)
    return known;
  LabelNames names;
  const auto id_of = [&](const std::string_view& label) {
    return session.methods().Find(names, reinterpret_cast<uint64_t>(&label)).id;
  };
  const UninterruptedLock guard(adding);
  if (const LabelId known = known_labels.Find(start, cut); known.id != profile::kRootMethod)
    return known;
  if (header.labels_full == 0 && header.labels < kMostLabels) {
    const MethodId id = id_of(cut);
    known_labels.Add(start, cut, id);
    return {id};
  }
  header.labels_full = 1;
  const MethodId others = id_of(kOtherLabels);
  known_labels.SetOthers(start, others);
  return {others, true};
}

void AbandonLabelsInChild() {
  if (!adding.try_lock()) known_labels.Abandon();
  adding.unlock();
}

void PushLabel(Thread& thread, std::string_view text) {
  if (thread.cursor.top == thread.cursor.limit && !GrowFrames(thread)) return;
  const MethodId id = FindLabel(*thread.session, text).id;
  FoldIfDue(thread);
  const Frame& base = thread.cursor.top[-1];
  if (base.method == 0) return;  // no method that is recorded runs
  profile::Node* const node =
      FindOrAddChild(thread, base.node, profile::PackMethod(FrameKind::kLabel, id)).node;
  if (profile::TypeOf(node->ref) != FrameKind::kLabel) return;  // there is no space for it
  CountLabel(*node);
  const uint64_t method = kLabelBit | (base.method & kFunctionBit) | IndexOf(id);
  *thread.cursor.top++ = {method, base.sp, node};
}

profile::MethodRef FindMark(Session& session, std::string_view text) {
  char mark[kLongestLabel];
  const std::string_view cut = CutTo(text, kLongestLabel - kMark.size());
  std::ranges::copy(kMark, mark);
  std::ranges::copy(cut, mark + kMark.size());
  return profile::PackMethod(FrameKind::kLabel,
                             FindLabel(session, {mark, kMark.size() + cut.size()}).id);
}

void CountMark(Thread& thread, std::string_view text) {
  const profile::MethodRef mark = FindMark(*thread.session, text);
  FoldIfDue(thread);
  profile::Node* const node = FindOrAddChild(thread, thread.cursor.top[-1].node, mark).node;
  if (profile::TypeOf(node->ref) == FrameKind::kLabel) CountLabel(*node);
}

LabelFunction MarkFunctionFor(RecordingKind kind, bool train) {
  return Visit(kind, train, []<class R>() -> LabelFunction { return Mark<R>; });
}

LabelFunction LabelFunctionFor(RecordingKind kind, bool train) {
  return Visit(kind, train, []<class R>() -> LabelFunction { return SetLabel<R>; });
}

}  // namespace jprof::engine
