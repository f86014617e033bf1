#include "jprof/agent/agent_session.h"

#include <utility>

#include "jprof/hookit/hook_recording.h"

namespace jprof::agent {

bool JoinsHooks(const setup::Plan& plan) {
  const hookit::OwnRecording& hooks = hookit::Own();
  return hooks.session != nullptr && plan.source == setup::Source::kProbe &&
         hooks.kind == plan.kind;
}

AgentSession::AgentSession(const setup::Plan& plan)
    : plan_(plan),
      own_(JoinsHooks(plan) ? nullptr : new engine::Session),
      session_(own_ ? *own_ : *hookit::Own().session) {}

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
