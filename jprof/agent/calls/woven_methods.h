// Decides which methods count themselves, and describes them to the engine: a method is known by
// its class file, before it exists in the VM.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "common/result.h"
#include "jprof/agent/labels/label_arguments.h"
#include "jprof/engine/session.h"
#include "jprof/setup/plan.h"
#include "jprof/weave/weave.h"
#include "options/agent_options.h"

namespace jprof::agent {

inline constexpr std::string_view kVirtualThread = "java/lang/VirtualThread";
// This many methods of virtual threads announce what they do.
inline constexpr size_t kAnnouncedMethods = 3;

class WovenMethods final : public engine::MethodSource {
 public:
  // All must exist as long as the object. The plan says what methods count besides calls.
  WovenMethods(engine::Session& session, const setup::Plan& plan,
               const options::AgentOptions& options)
      : session_(session), plan_(plan), labels_(options.label_from) {}

  // Weaves a class file. Fails if it is malformed or there is no memory.
  Result<weave::Woven> Weave(std::span<const uint8_t> class_file);

  // Describes a weave::Method.
  bool Describe(uint64_t method, engine::MethodText* text) override;
  FrameKind Classify(uint64_t) override { return FrameKind::kWoven; }

 private:
  weave::Decision Decide(const weave::Method& method);
  uint32_t IdOfClass(std::string_view name);
  uint32_t IdOfSite(uint32_t bci, uint32_t line);

  engine::Session& session_;
  const setup::Plan& plan_;
  const LabelArguments labels_;
};

}  // namespace jprof::agent
