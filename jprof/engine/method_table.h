// Method ids: dense, stable, one per distinct (class, name, signature); the ids outlive the VM's
// own method structures, which may be freed or replaced. Also decides, once per method, whether it
// is recorded at all. Callable from a probe's slow path: locks, never blocks on the VM, allocates
// from its own mapping.
// Full (no memory, or no room for names on the disk): methods not seen before share one id.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "common/method_type.h"
#include "common/sleep_lock.h"
#include "profile/writer.h"

namespace jprof::engine {

// A method as its source describes it. The views live as long as the method does.
struct MethodText {
  std::string_view class_name;
  std::string_view name;
  std::string_view signature;
  bool is_static = false;
  bool is_native = false;
  bool is_intrinsic = false;  // the VM has code of its own for it
  uint16_t flags = 0;         // MethodFlags of what is not a Java method
  char scratch[24] = {};      // where a source may make `name`
};

// Where method handles and return addresses get their meaning: HotSpot's structures, JVMTI, or a
// test's fake.
class MethodSource {
 public:
  virtual ~MethodSource() = default;
  // False: it cannot be read.
  virtual bool Describe(uint64_t method, MethodText* text) = 0;
  // What ran the probe that returns to this address (never kNative: that is the method's own
  // property).
  virtual MethodType Classify(uint64_t return_address) = 0;
  // The identity of the virtual thread that is mounted on this VM thread.
  virtual uint64_t VirtualThreadId(uint64_t vm_thread) { return vm_thread; }
};

inline constexpr profile::MethodId kIgnoredMethod{profile::kMethodMask - 1};  // filtered out
inline constexpr profile::MethodId kUnknownMethod{1};  // could not be described

class MethodTable {
 public:
  using Filter = std::function<bool(std::string_view class_name, std::string_view name)>;

  MethodTable() = default;
  ~MethodTable();
  // Once, before the first Find. An empty filter accepts everything.
  // `some_unprobed`: callers may be compiled without probes.
  bool Open(profile::Writer* writer, Filter filter, bool some_unprobed = false);

  struct Id {
    profile::MethodId id;
    bool is_native;
  };
  Id Find(MethodSource& source, uint64_t method);

 private:
  struct Slot {
    uint64_t hash = 0;
    profile::MethodId id{};
    uint32_t offset = 0;  // of the MethodRecord, in units of 8 bytes
  };
  bool Same(const Slot& slot, const MethodText& text) const;
  bool IsFull() const { return used_ + 1 >= capacity_; }  // one empty slot ends every search
  bool Grow();

  SleepLock lock_;  // held while the file of names grows
  profile::Writer* writer_ = nullptr;
  Filter filter_;
  bool some_unprobed_ = false;
  Slot* slots_ = nullptr;
  uint32_t capacity_ = 0;
  uint32_t used_ = 0;
};

}  // namespace jprof::engine
