#include "jprof/agent/sampling/frame_names.h"

#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

#include "jprof/engine/session.h"

namespace jprof::agent {
namespace {

using engine::MethodText;

class NativeFunctions : public engine::MethodSource {
 public:
  explicit NativeFunctions(const unwind::Unwinder& unwinder) : unwinder_(unwinder) {}
  bool Describe(uint64_t address, MethodText* text) override {
    reading_.emplace(unwinder_);  // keeps the module's path valid
    unwind::Function function;
    // Fails for hand-written code without exception frames and for code outside of modules.
    if (!unwinder_.FunctionAt(address, &function)) {
      text->class_name = function.module;
      text->name = "(native code)";
      text->flags = profile::kMethodStub;
      return true;
    }
    text->class_name = function.module;
    std::memcpy(text->scratch, "0x", 2);
    const auto end =
        std::to_chars(text->scratch + 2, std::end(text->scratch), function.link_address, 16).ptr;
    text->name = {text->scratch, static_cast<size_t>(end - text->scratch)};
    text->flags = profile::kMethodCode;
    return true;
  }
  FrameKind Classify(uint64_t) override { return FrameKind::kFunction; }

 private:
  const unwind::Unwinder& unwinder_;
  std::optional<unwind::Unwinder::Reading> reading_;
};

// Describes a method whose text is already known.
class FixedMethod : public engine::MethodSource {
 public:
  FixedMethod(std::string_view class_name, std::string_view name, profile::MethodFlags flags)
      : class_name_(class_name), name_(name), flags_(flags) {}
  bool Describe(uint64_t, MethodText* text) override {
    text->class_name = class_name_;
    text->name = name_;
    text->flags = flags_;
    return true;
  }
  FrameKind Classify(uint64_t) override { return FrameKind::kOther; }

 private:
  std::string_view class_name_, name_;
  profile::MethodFlags flags_;
};

}  // namespace

profile::MethodRef FrameReference(engine::Thread& thread, engine::MethodSource& java,
                                  const unwind::Unwinder& unwinder,
                                  const hotspot::StackFrame& frame) {
  if (!IsJava(frame.type) && frame.type != FrameKind::kFunction) {
    // The method of a stub is a literal.
    return NoteReference(thread, reinterpret_cast<const char*>(frame.method));
  }
  NativeFunctions native(unwinder);
  engine::MethodSource& source = IsJava(frame.type) ? java : native;
  return profile::PackMethod(frame.type, engine::SampledMethod(thread, source, frame.method));
}

profile::MethodRef SiteReference(engine::Thread& thread, hotspot::Sites& sites,
                                 const hotspot::StackFrame& frame) {
  if (!IsJava(frame.type) || frame.bci < 0) return profile::kNoMethodRef;
  const uint64_t key = hotspot::Sites::KeyOf(frame.method, static_cast<uint32_t>(frame.bci));
  return profile::PackMethod(FrameKind::kSite, engine::SampledMethod(thread, sites, key));
}

profile::MethodRef NoteReference(engine::Thread& thread, const char* text) {
  FixedMethod source("", text, profile::kMethodStub);
  return profile::PackMethod(
      FrameKind::kOther, engine::SampledMethod(thread, source, reinterpret_cast<uint64_t>(text)));
}

profile::MethodRef KernelReference(engine::Thread& thread, const unwind::KernelFunctions& kernel,
                                   uint64_t address) {
  const auto function = kernel.At(address);
  if (function.start == 0) return profile::kNoMethodRef;
  FixedMethod source(function.module, function.name, profile::kMethodKernel);
  return profile::PackMethod(FrameKind::kFunction,
                             engine::SampledMethod(thread, source, function.start));
}

profile::MethodRef ClassReference(engine::Thread& thread, const char* signature) {
  std::string_view name = signature;
  if (name.size() > 2 && name.front() == 'L') name = name.substr(1, name.size() - 2);
  FixedMethod source(name, "", profile::kMethodClass);
  return profile::PackMethod(FrameKind::kOther, thread.session->methods().Find(source, 0).id);
}

}  // namespace jprof::agent
