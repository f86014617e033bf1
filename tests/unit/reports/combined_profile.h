// Combined profiles without a JVM: stacks of names in, a directory of profiles out.
#pragma once

#include <unistd.h>

#include <map>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "model/combined/combined.h"
#include "profile/files/whole_file.h"
#include "reports/combined/combined_report.h"
#include "tests/unit/reports/sampled_profile.h"

namespace jprof::reports {

inline constexpr char kCountedMeta[] =
    R"({"format":1,"jprof":"0.1.0","mode":"calltree","pid":41,"command":["java","Demo"],
"start":"2026-01-02T03:04:05Z","options":{"text":"calltree","fold_recursion":true},"metrics":[],
"probe":{"kind":"hotspot"},"jvm":{"name":"Test VM","version":"17"}})";

// One profile of stacks. A stack is text, the outermost frame first: "A.main B.run F:libx.so".
// Frames are Java methods, compiled by C2; or of the kind before a colon: I, J, L Java methods, N
// native methods, F native functions, K kernel, S code of the VM, C classes of objects.
class StackProfile {
 public:
  explicit StackProfile(const std::string& meta, size_t metrics = 1) : metrics_(metrics) {
    made.meta = meta;
    made.header.metric_count = static_cast<uint32_t>(metrics);
    thread_ = made.AddThread("main", 100);
  }

  void Call(const std::string& stack, uint32_t calls) { made.nodes[At(stack)].entries[0] += calls; }
  // Adds to a metric of the innermost frame.
  void Add(const std::string& stack, int64_t value, size_t metric = 0) {
    const uint32_t node = At(stack);
    if (metric == 0) made.nodes[node].self += value;
    if (metric > 0) extra_[{node, metric}] += value;
    ++made.threads[thread_].samples;
  }
  // Later stacks are of another thread.
  void NextThread() {
    thread_ = made.AddThread("worker", 100 + static_cast<uint32_t>(made.threads.size()));
  }

  void Write(const std::filesystem::path& directory) {
    made.extra.assign(made.nodes.size() * (metrics_ - 1), 0);
    for (const auto& [place, value] : extra_)
      made.extra[place.first * (metrics_ - 1) + place.second - 1] = value;
    made.Write(directory);
  }

  profile::SyntheticProfile made;

 private:
  uint32_t At(const std::string& stack) {
    uint32_t at = made.threads[thread_].root;
    std::istringstream frames(stack);
    for (std::string frame; frames >> frame;) {
      const auto [known, is_new] = children_.try_emplace({at, frame}, 0);
      if (is_new) known->second = made.AddNode(RefOf(frame), at);
      at = known->second;
    }
    return at;
  }

  profile::MethodRef RefOf(const std::string& frame) {
    const bool has_kind = frame.size() > 2 && frame[1] == ':';
    const char kind = has_kind ? frame[0] : 'R';
    const std::string name = has_kind ? frame.substr(2) : frame;
    const auto [known, is_new] = methods_.try_emplace(name, profile::MethodId{});
    if (is_new) known->second = AddMethod(kind, name);
    static const std::map<char, FrameKind> kTypes = {
        {'I', FrameKind::kInterpreted}, {'J', FrameKind::kJitted}, {'R', FrameKind::kRejitted},
        {'L', FrameKind::kInlined},     {'N', FrameKind::kNative}, {'F', FrameKind::kFunction}};
    const auto type = kTypes.find(kind);
    return profile::PackMethod(type == kTypes.end() ? FrameKind::kOther : type->second,
                               known->second);
  }

