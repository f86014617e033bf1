// Stacks of real JVMs as text, and a MemorySource that reads from them.
//
// A file (tests/unit/hotspot/stacks/*.stacks) belongs to one JVM. It begins with the content of
// VmStructs; then come stacks, each with everything that a walk reads. One item per line, numbers
// in hexadecimal:
//
//   field TYPE NAME OFFSET        VmStructs: of a field, of a static field, of a type
//   static TYPE NAME ADDRESS
//   type NAME SIZE
//
//   stack NAME                    begins a stack
//   registers R...                of the signal, in the kernel's order (ucontext)
//   bounds LOW HIGH THREAD        of the native stack; the JavaThread
//   memory ADDRESS BYTES          what the walk read
//   native PC SP INTERRUPTED STEP PC SP FP INTERRUPTED FUNCTION
//                                 a native frame, and what the unwinder made of it
//   function PC                   native code that has a function
//   frame TYPE BCI METHOD PC      what the walk must find; METHOD: the stub's name where TYPE is O
//   end VIRTUAL IN_HEAP           how it must end
//
// tests/e2e/native/stack_recorder.h writes it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "jprof/hotspot/walk/stack_walker.h"

namespace jprof::hotspot {

// A frame as text: a stub by its name.
inline std::string TextOf(const StackFrame& frame) {
  std::ostringstream text;
  std::string method;
  if (frame.type == FrameKind::kOther) {
    method = reinterpret_cast<const char*>(frame.method);
    std::ranges::replace(method, ' ', '_');
  } else {
    std::ostringstream number;
    number << std::hex << frame.method;
    method = number.str();
  }
  text << Letter(frame.type) << ' ' << frame.bci << ' ' << method << ' ' << std::hex << frame.pc;
  return text.str();
}

struct RecordedStack {
  using Native = std::tuple<uint64_t, uint64_t, bool>;  // pc, sp, interrupted
  struct NativeStep {
    int step = 0;
    unwind::Registers caller;
    uint64_t function = 0;
  };

  std::string name;
  std::vector<uint64_t> registers;
  unwind::StackBounds bounds;
  uint64_t vm_thread = 0;
  std::map<uint64_t, std::vector<uint8_t>> memory;  // by address, disjoint
  std::map<Native, NativeStep> native;
  std::set<uint64_t> functions;
  std::vector<std::string> frames;
  bool is_virtual = false, in_heap = false;
};

// The VmStructs of one JVM, and stacks of it.
class RecordedVm {
 public:
  static std::unique_ptr<RecordedVm> Parse(std::istream& in) {
    auto vm = std::make_unique<RecordedVm>();
    std::string line;
    while (std::getline(in, line)) {
      std::istringstream words(line);
      words >> std::hex;
      vm->Add(words);
    }
    vm->fields_.push_back({});
    vm->types_.push_back({});
    return vm;
  }
  VmStructs Structs() const {
    return VmStructs({reinterpret_cast<const char*>(fields_.data()), offsetof(Field, type),
                      offsetof(Field, name), offsetof(Field, is_static), offsetof(Field, offset),
                      offsetof(Field, address), sizeof(Field),
                      reinterpret_cast<const char*>(types_.data()), offsetof(Type, name),
                      offsetof(Type, size), sizeof(Type)});
  }
  const std::vector<RecordedStack>& stacks() const { return stacks_; }

 private:
  struct Field {
    const char *type = nullptr, *name = nullptr;
    int32_t is_static = 0;
    uint64_t offset = 0, address = 0;
  };
  struct Type {
    const char* name = nullptr;
    uint64_t size = 0;
  };

  const char* Keep(std::istream& words) {
    std::string word;
    words >> word;
    return texts_.emplace_back(word).c_str();
  }
  static uint64_t Number(std::istream& words) {
    uint64_t number = 0;
    words >> number;
    return number;
  }

  void Add(std::istream& words) {
    std::string what;
    words >> what;
    if (what == "field" || what == "static") {
      Field field = {Keep(words), Keep(words), what == "static", 0, 0};
      (what == "static" ? field.address : field.offset) = Number(words);
      fields_.push_back(field);
    } else if (what == "type") {
      const char* name = Keep(words);
      types_.push_back({name, Number(words)});
    } else if (what == "stack") {
      words >> stacks_.emplace_back().name;
    } else if (!stacks_.empty()) {
      AddTo(stacks_.back(), what, words);
    }
  }

