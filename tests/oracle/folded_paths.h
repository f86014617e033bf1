// The contexts of a combined tree by a slow, simple method: each context is the text of its path,
// and stacks are folded one by one.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace jprof::oracle {

struct PathFrame {
  enum class Kind { kJava, kNative, kGenerated };
  std::string name;
  Kind kind = Kind::kJava;
};

class FoldedPaths {
 public:
  struct Sums {
    uint64_t calls = 0;
    std::array<double, 2> samples = {};  // own, by run
    bool operator==(const Sums&) const = default;
  };

  void Call(const std::vector<PathFrame>& stack, uint64_t calls) {
    const bool shown = stack.empty() || stack.back().kind != PathFrame::Kind::kGenerated;
    Sums& sums = At(stack);
    if (shown) sums.calls += calls;
  }
  void Sample(const std::vector<PathFrame>& stack, size_t run, double samples) {
    At(stack).samples[run] += samples;
  }

  const std::map<std::string, Sums>& contexts() const { return contexts_; }

  // Own samples of all contexts whose path begins with this one.
  double AllSamples(const std::string& path, size_t run) const {
    double sum = 0;
    for (const auto& [other, sums] : contexts_)
      if (other.starts_with(path)) sum += sums.samples[run];
    return sum;
  }

  static std::string Joined(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += name + ";";
    return text;
  }

 private:
  // A name that is on the path returns to it, another one goes below it.
  static void Step(std::vector<std::string>& path, const std::string& name) {
    const auto found = std::ranges::find(path, name);
    if (found == path.end())
      path.push_back(name);
    else
      path.erase(found + 1, path.end());
  }

  // The context of the stack; all contexts on the way exist as well.
  Sums& At(const std::vector<PathFrame>& stack) {
    std::vector<std::string> java, path;  // path: java and the native functions that it called
    (void)contexts_[""];
    for (const PathFrame& frame : stack) {
      if (frame.kind == PathFrame::Kind::kNative) {
        Step(path, frame.name);
      } else {
        if (frame.kind == PathFrame::Kind::kJava) Step(java, frame.name);
        path = java;
      }
      (void)contexts_[Joined(path)];
    }
    return contexts_[Joined(path)];
  }

  std::map<std::string, Sums> contexts_;
};

}  // namespace jprof::oracle
