#include "jprof/weave/constants.h"

#include <bit>
#include <functional>
#include <utility>

#include "jprof/weave/weave.h"

namespace jprof::weave {
namespace {

struct KnownMethod {
  std::string_view of_class;
  std::string_view name;
  std::string_view descriptor;
};

constexpr std::array<KnownMethod, kCounterMethods> kMethods = {
    {{kCounterClass, "enter", "(I)J"},
     {kCounterClass, "exit", "(J)V"},
     {kCounterClass, "caught", "(JI)V"},
     {kCounterClass, "announce", "()V"},
     {kCounterClass, "answer", "(Ljava/lang/Object;Ljava/lang/String;)Ljava/lang/Class;"},
     {kLocksClass, "ask", "(Ljava/lang/Object;)V"},
     {kLocksClass, "release", "(Ljava/lang/Object;)V"},
     {kLocksClass, "enter", "(Ljava/lang/Object;J)V"},
     {kLocksClass, "leave", "(J)V"},
     {kLocksClass, "ends", "()V"},
     {kCounterClass, "asked", "(I)V"},
     {kCounterClass, "asked", "(II)V"},
     {kCounterClass, "askedBox", "(II)V"},
     {kCounterClass, "askedBox", "(JI)V"},
     {kCounterClass, "current", "()J"},
     {kCounterClass, "site", "(JI)V"},
     {kConcurrentClass, "ask", "(Ljava/lang/Object;I)V"},
     {kConcurrentClass, "taken", "(ILjava/lang/Object;I)V"},
     {kConcurrentClass, "failed", "(I)V"},
     {kConcurrentClass, "release", "(Ljava/lang/Object;I)V"},
     {kConcurrentClass, "parks", "()V"},
     {kConcurrentClass, "reacquires", "()V"},
     {kCounterClass, "label", "(Ljava/lang/String;)V"},
     {kCounterClass, "labelOf", "(Ljava/lang/Object;)V"},
     {kCounterClass, "labelNumber", "(J)V"},
     {kCounterClass, "leaf", "(I)V"}}};

}  // namespace

uint16_t Constants::Append(uint8_t tag) {
  if (count_ >= kMostEntries) return 0;
  appended_.U1(tag);
  return static_cast<uint16_t>(count_++);
}

uint16_t Constants::AppendUtf8(std::string_view text) {
  const uint16_t index = Append(kUtf8);
  if (index == 0) return 0;
  appended_.U2(static_cast<uint32_t>(text.size()));
  appended_.Bytes(text);
  return index;
}

uint16_t Constants::FramesName() {
  if (frames_name_ == 0) frames_name_ = AppendUtf8("StackMapTable");
  return frames_name_;
}

uint16_t Constants::MethodOf(CounterMethod method) {
  const auto number = static_cast<size_t>(method);
  uint16_t& index = methods_[number];
  if (index != 0 || count_ + 4 > kMostEntries) return index;
  const KnownMethod& method_of = kMethods[number];
  const uint16_t counter = Class(method_of.of_class);
  if (counter == 0) return 0;
  const uint16_t name = AppendUtf8(method_of.name);
  const uint16_t descriptor = AppendUtf8(method_of.descriptor);
  const uint16_t name_and_type = Append(kNameAndType);
  if (name_and_type == 0) return 0;
  appended_.U2(name);
  appended_.U2(descriptor);
  index = Append(kMethodref);
  if (index == 0) return 0;
  appended_.U2(counter);
  appended_.U2(name_and_type);
  return index;
}

uint16_t Constants::Integer(uint32_t value) {
  if (last_integer_ != 0 && last_value_ == value) return last_integer_;
  const uint16_t index = Append(kInteger);
  if (index == 0) return 0;
  appended_.U4(value);
  last_integer_ = index;
  last_value_ = value;
  return index;
}

uint16_t Constants::Class(std::string_view name) {
  if (classes_.empty()) IndexClasses();
  if (const NamedClass& known = Find(name); known.index != 0) return known.index;
  if (count_ + 2 > kMostEntries) return 0;
  const uint16_t text = AppendUtf8(name);
  const uint16_t index = Append(kClass);
  appended_.U2(text);
  Remember(name, index);
  return index;
}

void Constants::IndexClasses() {
  classes_.resize(64);
  for (uint32_t index = 1; index < pool_.count(); ++index) {
    const std::string_view name = pool_.ClassName(static_cast<uint16_t>(index));
    if (!name.empty()) Remember(name, static_cast<uint16_t>(index));
  }
}

// Remembers the index of a class. Of several classes of one name the first is kept.
void Constants::Remember(std::string_view name, uint16_t index) {
  NamedClass& place = Find(name);
  if (place.index != 0) return;
  place = {name, index};
  if (2 * ++class_count_ <= classes_.size()) return;
  const std::vector<NamedClass> before = std::exchange(classes_, {});
  classes_.resize(4 * before.size());
  for (const NamedClass& known : before)
    if (known.index != 0) Find(known.name) = known;
}

Constants::NamedClass& Constants::Find(std::string_view name) {
  size_t at = std::hash<std::string_view>()(name);
  for (;; ++at) {
    NamedClass& place = classes_[at & (classes_.size() - 1)];
    if (place.index == 0 || place.name == name) return place;
  }
}

}  // namespace jprof::weave
