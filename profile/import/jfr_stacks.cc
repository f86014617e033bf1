#include "profile/import/jfr_stacks.h"

#include <algorithm>
#include <string>

namespace jprof::profile {
namespace {

constexpr uint64_t kStaticModifier = 0x0008, kNativeModifier = 0x0100;  // of class files

// The kinds of frames by what recordings call them; the last ones are async-profiler's. JDK Flight
// Recorder does not tell which compiler made the code: it counts as C2's, which made most of it.
struct FrameTypeRow {
  std::string_view name;
  FrameKind kind;
};
constexpr FrameTypeRow kFrameTypes[] = {
    {"Interpreted", FrameKind::kInterpreted}, {"JIT compiled", FrameKind::kRejitted},
    {"Inlined", FrameKind::kInlined},         {"Native", FrameKind::kNative},
    {"C1 compiled", FrameKind::kJitted},      {"C++", FrameKind::kFunction},
    {"Kernel", FrameKind::kFunction},
};

constexpr uint64_t kMostFrames = 4096;  // the JVM records at most 2048

// The leaves of a type by name, in the order of ReadLeaves.
template <size_t n>
std::array<int, n> Places(const JfrType& type, const std::array<std::string_view, n>& names) {
  std::array<int, n> places;
  for (size_t i = 0; i < n; ++i) places[i] = type.Find(names[i]);
  return places;
}

constexpr std::array<std::string_view, 4> kMethodLeaves = {"type", "name", "descriptor",
                                                           "modifiers"};
constexpr std::array<std::string_view, 4> kFrameLeaves = {"method", "lineNumber", "bytecodeIndex",
                                                          "type"};
constexpr std::array<std::string_view, 4> kThreadLeaves = {"osName", "osThreadId", "javaName",
                                                           "virtual"};
constexpr std::array<std::string_view, 2> kStackLeaves = {"truncated", "frames"};
constexpr std::array<std::string_view, 1> kClassLeaves = {"name"};

}  // namespace

JfrStacks::JfrStacks(const JfrChunk& chunk, SampleTree& tree) : chunk_(chunk), tree_(tree) {}

FrameKind JfrStacks::KindOf(const JfrLeaf& leaf, const JfrValue& value) {
  if (leaf.kind != JfrLeaf::Kind::kConstant) return FrameKind::kInterpreted;
  const auto [known, is_new] = kinds_.try_emplace(value.number, FrameKind::kInterpreted);
  if (!is_new) return known->second;
  const JfrType* type = chunk_.types().Find(leaf.type);
  std::string name;
  if (type != nullptr && !type->leaves.empty()) {
    JfrCursor cursor = chunk_.Constant(leaf.type, value.number);
    const JfrLeaf& text = type->leaves.front();
    name = chunk_.TextOf(text, chunk_.types().ReadLeaf(text, cursor));
  }
  const auto* row = std::ranges::find(kFrameTypes, name, &FrameTypeRow::name);
  if (row != std::end(kFrameTypes)) known->second = row->kind;
  return known->second;
}

MethodId JfrStacks::ReadMethod(uint64_t type_id, JfrCursor cursor) {
  const JfrType& type = *chunk_.types().Find(type_id);
  const auto places = Places(type, kMethodLeaves);
  std::array<JfrValue, 4> values;
  chunk_.types().ReadLeaves(type, places, cursor, values);
  const auto text = [&](size_t i) {
    return places[i] < 0 ? std::string()
                         : chunk_.TextOf(type.leaves[static_cast<size_t>(places[i])], values[i]);
  };
  std::string class_name;
  if (places[0] >= 0) {
    const JfrLeaf& of = type.leaves[static_cast<size_t>(places[0])];
    const JfrType* class_type = chunk_.types().Find(of.type);
    const int at = class_type == nullptr ? -1 : class_type->Find(kClassLeaves[0]);
    JfrCursor body = chunk_.Constant(of.type, values[0].number);
    std::array<JfrValue, 1> name;
    if (at >= 0 && !body.empty()) {
      chunk_.types().ReadLeaves(*class_type, std::array{at}, body, name);
      class_name = chunk_.TextOf(class_type->leaves[static_cast<size_t>(at)], name[0]);
    }
  }
  std::ranges::replace(class_name, '.', '/');
  const std::string name = text(1), descriptor = text(2);
  const uint64_t modifiers = values[3].number;
  const uint16_t flags = static_cast<uint16_t>((modifiers & kStaticModifier ? kMethodStatic : 0) |
                                               (modifiers & kNativeModifier ? kMethodNative : 0));
  if (class_name.empty() && descriptor.find('(') == std::string::npos)
    return tree_.AddMethod({.class_name = {}, .name = name, .signature = {}, .flags = kMethodCode});
  return tree_.AddMethod({class_name, name, descriptor, flags});
}

MethodId JfrStacks::MethodOf(uint64_t type, uint64_t key, bool* is_known) {
  const auto [known, is_new] = methods_.try_emplace(key, kRootMethod);
  if (is_new && chunk_.types().Find(type) != nullptr) {
    const JfrCursor cursor = chunk_.Constant(type, key);
    if (!cursor.empty()) known->second = ReadMethod(type, cursor);
  }
  *is_known = known->second != kRootMethod;
  if (*is_known) return known->second;
  return tree_.AddMethod({.class_name = {},
                          .name = "(method that the recording does not name)",
                          .signature = {},
                          .flags = kMethodStub});
}

ForeignFrame JfrStacks::ReadFrame(const JfrType& type, JfrCursor& cursor, JfrStack& stack) {
  const auto places = Places(type, kFrameLeaves);
  std::array<JfrValue, 4> values;
  chunk_.types().ReadLeaves(type, places, cursor, values);
  const auto leaf = [&](size_t i) -> const JfrLeaf& {
    return type.leaves[static_cast<size_t>(places[i])];
  };
  ForeignFrame frame = {.method = kRootMethod, .kind = FrameKind::kInterpreted};
  bool is_known = false;
  frame.method = MethodOf(places[0] >= 0 ? leaf(0).type : 0, values[0].number, &is_known);
  stack.is_complete &= is_known;
  if (places[3] >= 0) frame.kind = KindOf(leaf(3), values[3]);
  if (!is_known) frame.kind = FrameKind::kOther;
  const auto line = static_cast<int32_t>(values[1].number);
  const auto bytecode = static_cast<int32_t>(values[2].number);
  const bool has_place = frame.kind != FrameKind::kNative && frame.kind != FrameKind::kFunction &&
                         is_known && (line > 0 || bytecode > 0);
  if (has_place) frame.site = tree_.AddSite({}, bytecode, static_cast<uint32_t>(std::max(line, 0)));
  return frame;
}

JfrStack JfrStacks::ReadStack(uint64_t type_id, uint64_t key) {
  JfrStack stack;
  const JfrType* type = chunk_.types().Find(type_id);
  JfrCursor cursor = chunk_.Constant(type_id, key);
  if (type == nullptr || cursor.empty()) return stack;
  const auto places = Places(*type, kStackLeaves);
  std::array<JfrValue, 2> values;
  chunk_.types().ReadLeaves(*type, places, cursor, values);
  stack.is_cut = values[0].number != 0;
  if (places[1] < 0) return stack;
  const JfrType* frame = chunk_.types().Find(type->leaves[static_cast<size_t>(places[1])].type);
  if (frame == nullptr || frame->leaves.empty()) return stack;
  JfrCursor frames = values[1].body;
  stack.is_cut |= values[1].number > kMostFrames;
  for (uint64_t left = std::min(values[1].number, kMostFrames); left > 0 && frames.ok(); --left)
    stack.frames.push_back(ReadFrame(*frame, frames, stack));
  return stack;
}

const JfrStack& JfrStacks::StackOf(uint64_t type, uint64_t key) {
  const auto [known, is_new] = stacks_.try_emplace(key);
  if (is_new) known->second = ReadStack(type, key);
  return known->second;
}

uint32_t JfrStacks::ThreadOf(uint64_t type_id, uint64_t key) {
  const auto known = threads_.find(key);
  if (known != threads_.end()) return known->second;
  const JfrType* type = chunk_.types().Find(type_id);
  JfrCursor cursor = chunk_.Constant(type_id, key);
  std::string name = "(unknown thread)";
  ForeignThread thread;
  if (type != nullptr && !cursor.empty()) {
    const auto places = Places(*type, kThreadLeaves);
    std::array<JfrValue, 4> values;
    chunk_.types().ReadLeaves(*type, places, cursor, values);
    const auto text = [&](size_t i) {
      return places[i] < 0 ? std::string()
                           : chunk_.TextOf(type->leaves[static_cast<size_t>(places[i])], values[i]);
    };
    name = text(2);
    if (name.empty()) name = text(0);
    thread.tid = static_cast<uint32_t>(values[1].number);
    thread.is_virtual = values[3].number != 0;
  }
  thread.name = name;
  return threads_[key] = tree_.AddThread(thread);
}

}  // namespace jprof::profile
