#include "model/events/context_names.h"

#include <algorithm>

#include "profile/files/layout.h"
#include "profile/files/printable_text.h"

namespace jprof::model {

void ContextNames::Add(Source& source) {
  const auto process = static_cast<uint32_t>(source.reader.meta().pid);
  profiles_.insert_or_assign(process, Profile{.source = &source,
                                              .names = Names(source.reader),
                                              .nodes = source.reader.OpenFile(profile::kNodesFile),
                                              .known = {}});
}

// Returns a node of the file, or null if the file does not have it.
const profile::Node* ContextNames::Profile::Node(uint64_t index) {
  if (const auto found = known.find(index); found != known.end()) return &found->second;
  profile::Node node;
  if (index >= source->reader.header().node_count ||
      nodes.ReadAt(index * sizeof node, &node, sizeof node) != sizeof node)
    return nullptr;
  return &known.emplace(index, node).first->second;
}

std::vector<profile::MethodId> ContextNames::MethodsOf(uint32_t process, uint64_t node) {
  std::vector<profile::MethodId> methods;
  const auto found = profiles_.find(process);
  if (found == profiles_.end() || node == 0) return methods;
  // A parent has a smaller index: the loop ends also if the file is damaged.
  for (uint64_t at = node; at != 0;) {
    const profile::Node* one = found->second.Node(at);
    if (one == nullptr) break;
    const profile::MethodId method = profile::MethodOf(one->ref);
    if (method != profile::kRootMethod) methods.push_back(found->second.names.Canonical(method));
    if (one->parent >= at) break;
    at = one->parent;
  }
  return methods;
}

std::string ContextNames::PathOf(uint32_t process, uint64_t node, NameForm form, size_t frames) {
  constexpr size_t kMostBytes = size_t{64} << 20;
  if (path_bytes_ > kMostBytes) {
    paths_.clear();
    path_bytes_ = 0;
  }
  const auto [path, is_new] = paths_.try_emplace({process, node, form, frames});
  if (is_new) {
    path->second = MakePath(process, node, form, frames);
    path_bytes_ += path->second.size();
  }
  return path->second;
}

std::string ContextNames::MakePath(uint32_t process, uint64_t node, NameForm form, size_t frames) {
  std::string text;
  const auto methods = MethodsOf(process, node);
  for (size_t i = 0; i < methods.size(); ++i) {
    if (i == frames) return text + " < ...";
    if (i > 0) text += " < ";
    text += profiles_.at(process).names.In(form, methods[i]);
  }
  return text;
}

std::string_view ContextNames::NameOf(uint32_t process, profile::MethodId method) {
  const auto found = profiles_.find(process);
  return found != profiles_.end() ? found->second.names.Of(method) : std::string_view();
}

std::string ContextNames::LeafOf(uint32_t process, uint64_t node) {
  const auto methods = MethodsOf(process, node);
  if (methods.empty()) return "";
  const profile::MethodName parts = profiles_.at(process).names.Parts(methods.front());
  return profile::CleanText(fmt::format("{}.{}", parts.class_name, parts.name));
}

std::string ContextNames::ThreadName(uint32_t process, uint32_t tid) const {
  const auto found = profiles_.find(process);
  if (found == profiles_.end()) return "";
  for (const profile::Thread& thread : found->second.source->reader.threads()) {
    if (thread.record.tid == tid) return profile::CleanText(thread.name);
  }
  return "";
}

}  // namespace jprof::model
