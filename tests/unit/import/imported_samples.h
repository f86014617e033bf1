// Imports bytes, and shows the samples as texts: "thread;K frame@bytecode:line;K frame".
#pragma once

#include <algorithm>
#include <map>
#include <string>

#include "common/frame_kind.h"
#include "profile/import/importer.h"

namespace jprof::profile {

class ImportedSamples {
 public:
  explicit ImportedSamples(const std::string& bytes, const ImportOptions& options = {},
                           std::string_view format = {}) {
    const auto chosen = ChooseFormat(format, bytes, "test");
    auto run = chosen ? ReadForeign(**chosen, bytes, "test", options, tree_)
                      : Result<ForeignRun>(std::unexpected(chosen.error()));
    if (run) {
      run_ = *std::move(run);
    } else {
      error_ = run.error().message;
    }
  }

  const std::string& error() const { return error_; }  // empty: it was read
  const ForeignRun& run() const { return run_; }
  const SampleTree& tree() const { return tree_; }
  bool HasNote(std::string_view text) const {
    return std::ranges::any_of(run_.imported.notes,
                               [&](const std::string& note) { return note.contains(text); });
  }

  // Returns the value of each stack that has one.
  std::map<std::string, int64_t> stacks() const {
    std::map<std::string, int64_t> found;
    const auto nodes = tree_.nodes();
    for (size_t i = 0; i < nodes.size(); ++i)
      if (nodes[i].value != 0) found[PathOf(i)] += nodes[i].value;
    return found;
  }

 private:
  std::string PathOf(size_t index) const {
    const SampleTree::Node& node = tree_.nodes()[index];
    if (MethodOf(node.ref) == kRootMethod) {
      const auto of = std::ranges::find(tree_.threads(), index, &SampleTree::Thread::root);
      return of->name;
    }
    const SampleTree::Method& method = tree_.methods()[IndexOf(MethodOf(node.ref)) - 1];
    if (TypeOf(node.ref) == FrameKind::kSite)
      return PathOf(node.parent) + "@" +
             (method.class_name.empty() ? "" : method.class_name + ":") + method.name;
    const FrameKind kind = method.flags & kMethodKernel ? FrameKind::kKernel : TypeOf(node.ref);
    return PathOf(node.parent) + ";" + Letter(kind) + " " +
           (method.class_name.empty() ? "" : method.class_name + ".") + method.name +
           method.signature;
  }

  SampleTree tree_;
  ForeignRun run_;
  std::string error_;
};

}  // namespace jprof::profile
