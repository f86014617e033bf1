// Describes the parts of the running HotSpot that the probe's slow path reads: a method's names,
// the kind of code at an address, the mounted virtual thread. It can be used in a leaf probe: it
// only loads, and takes no lock and calls no function of the VM. The memory stays mapped while the
// corresponding method is running.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/result.h"
#include "jprof/engine/method_table.h"
#include "jprof/hotspot/vm/code_cache.h"
#include "jprof/hotspot/vm/line_table.h"
#include "jprof/hotspot/vm/method_layout.h"
#include "jprof/hotspot/vm/nmethod_layout.h"
#include "jprof/hotspot/vm/vm_structs.h"

namespace jprof::hotspot {

// Offsets in a JavaThread. They are -1 if this VM has no virtual threads (before 21), or no
// identity of them (before 24).
struct ThreadMarks {
  int64_t continuation = -1;  // for the entry of the mounted continuation, which is 0 without one
  int64_t identity = -1;      // for the id of the mounted virtual thread, or of the carrier
};

// Returns whether HotSpot only recognises a method that it numbers among its intrinsics: compiled
// code replaces no call of such a method.
bool IsOnlyRecognised(std::string_view class_name, std::string_view name);

class Vm : public engine::MethodSource {
 public:
  // Fails if this VM lacks something; the error states what.
  static Result<Vm> Open(const VmStructs& structs);

  bool Describe(uint64_t method, engine::MethodText* text) override;
  FrameKind Classify(uint64_t return_address) override;
  // Describes a bytecode of a method. Returns false if the method cannot be read.
  bool DescribeSite(uint64_t method, uint32_t bci, engine::MethodText* text) const;
  uint64_t VirtualThreadId(uint64_t vm_thread) override;

  // Returns the level at which a compiler made the method at an address, 1 to 4, or 0 if there is
  // no such method.
  uint8_t LevelOf(uint64_t address) const;

  ThreadMarks thread_marks() const { return marks_; }

  // Returns the address of a VM flag's value, which is a byte if it is boolean, or null if
  // there is no such flag.
  static uint8_t* Flag(const VmStructs& structs, const char* name);
  // Returns whether the VM has the flag and it is on.
  static bool IsOn(const VmStructs& structs, const char* name) {
    const uint8_t* const flag = Flag(structs, name);
    return flag != nullptr && *flag != 0;
  }
  // Makes the compilers call the methods of an intrinsic, such as "_clone", as any other methods.
  // Requires that they have not begun, as in Agent_OnLoad. Returns false if the VM has no such
  // flag.
  static bool DisableIntrinsic(const VmStructs& structs, const char* name);

 private:
  explicit Vm(Fields& field);
  std::string_view SymbolAt(uint64_t at) const;
  std::string_view Pooled(uint64_t pool, uint16_t index) const;

  MethodLayout method_;
  LineTables lines_;
  CodeHeaps heaps_;
  int64_t blob_name_;
  CompilerLevel level_;
  ThreadMarks marks_;
};

// Describes sites, which are given by KeyOf.
class Sites final : public engine::MethodSource {
 public:
  explicit Sites(const Vm& vm) : vm_(vm) {}
  // Returns a key that no method has: addresses are below 2^48, and code ends before bytecode 2^16.
  static uint64_t KeyOf(uint64_t method, uint32_t bci) { return method << 16 | bci; }
  bool Describe(uint64_t site, engine::MethodText* text) override {
    return vm_.DescribeSite(site >> 16, static_cast<uint32_t>(site & 0xffff), text);
  }
  FrameKind Classify(uint64_t) override { return FrameKind::kSite; }

 private:
  const Vm& vm_;
};

}  // namespace jprof::hotspot
