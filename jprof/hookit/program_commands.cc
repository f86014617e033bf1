#include "jprof/hookit/program_commands.h"

#include "jprof/hookit/hook_recording.h"
#include "jprof/hookit/hooks.h"

namespace jprof::hookit {
namespace {

void StartOwn() {
  if (engine::Session* const session = BegunSession()) session->gate().Start();
}
void StopOwn() {
  if (engine::Session* const session = BegunSession()) session->gate().Stop();
}
void MarkInOwn(std::string_view text) {
  if (BegunSession() != nullptr) __atomic_load_n(&current_handlers.mark, __ATOMIC_ACQUIRE)(text);
}

// Each is read alone: the agent's functions and these do nothing once their recording has ended.
constinit Commands current = {StartOwn, StopOwn, MarkInOwn};

template <class Function>
void Store(Function& to, Function given, Function own) {
  __atomic_store_n(&to, given != nullptr ? given : own, __ATOMIC_RELEASE);
}

}  // namespace

void SetCommands(const Commands& commands) {
  Store(current.start, commands.start, &StartOwn);
  Store(current.stop, commands.stop, &StopOwn);
  Store(current.mark, commands.mark, &MarkInOwn);
}

void StartRecording() { __atomic_load_n(&current.start, __ATOMIC_ACQUIRE)(); }
void StopRecording() { __atomic_load_n(&current.stop, __ATOMIC_ACQUIRE)(); }
void Mark(std::string_view text) { __atomic_load_n(&current.mark, __ATOMIC_ACQUIRE)(text); }

}  // namespace jprof::hookit
