// What programs call: the hooks of -finstrument-functions, and functions of the C library that end
// frames or the process without a hook. These have an effect if the library comes before the C
// library: preloaded, or linked with the program.
#include "jprof/hookit/hooks.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

#include <cstdint>

#include "jprof/engine/events.h"
#include "jprof/hookit/hook_recording.h"
#include "jprof/hookit/jump_target.h"

#define JPROF_EXPORTED extern "C" [[gnu::visibility("default")]]

using namespace jprof;

namespace {

// The next definition of a function that this library replaces.
template <class Function>
Function* Next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

using Jump = void(__jmp_buf_tag*, int);

// Calls the C library's function after the frames that it leaves have ended.
[[noreturn]] void JumpBy(Jump* jump, __jmp_buf_tag* target, int value) {
  if (const uint64_t sp = hookit::StackPointerOf(*target); sp != 0) engine::HealFunctions(sp);
  jump(target, value);
  __builtin_unreachable();
}

}  // namespace

// A tracer that counts the instructions of threads begins when the second is called, and writes its
// counts where the first tells.
JPROF_EXPORTED int64_t jprof_thread_instructions_offset;
int64_t jprof_thread_instructions_offset = 0;
JPROF_EXPORTED [[gnu::noipa]] void jprof_instructions_begin() {}

JPROF_EXPORTED void __cyg_profile_func_enter(void* function, void* call_site) {
  hookit::current_handlers.enter(function, call_site);
}
JPROF_EXPORTED void __cyg_profile_func_exit(void* function, void* call_site) {
  hookit::current_handlers.leave(function, call_site);
}

JPROF_EXPORTED void longjmp(__jmp_buf_tag* target, int value) noexcept {
  static Jump* const next = Next<Jump>("longjmp");
  JumpBy(next, target, value);
}
JPROF_EXPORTED void _longjmp(__jmp_buf_tag* target, int value) noexcept {
  static Jump* const next = Next<Jump>("_longjmp");
  JumpBy(next, target, value);
}
JPROF_EXPORTED void siglongjmp(__jmp_buf_tag* target, int value) noexcept {
  static Jump* const next = Next<Jump>("siglongjmp");
  JumpBy(next, target, value);
}
JPROF_EXPORTED void __longjmp_chk(__jmp_buf_tag* target, int value) noexcept {
  static Jump* const next = Next<Jump>("__longjmp_chk");
  JumpBy(next, target, value);
}

// An exception of C++ continues in a function, in a handler or in destructors: the frames below it
// are gone. The symbol has the version that programs ask for, because without one it would also
// replace the function in this library's own copy of the C++ runtime. The context is of the
// unwinder that the program uses, not of that copy.
extern "C" [[gnu::visibility("default")]] __attribute__((symver("__gxx_personality_v0@CXXABI_1.3")))
_Unwind_Reason_Code
jprof_personality(int version, _Unwind_Action actions, _Unwind_Exception_Class exception_class,
                  _Unwind_Exception* exception, _Unwind_Context* context) {
  static auto* const next =
      Next<_Unwind_Reason_Code(int, _Unwind_Action, _Unwind_Exception_Class, _Unwind_Exception*,
                               _Unwind_Context*)>("__gxx_personality_v0");
  static auto* const stack_pointer = Next<_Unwind_Word(_Unwind_Context*)>("_Unwind_GetCFA");
  const auto result = next(version, actions, exception_class, exception, context);
  if (result == _URC_INSTALL_CONTEXT && stack_pointer != nullptr)
    engine::HealFunctions(stack_pointer(context));
  return result;
}

JPROF_EXPORTED int dlclose(void* library) noexcept {
  static auto* const next = Next<int(void*)>("dlclose");
  const int result = next(library);
  hookit::ForgetFunctions();
  return result;
}

JPROF_EXPORTED [[noreturn]] void _exit(int status) {
  hookit::Finish();
  for (;;) syscall(SYS_exit_group, status);
}
JPROF_EXPORTED [[noreturn]] void _Exit(int status) noexcept { _exit(status); }
