// Stacks of real JVMs, walked again from the recorded reads: interpreted, C1, C2 and inlined
// frames, stubs, native methods, calls from native code, virtual threads, of JDK 17 and 25. And the
// same with damage, which a walk must survive: it ends, and reads only permitted memory.
#if defined(__x86_64__)
#include <gtest/gtest.h>
#include <ucontext.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tests/unit/hotspot/recorded_stack.h"

namespace jprof::hotspot {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kMostFrames = 64;

// The number of stacks in the files: the test must not pass if a file was not read.
constexpr size_t kStacks = 11;

std::vector<std::unique_ptr<RecordedVm>> Recorded() {
  std::vector<std::unique_ptr<RecordedVm>> vms;
  for (const auto& entry : fs::directory_iterator(JPROF_STACKS)) {
    std::ifstream file(entry.path());
    vms.push_back(RecordedVm::Parse(file));
  }
  return vms;
}

ucontext_t ContextOf(const RecordedStack& stack) {
  ucontext_t context = {};
  std::ranges::copy(stack.registers, context.uc_mcontext.gregs);
  return context;
}

struct Walked {
  StackWalk walk;
  std::vector<std::string> frames;
};

std::vector<std::string> TextsOf(std::span<const StackFrame> frames) {
  std::vector<std::string> texts;
  for (const StackFrame& frame : frames) texts.push_back(TextOf(frame));
  return texts;
}

Walked WalkWith(const RecordedVm& vm, const RecordedStack& stack, RecordedMemory& memory) {
  static const unwind::Unwinder unwinder;  // has no modules: native frames are recorded as well
  const auto walker = StackWalker::Open(vm.Structs(), unwinder, &memory);
  if (!walker) {
    ADD_FAILURE() << walker.error().message;
    return {};
  }
  const ucontext_t context = ContextOf(stack);
  StackFrame frames[kMostFrames];
  const StackWalk walk =
      walker->WalkSignal(&context, stack.bounds, stack.vm_thread, frames, kMostFrames);
  EXPECT_LE(walk.depth, kMostFrames);
  return {walk, TextsOf({frames, walk.depth})};
}

template <typename F>
void ForEachStack(F f) {
  size_t stacks = 0;
  for (const auto& vm : Recorded()) {
    for (const RecordedStack& stack : vm->stacks()) {
      SCOPED_TRACE(stack.name);
      ++stacks;
      f(*vm, stack);
    }
  }
  EXPECT_EQ(stacks, kStacks);
}

TEST(RecordedStacks, EveryFrameIsFound) {
  ForEachStack([](const RecordedVm& vm, const RecordedStack& stack) {
    RecordedMemory memory(stack);
    const Walked walked = WalkWith(vm, stack, memory);
    EXPECT_EQ(walked.frames, stack.frames);
    EXPECT_FALSE(walked.walk.unknown);
    EXPECT_FALSE(walked.walk.truncated);
    EXPECT_EQ(walked.walk.is_virtual, stack.is_virtual);
    EXPECT_EQ(walked.walk.in_heap, stack.in_heap);
  });
}

TEST(RecordedStacks, LittleRoomTruncates) {
  static const unwind::Unwinder unwinder;
  ForEachStack([](const RecordedVm& vm, const RecordedStack& stack) {
    RecordedMemory memory(stack);
    const auto walker = StackWalker::Open(vm.Structs(), unwinder, &memory);
    const ucontext_t context = ContextOf(stack);
    StackFrame frames[1];
    const StackWalk walk = walker->WalkSignal(&context, stack.bounds, stack.vm_thread, frames, 1);
    EXPECT_EQ(walk.depth, 1u);
    EXPECT_TRUE(walk.truncated);
    EXPECT_EQ(TextOf(frames[0]), stack.frames[0]);
  });
}

// Walks with a cache: the second finds the same frames, and so does the third, which reuses the
// outer frames of the second.
TEST(RecordedStacks, RememberedWalksFindTheSame) {
  struct Refs final : FrameNames {
    profile::MethodRef RefOf(const StackFrame& frame) override {
      return static_cast<profile::MethodRef>(frame.method >> 3 | 1);
    }
  };
  static const unwind::Unwinder unwinder;
  uint32_t kept = 0;
  ForEachStack([&](const RecordedVm& vm, const RecordedStack& stack) {
    RecordedMemory memory(stack);
    const auto walker = StackWalker::Open(vm.Structs(), unwinder, &memory);
    const ucontext_t context = ContextOf(stack);
    Refs refs;
    const auto last = std::make_unique<LastStack>();
    for (int i = 0; i < 3; ++i) {
      const StackWalk walk =
          walker->WalkSignal(&context, stack.bounds, stack.vm_thread, refs, *last);
      EXPECT_EQ(walk.depth, stack.frames.size());
      EXPECT_EQ(TextsOf(last->frames()), stack.frames);
      kept += i > 0 ? walk.kept : 0;
    }
  });
  EXPECT_GT(kept, 0u);
}

// Each read fails in turn. The frames found before that read must be unaffected.
TEST(RecordedStacks, EveryReadMayFail) {
  ForEachStack([](const RecordedVm& vm, const RecordedStack& stack) {
    RecordedMemory whole(stack);
    WalkWith(vm, stack, whole);
    ASSERT_GT(whole.reads(), stack.frames.size());
    uint64_t differ = 0;
    for (uint64_t nth = 1; nth <= whole.reads(); ++nth) {
      RecordedMemory memory(stack);
      memory.FailAt(nth);
      const Walked walked = WalkWith(vm, stack, memory);
      differ += walked.frames != stack.frames || walked.walk.unknown;
    }
    EXPECT_GT(differ, stack.frames.size());  // most frames depend on several reads
  });
}

// Each word of the stack is replaced in turn: by 0, its neighbours, code addresses, methods. With
// sanitizers each third one.
#ifdef JPROF_SANITIZED
constexpr uint64_t kWords = 3;
#else
constexpr uint64_t kWords = 1;
#endif
TEST(RecordedStacks, AnyWordMayBeOnTheStack) {
  ForEachStack([](const RecordedVm& vm, const RecordedStack& stack) {
    RecordedMemory whole(stack);
    WalkWith(vm, stack, whole);
    std::vector<uint64_t> values = {0,
                                    1,
                                    ~uint64_t{0},
                                    stack.bounds.low,
                                    stack.bounds.high,
                                    stack.bounds.high - 8,
                                    stack.vm_thread};
    values.insert(values.end(), stack.registers.begin(), stack.registers.end());
    for (uint64_t nth = 1; nth <= whole.stack_reads(); nth += kWords) {
      for (const uint64_t value : values) {
        RecordedMemory memory(stack);
        memory.ReplaceStackWord(nth, value);
        WalkWith(vm, stack, memory);
      }
    }
  });
}

}  // namespace
}  // namespace jprof::hotspot
#endif
