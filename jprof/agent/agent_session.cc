#include "jprof/agent/agent_session.h"

#include <utility>

#include "jprof/hookit/hook_recording.h"

namespace jprof::agent {

engine::Session* SessionOfHooks(const setup::Plan& plan) {
  const hookit::OwnRecording& hooks = hookit::Own();
  return plan.source == setup::Source::kProbe && hooks.kind == plan.kind ? hooks.session : nullptr;
}

AgentSession::AgentSession(const setup::Plan& plan, engine::Session* hooks)
    : plan_(plan),
      own_(hooks != nullptr ? nullptr : new engine::Session),
      session_(own_ ? *own_ : *hooks) {}

Result<void> AgentSession::Begin(engine::SessionOptions options, engine::MethodSource& methods,
                                 bool with_functions) {
  if (!own_) {
    session_.SetVm(&methods, std::move(options.method_filter));
    return {};
  }
  const bool train = options.files.train;
  auto begun = own_->Start(std::move(options), &methods);
  begun_ = begun.has_value();
  if (begun_ && with_functions) hookit::Join(*own_, plan_.kind, train);
  return begun;
}

void AgentSession::End() {
  if (begun_) own_->Finish();
}

void AgentSession::Close() {
  if (begun_) own_->Close();
}

}  // namespace jprof::agent
