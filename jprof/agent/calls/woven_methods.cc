#include "jprof/agent/calls/woven_methods.h"

#include <algorithm>
#include <array>
#include <new>
#include <optional>

#include "options/woven_jdks.h"

namespace jprof::agent {
namespace {

// The frames of this class are copied between stacks while the current thread is neither the
// carrier nor the virtual thread.
constexpr std::string_view kContinuation = "jdk/internal/vm/Continuation";
constexpr std::array<std::string_view, kAnnouncedMethods> kAnnounced = {"mount", "unmount",
                                                                        "<clinit>"};

// A class file's version is the version of its JDK plus 44.
static_assert(weave::kNewestVersion == options::kLastWovenJdk + 44);

// Returns whether the method is ClassLoader.loadClass, which the VM calls, or may override it.
bool MayLoadClass(const weave::Method& method) {
  return method.name == "loadClass" && !method.IsStatic() &&
         method.descriptor == "(Ljava/lang/String;)Ljava/lang/Class;";
}

// Returns the label that a method of the class Label sets: set(String) in its caller, or clear().
std::optional<weave::LabelAtEntry> LabelOfApi(const weave::Method& method) {
  if (method.name == "set" && method.descriptor == "(Ljava/lang/String;)V")
    return weave::LabelAtEntry{weave::LabelSource::kText, 0};
  if (method.name == "clear" && method.descriptor == "()V") return weave::LabelAtEntry{};
  return std::nullopt;
}

// Returns whether nothing in the recording asks which method is running.
bool OnlyCounts(const setup::Plan& plan) { return !plan.sampling && !plan.events && !plan.objects; }

bool IsContinuation(std::string_view class_name) {
  return class_name.starts_with(kContinuation) &&
         (class_name.size() == kContinuation.size() || class_name[kContinuation.size()] == '$');
}

}  // namespace

// The weaver throws only for lack of memory.
Result<weave::Woven> WovenMethods::Weave(std::span<const uint8_t> class_file) {
  try {
    return weave::Weave(
        class_file, [&](const weave::Method& method) { return Decide(method); },
        {.of_class = [&](std::string_view name) { return IdOfClass(name); },
         .of_site = [&](uint32_t bci, uint32_t line) { return IdOfSite(bci, line); }});
  } catch (const std::bad_alloc&) {
    return Fail("no memory");
  }
}

weave::Decision WovenMethods::Decide(const weave::Method& method) {
  constexpr weave::Decision kLeave = {weave::Action::kLeave, 0};
  if (method.is_intrinsic || method.class_name.starts_with(weave::kOwnClasses) ||
      IsContinuation(method.class_name))
    return kLeave;
  if (method.class_name == engine::kLabelClass) return {.label = LabelOfApi(method)};
  if (method.class_name == kVirtualThread &&
      std::ranges::find(kAnnounced, method.name) != kAnnounced.end())
    return {weave::Action::kAnnounce, 0};
  const auto id = session_.methods().Find(*this, reinterpret_cast<uint64_t>(&method)).id;
  const bool answers = MayLoadClass(method);
  if (id == engine::kIgnoredMethod) return {.answers = answers};
  return {.action = weave::Action::kCount,
          .id = IndexOf(id),
          .answers = answers,
          .leaves = OnlyCounts(plan_),
          .locks = plan_.locks,
          .allocations = plan_.allocations,
          .sites = session_.options().call_sites && method.class_name != kVirtualThread,
          .label = labels_.Of(method, *session_.writer().header())};
}

uint32_t WovenMethods::IdOfClass(std::string_view name) {
  engine::ClassNames names;
  return IndexOf(session_.methods().Find(names, reinterpret_cast<uint64_t>(&name)).id);
}

uint32_t WovenMethods::IdOfSite(uint32_t bci, uint32_t line) {
  engine::SiteNames names;
  const engine::Site site = {bci, line};
  return IndexOf(session_.methods().Find(names, reinterpret_cast<uint64_t>(&site)).id);
}

bool WovenMethods::Describe(uint64_t handle, engine::MethodText* text) {
  const auto& method = *reinterpret_cast<const weave::Method*>(handle);
  text->class_name = method.class_name;
  text->name = method.name;
  text->signature = method.descriptor;
  text->is_static = method.IsStatic();
  return true;
}

}  // namespace jprof::agent
