// Records walks of live stacks as text, in the format of tests/unit/hotspot/recorded_stack.h, from
// which they become unit tests. x86-64.
//
// Prepare and Print are for ordinary code, Walk for the signal handler of the walked thread.
#pragma once

#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "jprof/hotspot/walk/stack_walker.h"
#include "tests/unit/hotspot/recorded_stack.h"

namespace jprof::hotspot {

class StackRecorder final : public MemorySource {
 public:
  static constexpr uint32_t kRoom = 64;  // frames of a stack that is recorded

  StackRecorder(const VmStructs& structs, const unwind::Unwinder& unwinder)
      : structs_(structs), unwinder_(unwinder), notes_(kMostNotes), bytes_(kMostBytes) {}

  // Forgets the last walk. A new walker each time: one that has walked remembers what it read.
  void Prepare() {
    note_count_ = byte_count_ = native_count_ = 0;
    overflow_ = false;
    if (auto walker = StackWalker::Open(structs_, unwinder_, this)) walker_.emplace(*walker);
  }

  void Walk(const void* ucontext, const unwind::StackBounds& stack, uint64_t vm_thread) {
    context_ = *static_cast<const ucontext_t*>(ucontext);
    stack_ = stack;
    vm_thread_ = vm_thread;
    walk_ = walker_->WalkSignal(ucontext, stack, vm_thread, frames_, kRoom);
  }
  const StackWalk& walk() const { return walk_; }
  const StackFrame* frames() const { return frames_; }
  bool overflow() const { return overflow_; }

  // Those entries of VmStructs that a walk may ask for.
  void PrintVm(FILE* file) const;
  void Print(FILE* file, const char* name) const;

  bool Read(uint64_t address, size_t bytes, void* out) override {
    const iovec here = {out, bytes}, there = {reinterpret_cast<void*>(address), bytes};
    if (process_vm_readv(getpid(), &here, 1, &there, 1, 0) != static_cast<ssize_t>(bytes)) {
      return false;
    }
    Note(address, out, bytes);
    return true;
  }
  const uint8_t* Bytes(uint64_t begin, uint64_t end) override {
    const auto* code = reinterpret_cast<const uint8_t*>(begin);
    Note(begin, code, end - begin);
    return code;
  }
  const char* Text(uint64_t address) override {
    const auto* text = reinterpret_cast<const char*>(address);
    Note(address, text, std::strlen(text) + 1);
    return text;
  }
  unwind::Unwinder::Step NextNative(unwind::Registers& registers, const unwind::StackBounds& stack,
                                    bool interrupted, uint64_t* function) override {
    NativeNote note = {registers, interrupted || registers.interrupted, {}, {}, 0};
    note.step = unwinder_.Next(registers, stack, interrupted, function);
    note.caller = registers;
    note.function = *function;
    if (native_count_ < kMostNative) natives_[native_count_++] = note;
    return note.step;
  }
  bool IsNativeCode(uint64_t pc) override {
    unwind::Function function;
    if (!unwinder_.FunctionAt(pc, &function)) return false;
    NativeNote note = {};
    note.function = pc;  // without registers
    if (native_count_ < kMostNative) natives_[native_count_++] = note;
    return true;
  }

 private:
  static constexpr size_t kMostNotes = 1 << 16, kMostBytes = 4 << 20, kMostNative = 1024;
  struct MemoryNote {
    uint64_t address, bytes, at;
  };
  struct NativeNote {
    unwind::Registers from;
    bool interrupted;
    unwind::Unwinder::Step step;
    unwind::Registers caller;
    uint64_t function;
  };

  void Note(uint64_t address, const void* from, size_t bytes) {
    if (note_count_ == kMostNotes || kMostBytes - byte_count_ < bytes) {
      overflow_ = true;
      return;
    }
    notes_[note_count_++] = {address, bytes, byte_count_};
    std::memcpy(&bytes_[byte_count_], from, bytes);
    byte_count_ += bytes;
  }

