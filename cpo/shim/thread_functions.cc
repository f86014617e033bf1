// The function pthread_create of libjprof-pages.so: the stacks of threads are a group of memory.
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>

#include "cpo/shim/glibc.h"
#include "cpo/shim/groups.h"
#include "cpo/shim/hotspot.h"
#include "cpo/shim/pages.h"
#include "cpo/shim/placements.h"
#include "cpo/shim/state.h"

namespace jprof::cpo {
namespace {

using Function = void*(void*);
using Create = int(pthread_t*, const pthread_attr_t*, Function*, void*);

struct Thread {
  Function* function;
  void* argument;
};

struct Stack {
  void* memory = nullptr;
  size_t bytes = 0;
};

Stack OwnStack() {
  Stack stack;
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return stack;
  if (pthread_attr_getstack(&attributes, &stack.memory, &stack.bytes) != 0) stack.bytes = 0;
  pthread_attr_destroy(&attributes);
  return stack;
}

Stack BeginStack() {
  const Inside inside;
  if (!inside || !IsOn()) return {};
  const Stack stack = OwnStack();
  if (stack.bytes == 0) return stack;
  const uint32_t group = GroupOf("stack", "threads");
  LogBegin(group, stack.memory, stack.bytes);
  Advise(group, reinterpret_cast<uint64_t>(stack.memory), stack.bytes);
  return stack;
}

void EndStack(const Stack& stack) {
  const Inside inside;
  if (!inside || !IsOn() || stack.bytes == 0) return;
  LogEnd(stack.memory, stack.bytes);
}

// A thread that pthread_exit ends has no end here: its stack is the group's until it has another
// use.
void* Run(void* data) {
  const Thread thread = *static_cast<Thread*>(data);
  __libc_free(data);
  const Stack stack = BeginStack();
  void* const result = thread.function(thread.argument);
  EndStack(stack);
  return result;
}

Create* Next() {
  static Create* next = nullptr;
  Create* found = __atomic_load_n(&next, __ATOMIC_RELAXED);
  if (found == nullptr) {
    found = reinterpret_cast<Create*>(dlsym(RTLD_NEXT, "pthread_create"));
    __atomic_store_n(&next, found, __ATOMIC_RELAXED);
  }
  return found;
}

// Returns whether the new thread is to be logged.
bool Look(uint64_t caller) {
  const Inside inside;
  if (!inside || !IsOn()) return false;
  const KeptErrno kept;
  LookAtHotSpot(caller);
  LogProgress();
  return true;
}

}  // namespace
}  // namespace jprof::cpo

extern "C" [[gnu::visibility("default")]] int pthread_create(pthread_t* made,
                                                             const pthread_attr_t* attributes,
                                                             void* (*function)(void*),
                                                             void* argument) noexcept {
  using namespace jprof::cpo;
  Create* const next = Next();
  if (next == nullptr) return ENOSYS;
  auto* const thread = Look(reinterpret_cast<uint64_t>(__builtin_return_address(0)))
                           ? static_cast<Thread*>(__libc_malloc(sizeof(Thread)))
                           : nullptr;
  if (thread == nullptr) return next(made, attributes, function, argument);
  *thread = {function, argument};
  const int error = next(made, attributes, Run, thread);
  if (error != 0) __libc_free(thread);
  return error;
}
