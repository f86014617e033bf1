// Locks of native code: orders, owners and large counts, without the library that replaces
// pthread_*.
#include "jprof/hookit/native_locks.h"

#include <gtest/gtest.h>

#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "jprof/hookit/function_source.h"
#include "tests/unit/temporary_directory.h"

namespace jprof::hookit {
namespace {

using profile::LockEdge;

// Gives each function and lock a name.
class Names final : public engine::MethodSource {
 public:
  bool Describe(uint64_t method, engine::MethodText* text) override {
    const int length =
        snprintf(text->scratch, sizeof text->scratch, "%llx", (unsigned long long)method);
    text->name = {text->scratch, static_cast<size_t>(length)};
    return true;
  }
  FrameKind Classify(uint64_t) override { return FrameKind::kFunction; }
};

class NativeLocksTest : public testing::Test {
 protected:
  NativeLocksTest() {
    engine::SessionOptions options;
    options.clock = false;
    options.files.directory = (directory_.path() / "p").string();
    options.files.locks = true;
    options.files.metric_count = 4;
    session_.SetFunctions(&names_);
    EXPECT_TRUE(session_.Start(std::move(options), &names_));
    locks_.emplace(session_, /*lite=*/false);
    thread_ = session_.threads().CurrentThread();
  }
  ~NativeLocksTest() override { engine::ThreadRegistry::Detach(); }

  // A request by the function with this number.
  static LockRequest For(const long& lock, uint64_t function = 1) {
    return {.lock = &lock, .site = reinterpret_cast<const void*>(function << 32)};
  }
  void Take(const long& lock, bool may_wait = true) {
    LockRequest request = For(lock);
    request.may_wait = may_wait;
    locks_->End(*thread_, request, true);
  }
  void Release(const long& lock) { locks_->Release(*thread_, &lock); }

  // Calls f(Thread&) on another thread.
  template <class F>
  void Elsewhere(F f) {
    std::thread([&] {
      f(*session_.threads().CurrentThread());
      engine::ThreadRegistry::Detach();
    }).join();
  }
  uint32_t OwnerOf(const long& lock) {
    LockRequest request = For(lock, 9);
    Elsewhere([&](engine::Thread& thread) { locks_->Contended(thread, request); });
    return request.owner;
  }

  // Returns the records since the last call.
  std::vector<LockEdge> NewEdges() {
    std::vector<LockEdge> edges(session_.writer().header()->lock_edges - seen_);
    std::ifstream file(directory_.path() / "p" / profile::kLocksFile, std::ios::binary);
    file.seekg(static_cast<std::streamoff>(seen_ * sizeof(LockEdge)));
    file.read(reinterpret_cast<char*>(edges.data()),
              static_cast<std::streamsize>(edges.size() * sizeof(LockEdge)));
    seen_ += edges.size();
    return edges;
  }

  TemporaryDirectory directory_{"native-locks"};
  Names names_;
  engine::Session session_;
  std::optional<NativeLocks> locks_;
  engine::Thread* thread_ = nullptr;
  const long a_ = 0, b_ = 0, c_ = 0, d_ = 0;

 private:
  size_t seen_ = 0;
};

TEST_F(NativeLocksTest, AnOrderBeginsAtALockThatWasTakenForTheFirstTime) {
  Take(a_);
  Take(b_);
  const auto first = NewEdges();
  ASSERT_EQ(first.size(), 1u);
  Take(a_);
  EXPECT_TRUE(NewEdges().empty());
  Take(c_);
  const auto second = NewEdges();
  ASSERT_EQ(second.size(), 1u);
  EXPECT_EQ(second[0].from_object, first[0].to_object);  // b
}

TEST_F(NativeLocksTest, OrdersGoOnBelowALockThatWasTried) {
  Take(a_);
  Take(b_, /*may_wait=*/false);
  EXPECT_TRUE(NewEdges().empty());
  Take(c_);
  const auto edges = NewEdges();
  ASSERT_EQ(edges.size(), 2u);
  EXPECT_NE(edges[0].from_object, edges[1].from_object);
  EXPECT_EQ(edges[0].to_object, edges[1].to_object);
  Take(d_);
  EXPECT_EQ(NewEdges().size(), 1u);
}

TEST_F(NativeLocksTest, AKnownOrderIsNotAddedAgain) {
  Take(a_);
  for (int i = 0; i < 5; ++i) {
    Take(b_);
    Release(b_);
  }
  const auto edges = NewEdges();
  ASSERT_EQ(edges.size(), 1u);
  EXPECT_EQ(edges[0].count, 1u);
}

TEST_F(NativeLocksTest, TheOwnerHasTheMutexAgainAfterACondition) {
  Take(a_);
  const uint32_t owner = OwnerOf(a_);
  EXPECT_NE(owner, 0u);
  locks_->Pause(*thread_, &a_);
  Elsewhere([&](engine::Thread& other) {
    locks_->End(other, For(a_, 2), true);
    locks_->Release(other, &a_);
  });
  EXPECT_NE(OwnerOf(a_), owner);
  locks_->Resume(*thread_, &a_);
  EXPECT_EQ(OwnerOf(a_), owner);
}

TEST_F(NativeLocksTest, ALargeCountMovesToAnotherRecord) {
  Take(a_);
  profile::Node& node = session_.writer().nodes()[OwnerOf(a_)];
  Release(a_);
  node.entries[0] = 0x8000'0000u;
  Take(a_);
  EXPECT_EQ(node.entries[0], 1u);
}

}  // namespace
}  // namespace jprof::hookit