  const VmStructs structs_;
  const unwind::Unwinder& unwinder_;
  std::optional<StackWalker> walker_;
  std::vector<MemoryNote> notes_;
  std::vector<uint8_t> bytes_;
  size_t note_count_ = 0, byte_count_ = 0, native_count_ = 0;
  NativeNote natives_[kMostNative];
  bool overflow_ = false;
  ucontext_t context_;
  unwind::StackBounds stack_;
  uint64_t vm_thread_ = 0;
  StackFrame frames_[kRoom];
  StackWalk walk_;
};

inline void StackRecorder::PrintVm(FILE* file) const {
  static const std::set<std::string> kTypes = {"Method",
                                               "AccessFlags",
                                               "ConstMethod",
                                               "ConstantPool",
                                               "Klass",
                                               "Symbol",
                                               "nmethod",
                                               "CompiledMethod",
                                               "CompLevel",
                                               "CodeBlob",
                                               "CodeCache",
                                               "GrowableArrayBase",
                                               "CodeHeap",
                                               "GrowableArray<int>",
                                               "VirtualSpace",
                                               "HeapBlock::Header",
                                               "HeapBlock",
                                               "StubQueue",
                                               "InterpreterCodelet",
                                               "AbstractInterpreter",
                                               "JavaThread",
                                               "Thread",
                                               "OSThread",
                                               "JavaFrameAnchor",
                                               "JavaCallWrapper",
                                               "ContinuationEntry",
                                               "UpcallStub",
                                               "Abstract_VM_Version"};
  const VmStructs::Tables& t = structs_.tables();
  const auto pointer = [](const char* at) {
    const char* value;
    std::memcpy(&value, at, sizeof value);
    return value;
  };
  for (const char* at = t.fields; pointer(at + t.type_at) != nullptr; at += t.stride) {
    const char *type = pointer(at + t.type_at), *name = pointer(at + t.name_at);
    if (!kTypes.contains(type) && std::strcmp(name, "_call_stub_return_address") != 0) continue;
    if (void* address = structs_.Static(type, name)) {
      fprintf(file, "static %s %s %lx\n", type, name, reinterpret_cast<uint64_t>(address));
    } else if (const int64_t offset = structs_.Offset(type, name); offset >= 0) {
      fprintf(file, "field %s %s %lx\n", type, name, static_cast<uint64_t>(offset));
    }
  }
  for (const std::string& type : kTypes) {
    if (const uint64_t size = structs_.SizeOf(type)) {
      fprintf(file, "type %s %lx\n", type.c_str(), size);
    }
  }
}

inline void StackRecorder::Print(FILE* file, const char* name) const {
  fprintf(file, "stack %s\nregisters", name);
  for (const greg_t value : context_.uc_mcontext.gregs) {
    fprintf(file, " %lx", static_cast<uint64_t>(value));
  }
  fprintf(file, "\nbounds %lx %lx %lx", stack_.low, stack_.high, vm_thread_);
  std::map<uint64_t, uint8_t> memory;
  for (size_t i = 0; i < note_count_; ++i) {
    for (uint64_t at = 0; at < notes_[i].bytes; ++at) {
      memory[notes_[i].address + at] = bytes_[notes_[i].at + at];
    }
  }
  uint64_t expected = 0;
  for (const auto& [address, byte] : memory) {
    if (address != expected) fprintf(file, "\nmemory %lx ", address);
    fprintf(file, "%02x", byte);
    expected = address + 1;
  }
  for (size_t i = 0; i < native_count_; ++i) {
    const NativeNote& note = natives_[i];
    if (note.from.pc == 0) {
      fprintf(file, "\nfunction %lx", note.function);
      continue;
    }
    fprintf(file, "\nnative %lx %lx %d %d %lx %lx %lx %d %lx", note.from.pc, note.from.sp,
            note.interrupted, static_cast<int>(note.step), note.caller.pc, note.caller.sp,
            note.caller.fp, note.caller.interrupted, note.function);
  }
  for (uint32_t i = 0; i < walk_.depth; ++i)
    fprintf(file, "\nframe %s", TextOf(frames_[i]).c_str());
  fprintf(file, "\nend %d %d\n", walk_.is_virtual, walk_.in_heap);
}

}  // namespace jprof::hotspot
