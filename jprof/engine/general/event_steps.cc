#include "jprof/engine/general/event_steps.h"

namespace jprof::engine {
namespace {

// This is global, because the VM calls the probes with only a thread and a method. Each thread
// reads it once, at its first event; after that it uses Thread::session.
Session* session_of_events = nullptr;

}  // namespace

Session* SessionOfEvents() { return session_of_events; }

Thread* AttachedThread(Session& session, int64_t* now) {
  if (current_thread != nullptr) return current_thread;
  Thread* const thread = session.threads().CurrentThread();
  if (thread == nullptr) {
    session.LostEvent();
  } else {
    *now = thread->last;  // its time begins here
  }
  return thread;
}

void SetSession(Session* session) { session_of_events = session; }

void DropEvent() {
  if (Thread* thread = current_thread; thread != nullptr && thread->record != nullptr)
    ++thread->record->dropped;
  else if (session_of_events != nullptr)
    session_of_events->LostEvent();
}

}  // namespace jprof::engine
