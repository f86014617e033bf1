// What programs call: the hooks of -finstrument-functions, and functions of the C library that end
// frames or the process without a hook. These have an effect if the library comes before the C
// library: preloaded, or linked with the program.
#include "jprof/hookit/hooks.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <sys/syscall.h>
#include <unistd.h>

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

// A handler of C++ begins: its function continues, the frames below it are gone. The symbol has the
// version that programs ask for, because without one it would also replace the function in this
// library's own copy of the C++ runtime.
extern "C"
    [[gnu::visibility("default")]] __attribute__((symver("__cxa_begin_catch@CXXABI_1.3"))) void*
    jprof_begin_catch(void* exception) noexcept {
  static auto* const next = Next<void*(void*)>("__cxa_begin_catch");
  engine::HealFunctions(reinterpret_cast<uint64_t>(__builtin_dwarf_cfa()));
  return next(exception);
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
