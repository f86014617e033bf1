// Assigns ids to methods: dense and stable ones, one per distinct (class, name, signature). Ids
// outlive the VM's own method structures, which may be freed or replaced. The table also decides,
// once per method, whether it is recorded at all.
//
// - It is used in a probe's slow path: it takes locks, never blocks on the VM, and allocates from
//   its own mapping.
// - If it is full (no memory, or no disk space for names), new methods share one id.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>

#include "common/frame_kind.h"
#include "common/sleep_lock.h"
#include "profile/files/writer.h"

namespace jprof::engine {

// A method as its source describes it. The views live as long as the method does.
struct MethodText {
  std::string_view class_name;
  std::string_view name;
  std::string_view signature;
  bool is_static = false;
  bool is_native = false;
  bool is_intrinsic = false;  // the VM has its own code for it
  uint16_t flags = 0;         // MethodFlags, if it is not a Java method
  char scratch[24] = {};      // space in which a source may compose `name`
};

// Describes a bytecode of any method: its index and source line (0: unknown), and the file that has
// the line (empty: unknown), which lives as long as the method does.
void SetSite(uint32_t bci, uint32_t line, std::string_view file, MethodText* text);

// Resolves method handles and return addresses: from HotSpot's structures, by JVMTI, or in a fake
// for tests.
class MethodSource {
 public:
  virtual ~MethodSource() = default;
  // Describes a method. Returns false if it cannot be read.
  virtual bool Describe(uint64_t method, MethodText* text) = 0;
  // Returns the type of the code that ran the probe with this return address. It is never kNative,
  // which is a property of the method itself.
  virtual FrameKind Classify(uint64_t return_address) = 0;
  // Returns the identity of the virtual thread that is mounted on this VM thread.
  virtual uint64_t VirtualThreadId(uint64_t vm_thread) { return vm_thread; }
};

// Describes classes of objects, which are given as addresses of a std::string_view with the name.
// A signature makes a class another one than that of the same name without it.
class ClassNames final : public MethodSource {
 public:
  explicit ClassNames(std::string_view signature = {}) : signature_(signature) {}
  bool Describe(uint64_t name, MethodText* text) override {
    text->class_name = *reinterpret_cast<const std::string_view*>(name);
    text->signature = signature_;
    text->flags = profile::kMethodClass;
    return true;
  }
  FrameKind Classify(uint64_t) override { return FrameKind::kClass; }

 private:
  const std::string_view signature_;
};

// A bytecode of a method where it calls or was sampled, and its source line, 0 if that is unknown.
struct Site {
  uint32_t bci = 0;
  uint32_t line = 0;
};

// Describes sites, which are given as addresses of a Site.
class SiteNames final : public MethodSource {
 public:
  bool Describe(uint64_t site, MethodText* text) override;
  FrameKind Classify(uint64_t) override { return FrameKind::kSite; }
};

// The classes by which Java programs set labels (docs/LABELS.md), and start and stop the recording
// (docs/TRIGGERS.md). Their methods are not recorded.
inline constexpr std::string_view kLabelClass = "jprof/label/Label";
inline constexpr std::string_view kRecordingClass = "jprof/label/Recording";
inline bool IsOfProgramApi(std::string_view class_name) {
  return class_name == kLabelClass || class_name == kRecordingClass;
}

inline constexpr profile::MethodId kIgnoredMethod{profile::kMethodMask - 1};  // filtered out
inline constexpr profile::MethodId kUnknownMethod{1};  // could not be described

// The methods of a session that patterns select.
class SelectedMethods {
 public:
  // Returns the set of patterns that select a method, with bit i for pattern i, or 0 if it is not
  // selected.
  using Select = std::function<uint64_t(std::string_view class_name, std::string_view name)>;

  SelectedMethods() = default;
  ~SelectedMethods();
  SelectedMethods(const SelectedMethods&) = delete;
  SelectedMethods& operator=(const SelectedMethods&) = delete;

  // Begins to select, unless `select` is empty. Returns false if there is no memory.
  bool Open(Select select);
  bool is_open() const { return patterns_ != nullptr; }
  // Adds a method if it is selected. Returns the patterns that select it. Call this before other
  // threads find the method.
  uint64_t Add(profile::MethodId id, const MethodText& text);
  // Returns whether a method was added that is selected.
  bool Has(profile::MethodId id) const { return is_open() && Load(id) != 0; }
  // Returns the first pattern that selects such a method.
  uint32_t PatternOf(profile::MethodId id) const { return Load(id) - 1u; }

 private:
  uint8_t Load(profile::MethodId id) const {
    return __atomic_load_n(&patterns_[IndexOf(id)], __ATOMIC_RELAXED);
  }

  Select select_;
  uint8_t* patterns_ = nullptr;  // one more than the first pattern of each id, or 0
};

class MethodTable {
 public:
  using Filter = std::function<bool(std::string_view class_name, std::string_view name)>;

  MethodTable() = default;
  ~MethodTable();
  // Opens the table. Call this once, before the first Find. An empty filter accepts everything.
  bool Open(profile::Writer* writer, Filter filter);
  // Sets the filter of the methods that are found from now on.
  void SetFilter(Filter filter);
  using Watch = SelectedMethods::Select;
  // Sets the methods to be watched, or the gates (gate/gate.h), which may be none. Call them once,
  // before the first Find. They return false if there is no memory.
  bool SetWatch(Watch watch) { return watched_.Open(std::move(watch)); }
  bool SetGates(Watch gates) { return gates_.Open(std::move(gates)); }
  // Return whether a method is watched, or a gate, or one of both. Any thread that has found the
  // method may call this.
  bool IsWatched(profile::MethodId id) const { return watched_.Has(id); }
  bool IsGate(profile::MethodId id) const { return gates_.Has(id); }
  bool IsSelected(profile::MethodId id) const { return IsWatched(id) || IsGate(id); }
  // Returns the first pattern that selects a watched method.
  uint32_t PatternOf(profile::MethodId id) const { return watched_.PatternOf(id); }
  bool has_gates() const { return gates_.is_open(); }

  // Marks methods that have an intrinsic, which may be used in place of calls. Call this
  // before the first Find.
  void MarkIntrinsics() { mark_intrinsics_ = true; }

  struct Id {
    profile::MethodId id;
    bool is_native;
  };
  Id Find(MethodSource& source, uint64_t method);

 private:
  struct Slot {
    uint64_t hash = 0;
    profile::MethodId id{};
    uint32_t offset = 0;  // offset of the MethodRecord, in units of 8 bytes
  };
  bool Same(const Slot& slot, const MethodText& text) const;
  // Returns the index of the method's slot, or of the empty one where it belongs.
  uint32_t SlotOf(uint64_t hash, const MethodText& text) const;
  bool IsFull() const { return used_ + 1 >= capacity_; }  // one empty slot ends every search
  bool Grow();

  SleepLock lock_;  // held while the file of names grows
  profile::Writer* writer_ = nullptr;
  Filter filter_;
  bool mark_intrinsics_ = false;
  SelectedMethods watched_, gates_;
  Slot* slots_ = nullptr;
  uint32_t capacity_ = 0;
  uint32_t used_ = 0;
};

}  // namespace jprof::engine