  profile::MethodId AddMethod(char kind, const std::string& name) {
    if (kind == 'F')
      return made.AddMethod("/nowhere/" + name, "0x" + std::to_string(++addresses_), "",
                            profile::kMethodCode);
    if (kind == 'K') return made.AddMethod("vmlinux", name, "", profile::kMethodKernel);
    if (kind == 'S') return made.AddMethod("", name, "", profile::kMethodStub);
    if (kind == 'C') return made.AddMethod(name, "", "", profile::kMethodClass);
    const size_t dot = name.rfind('.');
    return made.AddMethod(name.substr(0, dot), name.substr(dot + 1), "()V",
                          kind == 'N' ? profile::kMethodNative : 0);
  }

  size_t metrics_;
  size_t thread_ = 0;
  int addresses_ = 0;
  std::map<std::string, profile::MethodId> methods_;
  std::map<std::pair<uint32_t, std::string>, uint32_t> children_;
  std::map<std::pair<size_t, size_t>, int64_t> extra_;
};

inline StackProfile CountedStacks() { return StackProfile(kCountedMeta); }
inline StackProfile SampledStacks() { return StackProfile(SampledMeta(kTimeMetrics)); }

// A combined profile on disk, which goes with this object.
class MadeCombined {
 public:
  MadeCombined(StackProfile counted, std::vector<StackProfile> sampled)
      : directory_(std::filesystem::path(testing::TempDir()) /
                   ("combined-" + std::to_string(getpid()) + ".jprof")) {
    std::filesystem::remove_all(directory_);
    counted.Write(directory_ / profile::kCountedProfile);
    meta_.command = {"java", "Demo"};
    meta_.runs.push_back({.profile = profile::kCountedProfile});
    for (size_t run = 0; run < sampled.size(); ++run) {
      const std::string name = profile::SampledProfile(static_cast<int>(run) + 1);
      sampled[run].Write(directory_ / name);
      meta_.runs.push_back({.role = profile::Run::Role::kSampled, .profile = name});
    }
  }
  ~MadeCombined() { std::filesystem::remove_all(directory_); }
  MadeCombined(const MadeCombined&) = delete;
  MadeCombined& operator=(const MadeCombined&) = delete;

  profile::CombinedMeta& meta() { return meta_; }
  const std::filesystem::path& directory() const { return directory_; }

  model::Combined Open() const {
    const auto open = [&](const profile::Run& run) {
      Result<profile::Reader> reader = profile::Reader::Open(directory_ / run.profile);
      EXPECT_TRUE(reader) << reader.error().message;
      return model::Source{.reader = std::move(*reader)};
    };
    model::Combined combined = {
        .meta = meta_, .directory = directory_, .counted = open(meta_.runs[0]), .sampled = {}};
    for (size_t run = 1; run < meta_.runs.size(); ++run)
      combined.sampled.push_back(open(meta_.runs[run]));
    return combined;
  }

  Result<model::CombinedView> Load() const {
    model::Combined combined = Open();
    return model::LoadCombined(combined);
  }

  Printed Print(const Options& options) const {
    model::Combined combined = Open();
    char* text = nullptr;
    size_t size = 0;
    std::FILE* file = open_memstream(&text, &size);
    Printed printed;
    Output out(file);
    printed.result = PrintCombined(combined, options, out);
    if (printed.result) printed.result = out.Finish();
    std::fclose(file);
    printed.text.assign(text, size);
    std::free(text);
    printed.text = Replaced(printed.text, directory_.string(), "demo.jprof");
    return printed;
  }

 private:
  std::filesystem::path directory_;
  profile::CombinedMeta meta_;
};

// The index of each context by its path: "A.main()V;B.run()V;".
inline std::map<std::string, size_t> PathsOf(const model::CombinedTree& tree) {
  std::map<std::string, size_t> paths;
  std::vector<std::string> texts(tree.contexts.size());
  for (size_t i = 0; i < tree.contexts.size(); ++i) {
    if (i > 0) texts[i] = texts[tree.contexts[i].parent] + tree.names[tree.contexts[i].name] + ";";
    EXPECT_TRUE(paths.emplace(texts[i], i).second) << texts[i];
  }
  return paths;
}

}  // namespace jprof::reports
