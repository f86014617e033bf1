// Imported samples joined with exact counts: stacks that are cut, and names without signatures.
#include <gtest/gtest.h>

#include "profile/files/cut_stack.h"
#include "tests/unit/reports/combined_profile.h"

namespace jprof::reports {
namespace {

using profile::MethodId;

// Adds a node to a sampled profile, below the thread if `parent` is 0. Returns it.
uint32_t AddSampled(StackProfile& profile, uint32_t parent, MethodId method, FrameKind kind,
                    int64_t samples) {
  profile::SyntheticProfile& made = profile.made;
  const uint32_t node =
      made.AddNode(profile::PackMethod(kind, method), parent != 0 ? parent : made.threads[0].root);
  made.nodes[node].self = samples;
  made.threads[0].samples += static_cast<uint64_t>(samples);
  return node;
}

double SamplesAt(const model::CombinedView& view, const std::string& path) {
  const auto paths = PathsOf(view.tree);
  const auto found = paths.find(path);
  EXPECT_NE(found, paths.end()) << path;
  return found == paths.end() ? -1 : view.tree.Samples(found->second, 0);
}

TEST(Imported, ACutStackMatchesNoContextBelowTheThread) {
  StackProfile counted = CountedStacks();
  counted.Call("A.main", 1);
  counted.Call("A.main B.run", 7);
  counted.Call("B.run", 3);  // on another thread it is the outermost method
  StackProfile sampled = SampledStacks();
  sampled.Add("B.run", 5);
  const MethodId note =
      sampled.made.AddMethod("", profile::kOuterFramesCut, "", profile::kMethodStub);
  const MethodId run = sampled.made.AddMethod("B", "run", "()V", 0);
  AddSampled(sampled, AddSampled(sampled, 0, note, FrameKind::kOther, 0), run, FrameKind::kRejitted,
             40);
  const MadeCombined made(counted, {sampled});
  const auto view = made.Load();
  ASSERT_TRUE(view) << view.error().message;
  EXPECT_EQ(SamplesAt(*view, "B.run()V;"), 5);
  EXPECT_EQ(SamplesAt(*view, std::string(profile::kOuterFramesCut) + ";B.run()V;"), 40);
  EXPECT_DOUBLE_EQ(view->uncounted, 40 / 45.0);
}

TEST(Imported, ANameWithoutSignatureMatchesTheOverloadThatIsCalledThere) {
  StackProfile counted = CountedStacks();
  counted.Call("A.main", 1);
  counted.Call("A.main B.run", 7);
  const MethodId other = counted.made.AddMethod("B", "run", "(I)V", 0);
  const uint32_t elsewhere = counted.made.AddNode(profile::PackMethod(FrameKind::kRejitted, other),
                                                  counted.made.threads[0].root);
  counted.made.nodes[elsewhere].entries[0] = 2;
  StackProfile sampled = SampledStacks();
  const MethodId main = sampled.made.AddMethod("A", "main", "", 0);
  const MethodId run = sampled.made.AddMethod("B", "run", "", 0);
  const uint32_t at = AddSampled(sampled, 0, main, FrameKind::kRejitted, 1);
  AddSampled(sampled, at, run, FrameKind::kRejitted, 10);
  AddSampled(sampled, 0, run, FrameKind::kRejitted, 20);
  const MadeCombined made(counted, {sampled});
  const auto view = made.Load();
  ASSERT_TRUE(view) << view.error().message;
  EXPECT_EQ(SamplesAt(*view, "A.main()V;"), 1);
  EXPECT_EQ(SamplesAt(*view, "A.main()V;B.run()V;"), 10);
  EXPECT_EQ(SamplesAt(*view, "B.run(I)V;"), 20);
  EXPECT_EQ(view->common_contexts, 3u);
}

}  // namespace
}  // namespace jprof::reports
