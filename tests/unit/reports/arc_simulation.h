// Random programs that are executed and described at once: as the branches of a trace, and in the
// slow, obvious way, as instructions and calls by the path of functions.
#pragma once

#include <algorithm>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "model/itrace/arc_model.h"

namespace jprof::reports {

class ArcSimulation {
 public:
  using Path = std::vector<uint32_t>;  // from the thread down
  struct Sums {
    uint64_t calls = 0, self = 0, repeats = 0, system_calls = 0;
    bool operator==(const Sums&) const = default;
  };

  static constexpr uint32_t kFunctions = 8;  // kFirstCode and up; the last ends signals
  static constexpr uint32_t kRestorer = model::kFirstCode + kFunctions - 1;
  static constexpr uint64_t kFunctionBytes = 0x1000, kStubs = 0x900000, kStubBytes = 16;

  ArcSimulation(unsigned seed, size_t most_branches) : random_(seed), most_(most_branches) {
    Add(profile::BranchKind::kBegin, 0, Entry(model::kFirstCode), 0);
    steps_.push_back({model::kFirstCode, true});
    Count(model::kThreadFunction);
    while (branches.size() < most_) Body();
    Add(profile::BranchKind::kEnd, at_, 0, 3);
  }

  static model::CodeAt Locate(uint32_t, uint64_t address, uint64_t) {
    if (address >= kStubs) {
      const auto function = static_cast<uint32_t>((address - kStubs) / kStubBytes);
      return {.function = 100 + function,
              .module = 1,
              .start = kStubs + function * kStubBytes,
              .kind = model::CodeAt::Kind::kLinkage};
    }
    const auto function = static_cast<uint32_t>(address / kFunctionBytes);
    return {.function = function,
            .module = 1,
            .start = Entry(function),
            .entry = address == Entry(function)};
  }

  std::vector<profile::Branch> branches;
  std::map<Path, Sums> contexts;
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> calls;

 private:
  using Kind = profile::BranchKind;
  struct Step {
    uint32_t function = 0;
    bool frame = false;  // called, not jumped to
  };

  static uint64_t Entry(uint32_t function) { return function * kFunctionBytes; }
  uint32_t Random(uint32_t below) { return static_cast<uint32_t>(random_() % below); }
  uint32_t AnyFunction() { return model::kFirstCode + Random(kFunctions - 1); }
  uint32_t current() const { return steps_.back().function; }
  // Calls and returns are below the middle of a function, other branches above it.
  uint64_t Site() { return Entry(current()) + 0x20 + 0x20 * uint64_t{Random(0x30)}; }
  uint64_t Middle(uint32_t function) { return Entry(function) + 0x800 + Random(0x700); }

  Path PathNow() const {
    Path path = {model::kThreadFunction};
    for (const Step& step : steps_) path.push_back(step.function);
    return path;
  }

  void Count(uint32_t caller) {
    ++contexts[PathNow()].calls;
    ++calls[{caller, current()}];
  }

  void Add(Kind kind, uint64_t from, uint64_t to, uint64_t instructions) {
    const uint64_t repeats = Random(10) == 0 ? Random(50) : 0;
    branches.push_back({.time_ns = branches.size(),
                        .pid = 1,
                        .tid = 2,
                        .kind = kind,
                        .from = from,
                        .to = to,
                        .instructions = instructions,
                        .repeats = kind == Kind::kBegin ? 0 : repeats});
    at_ = to;
    if (kind == Kind::kBegin) return;
    Sums& sums = contexts[PathNow()];
    sums.self += instructions;
    sums.repeats += repeats;
    sums.system_calls += kind == Kind::kSystemCall;
  }
  uint64_t Some() { return 1 + Random(20); }

  size_t NewestFrame() const {
    size_t i = steps_.size() - 1;
    while (!steps_[i].frame) --i;
    return i;
  }

