// Owns the session that the agent records into. If the hooks of C and C++ functions have begun a
// recording of the same kind in this process, the agent joins that of the hooks, which also end it.
#pragma once

#include <memory>

#include "common/result.h"
#include "jprof/engine/session.h"
#include "jprof/setup/plan.h"

namespace jprof::agent {

// Returns the session of the hooks if the JVM's methods belong to it, or null.
engine::Session* SessionOfHooks(const setup::Plan& plan);

class AgentSession {
 public:
  // `hooks` is what SessionOfHooks has returned. `plan` must exist as long as the object.
  AgentSession(const setup::Plan& plan, engine::Session* hooks);

  engine::Session& session() { return session_; }

  // Begins the session, or adds the JVM's methods to that of the hooks. `with_functions` is whether
  // hooks may record into a session of the agent. Fails if the profile cannot be created, or if the
  // process has no thread-specific key left.
  Result<void> Begin(engine::SessionOptions options, engine::MethodSource& methods,
                     bool with_functions);
  // Completes the profile.
  void End();
  // Frees what the session uses, if it has begun. Call this when nothing uses it any more.
  void Close();

 private:
  const setup::Plan& plan_;
  const std::unique_ptr<engine::Session> own_;  // null if it is that of the hooks
  engine::Session& session_;
  bool begun_ = false;  // own_
};

}  // namespace jprof::agent
