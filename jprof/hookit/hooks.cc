// Defines what programs call: the hooks of -finstrument-functions, and functions of the C library
// that end frames or the process without a hook. These have an effect if the library comes before
// the C library: preloaded, or linked with the program.
#include "jprof/hookit/hooks.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <unwind.h>

#include <cstdint>
#include <string_view>

#include "jprof/engine/function_events.h"
#include "jprof/hookit/hook_recording.h"
#include "jprof/hookit/jump_target.h"
#include "jprof/hookit/next_function.h"
#include "jprof/hookit/program_commands.h"

#define JPROF_EXPORTED extern "C" [[gnu::visibility("default")]]

using namespace jprof;

namespace {

using Jump = void(__jmp_buf_tag*, int);

// Calls the C library's function after the frames that it leaves have ended.
[[noreturn]] void JumpBy(Jump* jump, __jmp_buf_tag* target, int value) {
  if (const uint64_t sp = hookit::StackPointerOf(*target); sp != 0) engine::HealFunctions(sp);
  jump(target, value);
  __builtin_unreachable();
}

using Personality = _Unwind_Reason_Code(int, _Unwind_Action, _Unwind_Exception_Class,
                                        _Unwind_Exception*, _Unwind_Context*);
constinit NextFunction<Jump> next_longjmp("longjmp"), next_underscore_longjmp("_longjmp"),
    next_siglongjmp("siglongjmp"), next_longjmp_chk("__longjmp_chk");
constinit NextFunction<int(void*)> next_dlclose("dlclose");
constinit NextFunction<Personality> next_personality("__gxx_personality_v0");
constinit NextFunction<_Unwind_Word(_Unwind_Context*)> unwind_stack_pointer("_Unwind_GetCFA");

[[gnu::constructor]] void FindAll() {
  for (NextFunction<Jump>* jump :
       {&next_longjmp, &next_underscore_longjmp, &next_siglongjmp, &next_longjmp_chk})
    jump->Look();
  next_dlclose.Look();
  next_personality.Look();
  unwind_stack_pointer.Look();
}

}  // namespace

// A tracer that counts the instructions of threads begins when jprof_instructions_begin is called,
// and writes its counts where jprof_thread_instructions_offset states.
JPROF_EXPORTED int64_t jprof_thread_instructions_offset;
int64_t jprof_thread_instructions_offset = 0;
JPROF_EXPORTED [[gnu::noinline, gnu::used]] void jprof_instructions_begin() {}

JPROF_EXPORTED void __cyg_profile_func_enter(void* function, void* call_site) {
  hookit::current_handlers.enter(function, call_site);
}
JPROF_EXPORTED void __cyg_profile_func_exit(void* function, void* call_site) {
  hookit::current_handlers.leave(function, call_site);
}

// See jprof/label/jprof-label.h.
JPROF_EXPORTED void jprof_label_set(const char* text) {
  const std::string_view label = text != nullptr ? std::string_view(text) : std::string_view();
  __atomic_load_n(&hookit::current_handlers.label, __ATOMIC_ACQUIRE)(label);
}

JPROF_EXPORTED void jprof_recording_start() { hookit::StartRecording(); }
JPROF_EXPORTED void jprof_recording_stop() { hookit::StopRecording(); }
JPROF_EXPORTED void jprof_recording_mark(const char* text) {
  if (text != nullptr) hookit::Mark(text);
}

JPROF_EXPORTED void longjmp(__jmp_buf_tag* target, int value) noexcept {
  JumpBy(next_longjmp.Get(), target, value);
}
JPROF_EXPORTED void _longjmp(__jmp_buf_tag* target, int value) noexcept {
  JumpBy(next_underscore_longjmp.Get(), target, value);
}
JPROF_EXPORTED void siglongjmp(__jmp_buf_tag* target, int value) noexcept {
  JumpBy(next_siglongjmp.Get(), target, value);
}
JPROF_EXPORTED void __longjmp_chk(__jmp_buf_tag* target, int value) noexcept {
  JumpBy(next_longjmp_chk.Get(), target, value);
}

#if !defined(__clang__)  // which has no such attribute
// Ends the frames below the function in which an exception of C++ continues, in a handler or in
// destructors. The symbol has the version that programs ask for, because without one it would also
// replace the function in this library's own copy of the C++ runtime. The context is of the
// unwinder that the program uses, not of that copy.
extern "C" [[gnu::visibility("default")]] __attribute__((symver("__gxx_personality_v0@CXXABI_1.3")))
_Unwind_Reason_Code
jprof_personality(int version, _Unwind_Action actions, _Unwind_Exception_Class exception_class,
                  _Unwind_Exception* exception, _Unwind_Context* context) {
  auto* const stack_pointer = unwind_stack_pointer.Get();
  const auto result = next_personality.Get()(version, actions, exception_class, exception, context);
  if (result == _URC_INSTALL_CONTEXT && stack_pointer != nullptr)
    engine::HealFunctions(stack_pointer(context));
  return result;
}
#endif

JPROF_EXPORTED int dlclose(void* library) noexcept {
  const int result = next_dlclose.Get()(library);
  hookit::ForgetFunctions();
  return result;
}

// Ends the recording before PR_SET_TSC and the strict mode, because they forbid the instruction
// that reads the clock without a system call. The mode also forbids files to grow.
JPROF_EXPORTED int prctl(int option, ...) {
  va_list list;
  va_start(list, option);
  unsigned long a[4];
  for (unsigned long& argument : a) argument = va_arg(list, unsigned long);
  va_end(list);
  if (option == PR_SET_SECCOMP && a[0] == SECCOMP_MODE_STRICT)
    hookit::EndBefore("prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT)");
  if (option == PR_SET_TSC && a[0] == PR_TSC_SIGSEGV)
    hookit::EndBefore("prctl(PR_SET_TSC, PR_TSC_SIGSEGV)");
  return static_cast<int>(syscall(SYS_prctl, option, a[0], a[1], a[2], a[3]));
}

JPROF_EXPORTED void _exit(int status) {
  hookit::Finish();
  for (;;) syscall(SYS_exit_group, status);
}
JPROF_EXPORTED void _Exit(int status) noexcept { _exit(status); }

namespace {

// Redirects the standard streams to the null device, as daemon() does. Returns false and sets errno
// if that fails.
bool StreamsToNull() {
  const int null = open("/dev/null", O_RDWR);
  struct stat found;
  if (null < 0 || fstat(null, &found) != 0) return false;
  const bool real = S_ISCHR(found.st_mode) && found.st_rdev == makedev(1, 3);
  for (int stream = 0; real && stream <= STDERR_FILENO; ++stream) dup2(null, stream);
  if (!real || null > STDERR_FILENO) close(null);
  if (!real) errno = ENODEV;
  return real;
}

}  // namespace

// Replaces the C library's function, which ends the parent by an internal call that cannot be
// intercepted.
JPROF_EXPORTED int daemon(int keeps_directory, int keeps_streams) noexcept {
  const pid_t child = fork();
  if (child > 0) _exit(0);
  if (child < 0 || setsid() < 0) return -1;
  if (keeps_directory == 0) (void)!chdir("/");
  return keeps_streams != 0 || StreamsToNull() ? 0 : -1;
}
