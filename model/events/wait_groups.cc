#include "model/events/wait_groups.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>

namespace jprof::model {
namespace {

struct Collected {
  WaitGroup group;
  std::set<uint32_t> threads;
  std::map<uint32_t, uint64_t> wakers;
};

}  // namespace

std::vector<WaitGroup> GroupWaits(const Stretches& stretches, WaitReasons& reasons,
                                  const std::vector<bool>& chosen) {
  using Key = std::tuple<uint32_t, std::string, WaitReason, std::string, int32_t, uint64_t>;
  std::map<Key, Collected> found;
  for (uint32_t i = 0; i < stretches.threads.size(); ++i) {
    if (!chosen[i]) continue;
    const StretchThread& thread = stretches.threads[i];
    VisitGaps(stretches, thread, [&](const Gap& gap) {
      const WaitReason reason = reasons.Of(*gap.before);
      const uint64_t context = gap.before->context;
      const int32_t call = context != 0 ? -1 : gap.before->call;
      std::string detail = reasons.DetailOf(*gap.before);
      Collected& one = found[{thread.process, thread.name, reason, detail, call, context}];
      one.group.detail = std::move(detail);
      one.group.thread = i;
      one.group.reason = reason;
      one.group.call = call;
      one.group.context = context;
      ++one.group.count;
      one.group.waited += gap.waited();
      one.group.longest = std::max(one.group.longest, gap.waited());
      one.group.ready += gap.was_ready();
      one.threads.insert(i);
      if (gap.after != nullptr && reason != WaitReason::kPreempted) ++one.wakers[gap.after->waker];
    });
  }
  std::vector<WaitGroup> groups;
  for (auto& [key, one] : found) {
    for (const auto& [waker, count] : one.wakers) {
      if (count <= one.group.waker_count) continue;
      one.group.waker = waker;
      one.group.waker_count = count;
    }
    one.group.threads = static_cast<uint32_t>(one.threads.size());
    groups.push_back(one.group);
  }
  std::ranges::stable_sort(groups, std::ranges::greater(),
                           [](const WaitGroup& group) { return group.waited + group.ready; });
  return groups;
}

}  // namespace jprof::model
