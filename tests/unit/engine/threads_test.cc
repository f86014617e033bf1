// Visits all threads of a session while threads begin and end.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <future>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include "jprof/engine/session.h"
#include "jprof/engine/shadow_stack.h"

namespace jprof::engine {
namespace {

using namespace std::chrono_literals;

class NoNames : public MethodSource {
 public:
  bool Describe(uint64_t, MethodText*) override { return false; }
  FrameKind Classify(uint64_t) override { return FrameKind::kOther; }
};

class ThreadsTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/jprof-threads-XXXXXX";
    directory_ = mkdtemp(name);
    SessionOptions options;
    options.files.directory = directory_ + "/p";
    ASSERT_TRUE(session_.Start(std::move(options), &source_));
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  size_t Count() {
    size_t count = 0;
    session_.threads().ForEach([&](Thread&) { ++count; });
    return count;
  }

  std::string directory_;
  NoNames source_;
  Session session_;
};

// A thread that is recorded until it is told to end.
class Recorded {
 public:
  explicit Recorded(Session& session)
      : thread_([this, &session] {
          Thread* state = session.threads().CurrentThread();
          state->extension = &extension_;
          begun_.release();
          end_.acquire();
          ThreadRegistry::Detach();
        }) {
    begun_.acquire();
  }
  ~Recorded() { End(); }
  void End() {
    if (!thread_.joinable()) return;
    end_.release();
    thread_.join();
  }
  bool given_back() const { return extension_.given_back; }

