#include "jprof/hotspot/vm/monitor_owner.h"

#include <gtest/gtest.h>

#include "tests/unit/hotspot/vm_fields.h"

namespace jprof::hotspot {
namespace {

struct Monitor {
  uint64_t header = 0, owner = 0;
};

// A thread of the VM, with its stack of locks.
struct VmThread {
  uint64_t first = 0;
  const Monitor* pending = nullptr;
  uint64_t identity = 0;
  uint64_t lock_top = offsetof(VmThread, locks);
  uint64_t locks[8] = {};

  uint64_t address() const { return reinterpret_cast<uint64_t>(this); }
};

const VmField kPending = {"JavaThread", "_current_pending_monitor", 0, offsetof(VmThread, pending)};
const VmField kOwner = {"ObjectMonitor", "_owner", 0, offsetof(Monitor, owner)};
const VmField kIdentity = {"JavaThread", "_monitor_owner_id", 0, offsetof(VmThread, identity)};
const VmField kLockStack = {"JavaThread", "_lock_stack", 0, offsetof(VmThread, lock_top)};
const VmField kTop = {"LockStack", "_top", 0, 0};
const VmField kBase = {"LockStack", "_base[0]", 0, 8};
constexpr uint64_t kObject = 0x7000, kOther = 0x8000;

class MonitorOwner : public testing::Test {
 protected:
  MonitorOwner() { waiting_.pending = &monitor_; }

  uint32_t Find(std::vector<VmField> fields) {
    const VmFields all(std::move(fields));
    return MonitorOwners(all.structs()).OwnerOf(waiting_.address(), kObject, threads_);
  }

  VmThread waiting_, first_, second_;
  Monitor monitor_;
  const MonitorThread threads_[3] = {{.vm_thread = waiting_.address(), .tid = 1},
                                     {first_.address(), 2, {0x10000, 0x20000}},
                                     {second_.address(), 3, {0x30000, 0x40000}}};
};

TEST_F(MonitorOwner, IsAThreadOrInItsStack) {
  EXPECT_EQ(Find({kPending, kOwner}), 0u);
  monitor_.owner = second_.address();
  EXPECT_EQ(Find({kPending, kOwner}), 3u);
  monitor_.owner = 0x1fff8;
  EXPECT_EQ(Find({kPending, kOwner}), 2u);
  monitor_.owner = 0x20000;
  EXPECT_EQ(Find({kPending, kOwner}), 0u);
}

TEST_F(MonitorOwner, HasAnIdentity) {
  monitor_.owner = 77;
  second_.identity = 77;
  EXPECT_EQ(Find({kPending, kOwner, kIdentity}), 3u);
  second_.identity = 78;
  EXPECT_EQ(Find({kPending, kOwner, kIdentity}), 0u);
}

TEST_F(MonitorOwner, HasTheObjectOnItsStackOfLocks) {
  monitor_.owner = 1;
  first_.locks[0] = kOther;
  first_.locks[1] = kObject;
  first_.lock_top += 16;
  const std::vector<VmField> fields = {kPending, kOwner, kIdentity, kLockStack, kTop, kBase};
  EXPECT_EQ(Find(fields), 2u);
  first_.lock_top -= 8;  // it has left the second monitor
  EXPECT_EQ(Find(fields), 0u);
  first_.lock_top = 0x7fffffff;  // damaged
  EXPECT_EQ(Find(fields), 0u);
}

TEST_F(MonitorOwner, IsNotKnownWithoutTheFields) {
  monitor_.owner = second_.address();
  EXPECT_EQ(Find({kOwner}), 0u);
  EXPECT_EQ(Find({kPending}), 0u);
  waiting_.pending = reinterpret_cast<const Monitor*>(uint64_t{0x10});  // not mapped
  EXPECT_EQ(Find({kPending, kOwner}), 0u);
}

}  // namespace
}  // namespace jprof::hotspot