  // What one frame does until it returns. Returns the size that steps_ has when execution goes on:
  // less than that of its caller if it was left by longjmp.
  size_t Body() {
    const size_t frame = NewestFrame();
    const uint32_t actions = 1 + Random(8);
    for (uint32_t i = 0; i < actions && branches.size() < most_; ++i) {
      const size_t size = Act(frame);
      if (size <= frame) return size;
    }
    return frame;
  }

  size_t Act(size_t frame) {
    const bool deep = steps_.size() > 40;
    switch (Random(deep ? 3 : 9)) {
      case 0:
        Add(Kind::kTaken, Middle(current()), Middle(current()), Some());
        return steps_.size();
      case 1:
        Add(Kind::kNotTaken, Middle(current()), Middle(current()), Some());
        return steps_.size();
      case 2: {
        const uint64_t site = Middle(current());
        Add(Kind::kSystemCall, site, site + 2, Some());
        return steps_.size();
      }
      case 3:
        TailCall(AnyFunction());
        return steps_.size();
      case 4:
        return Signal();
      case 5:
        return LongJump(frame);
      default:
        return Call(AnyFunction(), Random(2) == 0);
    }
  }

  size_t Call(uint32_t function, bool by_stub) {
    const uint64_t site = Site();
    if (by_stub) {
      const uint64_t stub = kStubs + function * kStubBytes;
      Add(Kind::kCall, site, stub, Some());
      Add(Kind::kJump, stub, Entry(function), 1);
    } else {
      Add(Kind::kCall, site, Entry(function), Some());
    }
    const uint32_t caller = current();
    const size_t size = steps_.size();
    steps_.push_back({function, true});
    Count(caller);
    const size_t left = Body();
    if (left < size) return left;
    if (steps_.size() > size) {
      Add(Kind::kReturn, Middle(current()), site + 5, Some());
      steps_.resize(size);
    }
    return steps_.size();
  }

  void TailCall(uint32_t function) {
    const uint32_t caller = current();
    if (function == caller) return;
    Add(Kind::kJump, Middle(current()), Entry(function), Some());
    for (size_t i = steps_.size(); i-- > NewestFrame();) {
      if (steps_[i].function != function) continue;
      steps_.resize(i + 1);
      return Count(caller);
    }
    steps_.push_back({function, false});
    Count(caller);
  }

  size_t Signal() {
    const uint64_t back = Middle(current());
    const uint32_t handler = AnyFunction();
    Add(Kind::kSignal, back, Entry(handler), Some());
    const size_t size = steps_.size();
    const uint32_t interrupted = current();
    steps_.push_back({model::kSignalFunction, true});
    Count(interrupted);
    steps_.push_back({handler, true});
    Count(model::kSignalFunction);
    const size_t left = Body();
    if (left < size) return left;
    if (steps_.size() == size) return size;
    Add(Kind::kReturn, Middle(current()), Entry(kRestorer), Some());
    steps_.resize(size + 1);
    steps_.push_back({kRestorer, false});
    Add(Kind::kSignalReturn, Entry(kRestorer) + 7, back, 2);
    steps_.resize(size);
    return size;
  }

  // To the newest function of another name that is below the current frame.
  size_t LongJump(size_t frame) {
    if (frame < 2 || Random(4) != 0) return steps_.size();
    const size_t target = Random(static_cast<uint32_t>(frame));
    const uint32_t function = steps_[target].function;
    const bool is_top = steps_[target + 1].frame;
    const auto above =
        std::find_if(steps_.begin() + static_cast<ptrdiff_t>(target) + 1, steps_.end(),
                     [&](const Step& step) { return step.function == function; });
    if (!is_top || function == model::kSignalFunction || above != steps_.end())
      return steps_.size();
    const bool in_handler =
        steps_[frame - 1].function == model::kSignalFunction;  // would end the signal
    Add(in_handler || Random(2) == 0 ? Kind::kJump : Kind::kReturn, Middle(current()),
        Middle(function), Some());
    steps_.resize(target + 1);
    return steps_.size();
  }

  std::mt19937 random_;
  size_t most_;
  uint64_t at_ = 0;
  std::vector<Step> steps_;
};

}  // namespace jprof::reports