 private:
  struct Extension final : ThreadExtension {
    void Release() override { given_back = true; }
    std::atomic<bool> given_back = false;
  };
  Extension extension_;
  std::binary_semaphore begun_{0}, end_{0};
  std::thread thread_;
};

// If the visit held the lock, a thread that begins or ends would wait for it: forever in the VM, if
// the visitor waits for a safepoint.
TEST_F(ThreadsTest, ThreadsBeginAndEndWhileOthersAreVisited) {
  Recorded first(session_);
  std::future<void> other;
  bool in_time = false;
  session_.threads().ForEach([&](Thread&) {
    if (other.valid()) return;
    other = std::async(std::launch::async, [&] {
      session_.threads().CurrentThread();
      session_.threads().ForgetMethods();
      ThreadRegistry::Detach();
    });
    in_time = other.wait_for(10s) == std::future_status::ready;
  });
  other.wait();
  EXPECT_TRUE(in_time);
  EXPECT_EQ(Count(), 1u);
}

TEST_F(ThreadsTest, AThreadThatEndsWhileItIsVisitedStaysInMemory) {
  Recorded first(session_), second(session_);
  size_t visited = 0;
  session_.threads().ForEach([&](Thread& thread) {
    ++visited;
    first.End();
    second.End();
    EXPECT_FALSE(first.given_back());
    EXPECT_EQ(thread.record->state, uint32_t{profile::kThreadEnded});
    __atomic_fetch_or(&thread.attention, uint32_t{kNotRecorded}, __ATOMIC_RELAXED);
  });
  EXPECT_EQ(visited, 1u) << "the second one has ended before its turn";
  EXPECT_TRUE(first.given_back());
  EXPECT_TRUE(second.given_back());
  EXPECT_EQ(Count(), 0u);
}

TEST_F(ThreadsTest, OnlyTheLastHoldGivesBack) {
  Recorded one(session_);
  {
    const ThreadRegistry::Hold outer(session_.threads());
    EXPECT_EQ(Count(), 1u);  // a separate hold
    one.End();
    EXPECT_EQ(Count(), 0u);
    EXPECT_FALSE(one.given_back());
  }
  EXPECT_TRUE(one.given_back());
}

TEST_F(ThreadsTest, WithoutAHoldItIsFreedAtOnce) {
  Recorded one(session_);
  one.End();
  EXPECT_TRUE(one.given_back());
}

bool IsMapped(void* page) { return msync(page, 1, MS_ASYNC) == 0; }

// A thread whose stack was deep when its session ended.
TEST_F(ThreadsTest, CloseFreesGrownFramesAndNothingElse) {
  Thread* const thread = session_.threads().CurrentThread();
  ASSERT_NE(thread, nullptr);
  void* const neighbour =
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(GrowFrames(*thread));
  Frame* const frames = thread->timeline.frames;
  session_.Finish();
  session_.Close();
  EXPECT_TRUE(IsMapped(neighbour));
  EXPECT_FALSE(IsMapped(frames));
  munmap(neighbour, 4096);
}

// The frames of virtual threads: of one that is mounted when the session ends, of one that is not,
// and of one that has ended.
TEST_F(ThreadsTest, CloseFreesTheFramesOfVirtualThreads) {
  Thread* const thread = session_.threads().CurrentThread();
  ASSERT_NE(thread, nullptr);
  ASSERT_TRUE(GrowFrames(*thread));
  std::vector<void*> pages = {thread->timeline.frames};
  for (const uint64_t identity : {1, 2, 3}) {
    session_.timelines().SwitchToVirtualThread(*thread, identity);
    ASSERT_EQ(thread->continuation, identity);
    pages.push_back(thread->mounted);
    ASSERT_TRUE(GrowFrames(*thread));
    pages.push_back(thread->timeline.frames);
    const Frame called = thread->cursor.top[-1];
    if (identity == 1) *thread->cursor.top++ = called;
  }
  session_.Finish();
  session_.Close();
  for (void* page : pages) EXPECT_FALSE(IsMapped(page));
}

// The rings of a thread and of a virtual thread that trace when their session ends.
TEST_F(ThreadsTest, CloseFreesTheRingsOfTraces) {
  session_.Close();
  Session traced;
  SessionOptions options;
  options.files.directory = directory_ + "/traced";
  options.files.trace = true;
  options.trace_keep = TraceKeep::kWrap;
  ASSERT_TRUE(traced.Start(std::move(options), &source_));
  Thread* const thread = traced.threads().CurrentThread();
  ASSERT_NE(thread, nullptr);
  ASSERT_TRUE(traced.trace().Next(*thread));
  void* const own = thread->timeline.ring;
  traced.timelines().SwitchToVirtualThread(*thread, 1);
  ASSERT_TRUE(traced.trace().Next(*thread));
  void* const virtual_one = thread->timeline.ring;
  ASSERT_NE(own, virtual_one);
  traced.Finish();
  traced.Close();
  EXPECT_FALSE(IsMapped(own));
  EXPECT_FALSE(IsMapped(virtual_one));
}

TEST_F(ThreadsTest, VisitsAndLivesInParallel) {
  std::atomic<bool> stop = false;
  const auto live = [&] {
    while (!stop) {
      session_.threads().CurrentThread();
      ThreadRegistry::Detach();
    }
  };
  std::thread threads[] = {std::thread(live), std::thread(live), std::thread(live)};
  size_t visited = 0;
  // Longer on a busy machine, where no thread may have been visited yet.
  const auto begin = std::chrono::steady_clock::now();
  for (auto passed = 0ns; passed < 300ms || (visited == 0 && passed < 20s);
       passed = std::chrono::steady_clock::now() - begin) {
    session_.threads().ForEach([&](Thread& thread) { visited += thread.record->tid != 0; });
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(visited, 0u);
  EXPECT_EQ(Count(), 0u);
}

// The threads of a closed session go on, and are recorded by the next one.
TEST_F(ThreadsTest, ASessionIsClosedWhileItsThreadsRun) {
  std::binary_semaphore attached{0}, closed{0}, again{0}, end{0};
  Thread *first = nullptr, *between = nullptr, *second = nullptr;
  Session next;
  std::thread runner([&] {
    first = session_.threads().CurrentThread();
    attached.release();
    closed.acquire();
    between = current_thread;
    again.acquire();
    second = next.threads().CurrentThread();
    attached.release();
    end.acquire();
  });  // ends without Detach
  attached.acquire();
  session_.Finish();
  session_.Close();
  closed.release();
  SessionOptions options;
  options.files.directory = directory_ + "/next";
  ASSERT_TRUE(next.Start(std::move(options), &source_));
  again.release();
  attached.acquire();
  EXPECT_EQ(second->session, &next);
  end.release();
  runner.join();
  EXPECT_NE(first, nullptr);
  EXPECT_EQ(between, nullptr);
  size_t count = 0;
  next.threads().ForEach([&](Thread&) { ++count; });
  EXPECT_EQ(count, 0u);  // it was detached at its exit
  next.Close();
}

TEST_F(ThreadsTest, ClosingWaitsForAThreadThatLeaves) {
  for (int round = 0; round < 20; ++round) {
    Session session;
    SessionOptions options;
    options.files.directory = directory_ + "/" + std::to_string(round);
    ASSERT_TRUE(session.Start(std::move(options), &source_));
    std::vector<std::thread> threads;
    std::atomic<int> attached = 0;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        session.threads().CurrentThread();
        ++attached;
      });
    }
    while (attached < 4) std::this_thread::yield();
    session.Close();
    for (std::thread& thread : threads) thread.join();
  }
}

TEST_F(ThreadsTest, AThreadAdoptsTheStateThatAnotherOneMade) {
  std::binary_semaphore known{0}, made{0};
  std::atomic<uint32_t> tid = 0;
  Thread* state = nullptr;
  std::thread owner([&] {
    tid = static_cast<uint32_t>(gettid());
    known.release();
    made.acquire();
    EXPECT_EQ(current_thread, nullptr);
    ThreadRegistry::MakeCurrent(*state);
    session_.threads().DetachAtExit();
    EXPECT_EQ(current_thread, state);
  });
  known.acquire();
  state = session_.threads().ThreadOf(tid);
  ASSERT_NE(state, nullptr);
  EXPECT_EQ(state->record->tid, tid);
  EXPECT_EQ(Count(), 1u);
  made.release();
  owner.join();
  EXPECT_EQ(Count(), 0u);
}

}  // namespace
}  // namespace jprof::engine
