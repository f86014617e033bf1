// Names calling contexts by fingerprints that are the same in every process: UUIDs of version 5
// (RFC 4122), each in the namespace of its parent context, made of what `jprof merge` tells
// contexts apart by.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profile/merge/merged_tree.h"

namespace jprof::fleet {

struct Fingerprint {
  std::array<char, 16> bytes{};
  bool operator==(const Fingerprint&) const = default;
  std::string_view text() const { return {bytes.data(), bytes.size()}; }
};

// Returns the fingerprint of `name` in the namespace of another one.
Fingerprint Below(const Fingerprint& parent, std::string_view name);

// States what a frame is.
enum class FrameClass : uint8_t { kMethod = 0, kThread = 1, kOverflow = 2 };

// The identity of a method or thread, without its parents.
struct Frame {
  FrameClass kind = FrameClass::kMethod;
  profile::MethodName name;

  // Returns what its fingerprint is made of: the kind, the kind of method, and the names.
  std::string Key() const;
  uint64_t Number() const;  // of Key()
};

// The contexts of a tree, by their number in it.
struct Contexts {
  std::vector<Fingerprint> fingerprints;
  std::vector<Fingerprint> folded;  // of the context without sites
  std::vector<uint64_t> frames;     // Frame::Number
  std::vector<uint64_t> methods;    // the same, of a site that of its method
  std::vector<uint32_t> depths;
  std::vector<uint32_t> parents;
};

// Returns the frame of a context. `thread` is the name of its thread, for the root.
Frame FrameOf(const profile::MergedTree& tree, uint32_t context, std::string_view thread);

// Computes them. thread(root) returns the name of a thread by its context. In sampled trees the
// type is part of the identity.
template <typename ThreadName>
Contexts Identify(const profile::MergedTree& tree, bool sampled, ThreadName thread);

// Returns the parts of a fingerprint: of a frame below a parent.
std::string KeyBelow(const Frame& frame, bool sampled, FrameKind type);

template <typename ThreadName>
Contexts Identify(const profile::MergedTree& tree, bool sampled, ThreadName thread) {
  Contexts out;
  for (uint32_t i = 0; i < tree.contexts(); ++i) {
    const uint32_t parent = tree.parent(i);
    const bool is_root = parent == profile::kNoRecord;
    const Frame frame = FrameOf(tree, i, is_root ? thread(i) : std::string_view());
    const FrameKind type = TypeOf(tree.ref(i));
    const std::string key = KeyBelow(frame, sampled, type);
    const Fingerprint above = is_root ? Fingerprint() : out.fingerprints[parent];
    const Fingerprint folded = is_root ? Fingerprint() : out.folded[parent];
    out.fingerprints.push_back(Below(above, key));
    // Without sites above both are the same.
    out.folded.push_back(type == FrameKind::kSite ? folded
                         : folded == above        ? out.fingerprints.back()
                                                  : Below(folded, key));
    out.frames.push_back(frame.Number());
    out.methods.push_back(type == FrameKind::kSite ? out.methods[parent] : out.frames.back());
    out.depths.push_back(is_root ? 0 : out.depths[parent] + 1);
    out.parents.push_back(parent);
  }
  return out;
}

}  // namespace jprof::fleet
