// The calls that count locks: before monitorenter and monitorexit, and in synchronized methods.
#include <gtest/gtest.h>

#include "jprof/weave/lock_methods.h"
#include "tests/unit/weave/class_builder.h"

namespace jprof::weave {
namespace {

Shown ShowLocked(const CodeSpec& spec, uint16_t major = 61, std::string_view name = "C") {
  const auto bytes = ClassOf(spec, major, name);
  const auto woven = Weave(bytes, [](const Method&) {
    return Decision{.action = Action::kCount, .id = 1, .locks = true};
  });
  if (!woven) return {.code = woven.error().message};
  if (!woven->skipped.empty()) return {.code = std::string(NameOf(woven->skipped[0].why))};
  return Show(woven->bytes);
}

constexpr uint16_t kPublic = 1;

TEST(Locks, AreAskedForBeforeTheyAreTakenAndReleasedBeforeTheyAreLeft) {
  // aload_0, monitorenter, aload_0, monitorexit, return: one more slot of the stack each.
  const Shown shown =
      ShowLocked({.access = kPublic, .max_stack = 1, .max_locals = 1, .code = "2a c2 2a c3 b1"});
  EXPECT_EQ(shown.code,
            "04 enter(I)J 40 2a 59 ask(Ljava/lang/Object;)V c2 2a 59 "
            "release(Ljava/lang/Object;)V c3 1f exit(J)V b1");
  EXPECT_EQ(shown.max_stack, 3);
}

TEST(Locks, AreNotToldWithoutTheDecision) {
  const Shown shown =
      ShowCounted({.access = kPublic, .max_stack = 1, .max_locals = 1, .code = "2a c2 2a c3 b1"});
  EXPECT_EQ(shown.code, "04 enter(I)J 40 2a c2 2a c3 1f exit(J)V b1");
}

TEST(Locks, AJumpToAMonitorLeadsToTheCallBeforeIt) {
  // aload_0; goto the monitorenter.
  const Shown shown = ShowLocked({.access = kPublic,
                                  .max_stack = 1,
                                  .max_locals = 1,
                                  .code = "2a a7 00 03 c2 2a c3 b1",
                                  .attributes = {{"StackMapTable", "00 01 44 07 00 02"}}});
  EXPECT_EQ(shown.code,
            "04 enter(I)J 40 2a a7 00 03 59 ask(Ljava/lang/Object;)V c2 2a 59 "
            "release(Ljava/lang/Object;)V c3 1f exit(J)V b1");
}

TEST(Locks, OfSynchronizedMethodsAreLeftByEveryExit) {
  const Shown shown =
      ShowLocked({.access = kPublic | kSynchronized, .max_locals = 1, .code = "b1"});
  // enter, keep the node; this, the node: enter. Return: leave, exit. The end: leave, athrow.
  EXPECT_EQ(shown.code,
            "04 enter(I)J 40 2a 1f enter(Ljava/lang/Object;J)V 1f leave(J)V 1f exit(J)V b1 "
            "1f leave(J)V bf");
  EXPECT_EQ(shown.exceptions, "10-19 19");
  EXPECT_EQ(shown.max_stack, 3);
  // At 19 only the node, and the exception on the stack.
  EXPECT_EQ(shown.attributes.at("StackMapTable"), "00 01 ff 00 13 00 02 00 04 00 01 07 00 29");
}

TEST(Locks, OfStaticMethodsAreTheirClass) {
  const CodeSpec spec = {.access = kStatic | kSynchronized, .code = "b1"};
  const std::string code = ShowLocked(spec).code;
  EXPECT_NE(code.find("13 00 02 1e enter(Ljava/lang/Object;J)V"), code.npos) << code;
  // Class files below version 49 cannot load a class.
  EXPECT_EQ(ShowLocked(spec, 48).code, "04 enter(I)J 3f 1e exit(J)V b1");
}

TEST(Locks, TheMethodsOwnHandlersComeBeforeTheLastOne) {
  const Shown shown = ShowLocked({.access = kPublic | kSynchronized,
                                  .max_stack = 1,
                                  .max_locals = 1,
                                  .code = "00 b1 57 b1",
                                  .exceptions = {{0, 1, 2, 0}},
                                  .attributes = {{"StackMapTable", "00 01 42 07 00 04"}}});
  const std::string last = shown.exceptions.substr(shown.exceptions.rfind(',') + 2);
  EXPECT_EQ(last.substr(0, 3), "10-") << shown.exceptions;
}

// A method of java.util.concurrent that calls itself, and its result.
Shown ShowConcurrent(std::string_view type, const CodeSpec& spec) {
  return ShowLocked(spec, 61, "java/util/concurrent/" + std::string(type));
}

TEST(Locks, OfJavaUtilConcurrentAreTakenWithTheResultOfTheMethod) {
  const std::string call = "2a b6 00 01 ", called = "2a b6 00 01";
  const Shown lock =
      ShowConcurrent("locks/ReentrantLock",
                     {.access = kPublic, .name = "lock", .max_locals = 1, .code = call + "b1"});
  EXPECT_EQ(lock.code,
            "04 enter(I)J 40 2a 04 ask(Ljava/lang/Object;I)V " + called +
                " 04 2a 04 taken(ILjava/lang/Object;I)V 1f exit(J)V b1 b1 04 failed(I)V bf");
  // A boolean is kept in local 3, and so is a long.
  const Shown tried = ShowConcurrent("Semaphore", {.access = kPublic,
                                                   .name = "tryAcquire",
                                                   .descriptor = "()Z",
                                                   .max_locals = 1,
                                                   .code = call + "ac"});
  EXPECT_EQ(tried.code, "04 enter(I)J 40 2a 10 14 ask(Ljava/lang/Object;I)V " + called +
                            " 3e 1d 2a 10 14 taken(ILjava/lang/Object;I)V 1f exit(J)V 1d ac 1d ac "
                            "10 14 failed(I)V bf");
  const Shown stamped = ShowConcurrent("locks/StampedLock", {.access = kPublic,
                                                             .name = "writeLock",
                                                             .descriptor = "()J",
                                                             .max_stack = 2,
                                                             .max_locals = 1,
                                                             .code = call + "ad"});
  EXPECT_EQ(stamped.code,
            "04 enter(I)J 40 2a 06 ask(Ljava/lang/Object;I)V " + called +
                " 42 21 09 94 2a 06 taken(ILjava/lang/Object;I)V 1f exit(J)V 21 ad 21 ad "
                "06 failed(I)V bf");
}

TEST(Locks, OfJavaUtilConcurrentAreReleasedAtTheEntry) {
  const Shown shown = ShowConcurrent(
      "locks/ReentrantLock",
      {.access = kPublic, .name = "unlock", .max_locals = 1, .code = "2a b6 00 01 b1"});
  EXPECT_EQ(shown.code,
            "04 enter(I)J 40 2a 04 release(Ljava/lang/Object;I)V 2a b6 00 01 1f exit(J)V b1 b1");
}

TEST(Locks, AreForgottenWhereAThreadEnds) {
  const Shown shown = ShowLocked(
      {.access = 2, .name = "exit", .max_stack = 1, .max_locals = 1, .code = "2a b6 00 01 b1"}, 61,
      "java/lang/Thread");
  EXPECT_EQ(shown.code, "04 enter(I)J 40 ends()V 2a b6 00 01 1f exit(J)V b1 b1");
}

TEST(Locks, AClassOfThatNameWithOtherMethodsIsWovenAsUsual) {
  const CodeSpec no_call = {.access = kPublic, .name = "lock", .max_locals = 1, .code = "b1"};
  EXPECT_EQ(ShowConcurrent("locks/ReentrantLock", no_call).code, "04 enter(I)J 40 1f exit(J)V b1");
  const CodeSpec of_class = {.name = "lock", .code = "b8 00 01 b1"};
  EXPECT_EQ(ShowConcurrent("locks/ReentrantLock", of_class).code.find("ask"), std::string::npos);
}

TEST(LockMethods, AreKnownByClassNameAndDescriptor) {
  const auto find = [](std::string_view type, std::string_view name, std::string_view descriptor) {
    return FindLockMethod("java/util/concurrent/" + std::string(type), name, descriptor);
  };
  EXPECT_EQ(find("locks/ReentrantLock", "tryLock", "(JLjava/util/concurrent/TimeUnit;)Z").what, 1u);
  EXPECT_EQ(find("locks/ReentrantLock", "tryLock", "()Z").what, 1 | kTries);
  EXPECT_EQ(find("locks/StampedLock", "tryConvertToWriteLock", "(J)J").what,
            3 | kTries | kConverts);
  EXPECT_EQ(find("locks/AbstractQueuedSynchronizer", "acquire", "(I)V").use, LockUse::kNone);
  EXPECT_EQ(find("Semaphore", "release", "()V").use, LockUse::kNone);
  EXPECT_EQ(FindLockMethod("Semaphore", "acquire", "()V").use, LockUse::kNone);
  EXPECT_EQ(FindLockMethod("java/lang/Thread", "exit", "()V").use, LockUse::kEnd);
}

}  // namespace
}  // namespace jprof::weave