  static void AddTo(RecordedStack& stack, const std::string& what, std::istream& words) {
    if (what == "registers") {
      for (uint64_t number; words >> number;) stack.registers.push_back(number);
    } else if (what == "bounds") {
      words >> stack.bounds.low >> stack.bounds.high >> stack.vm_thread;
    } else if (what == "memory") {
      std::string text;
      std::vector<uint8_t>& bytes = stack.memory[Number(words)];
      words >> text;
      for (size_t i = 0; i + 1 < text.size(); i += 2) {
        bytes.push_back(static_cast<uint8_t>(std::stoul(text.substr(i, 2), nullptr, 16)));
      }
    } else if (what == "native") {
      const uint64_t pc = Number(words), sp = Number(words);
      RecordedStack::NativeStep& step = stack.native[{pc, sp, Number(words) != 0}];
      words >> step.step >> step.caller.pc >> step.caller.sp >> step.caller.fp;
      step.caller.interrupted = Number(words) != 0;
      step.function = Number(words);
    } else if (what == "function") {
      stack.functions.insert(Number(words));
    } else if (what == "frame") {
      words >> std::ws;
      std::getline(words, stack.frames.emplace_back());
    } else if (what == "end") {
      stack.is_virtual = Number(words) != 0;
      stack.in_heap = Number(words) != 0;
    }
  }

  std::deque<std::string> texts_;
  std::vector<Field> fields_;
  std::vector<Type> types_;
  std::vector<RecordedStack> stacks_;
};

// Reads from a recorded stack. A test may damage one read: the nth, counted from 1.
class RecordedMemory final : public MemorySource {
 public:
  explicit RecordedMemory(const RecordedStack& stack) : stack_(stack) {}

  // The nth read fails.
  void FailAt(uint64_t nth) { fail_at_ = nth; }
  // The nth read of a word of the stack yields `value`.
  void ReplaceStackWord(uint64_t nth, uint64_t value) {
    replace_at_ = nth;
    value_ = value;
  }
  uint64_t reads() const { return reads_; }
  uint64_t stack_reads() const { return stack_reads_; }

  bool Read(uint64_t address, size_t bytes, void* out) override {
    if (!Count()) return false;
    const auto region = RegionAt(address);
    if (region == stack_.memory.end()) return false;
    const uint64_t offset = address - region->first;
    if (region->second.size() - offset < bytes) return false;
    std::memcpy(out, region->second.data() + offset, bytes);
    if (stack_.bounds.Holds(address, bytes) && bytes == 8 && ++stack_reads_ == replace_at_) {
      std::memcpy(out, &value_, bytes);
    }
    return true;
  }

  const uint8_t* Bytes(uint64_t begin, uint64_t end) override {
    constexpr uint64_t kMost = 64 << 20;  // more is never code
    if (end < begin || end - begin > kMost) std::abort();
    std::vector<uint8_t>& copy = copies_.emplace_back(end - begin);
    if (!Count()) return copy.data();
    for (const auto& [address, bytes] : stack_.memory) {
      const uint64_t from = std::max(begin, address);
      const uint64_t to = std::min(end, address + bytes.size());
      if (from < to) std::copy_n(&bytes[from - address], to - from, &copy[from - begin]);
    }
    return copy.data();
  }

  const char* Text(uint64_t address) override {
    std::string& copy = texts_.emplace_back();
    const auto region = Count() ? RegionAt(address) : stack_.memory.end();
    if (region == stack_.memory.end()) return copy.c_str();
    const auto& bytes = region->second;
    for (uint64_t i = address - region->first; i < bytes.size() && bytes[i] != 0; ++i) {
      copy.push_back(static_cast<char>(bytes[i]));
    }
    return copy.c_str();
  }

  unwind::Unwinder::Step NextNative(unwind::Registers& registers, const unwind::StackBounds&,
                                    bool interrupted, uint64_t* function) override {
    const auto found =
        stack_.native.find({registers.pc, registers.sp, interrupted || registers.interrupted});
    if (!Count() || found == stack_.native.end()) return unwind::Unwinder::Step::kUnknown;
    *function = found->second.function;
    const auto step = static_cast<unwind::Unwinder::Step>(found->second.step);
    if (step == unwind::Unwinder::Step::kStepped) registers = found->second.caller;
    return step;
  }

  bool IsNativeCode(uint64_t pc) override { return Count() && stack_.functions.contains(pc); }

 private:
  // False: this read must fail. Aborts a walk whose reads do not end.
  bool Count() {
    constexpr uint64_t kMostReads = 1'000'000;
    if (++reads_ > kMostReads) std::abort();
    return reads_ != fail_at_;
  }
  std::map<uint64_t, std::vector<uint8_t>>::const_iterator RegionAt(uint64_t address) const {
    auto after = stack_.memory.upper_bound(address);
    if (after == stack_.memory.begin()) return stack_.memory.end();
    const auto region = std::prev(after);
    return address - region->first < region->second.size() ? region : stack_.memory.end();
  }

  const RecordedStack& stack_;
  uint64_t reads_ = 0, fail_at_ = 0;
  uint64_t stack_reads_ = 0, replace_at_ = 0, value_ = 0;
  std::deque<std::vector<uint8_t>> copies_;
  std::deque<std::string> texts_;
};

}  // namespace jprof::hotspot
