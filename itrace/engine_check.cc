#include "itrace/engine_check.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "common/errno_text.h"
#include "common/write_all.h"
#include "itrace/tracer.h"

namespace jprof::itrace {

#if defined(__x86_64__)

// This is a loop with a call, which begins and ends at labels. It executes 1 + 100 * 5 + 99 + 1
// instructions.
extern "C" {
extern const char jprof_check_begin[], jprof_check_end[];
void jprof_check_code();
}
asm(R"(
  .text
  .type jprof_check_code, @function
jprof_check_code:
  .globl jprof_check_begin
jprof_check_begin:
  mov $100, %ecx
1:
  call 2f
  dec %ecx
  jnz 1b
  nop
  .globl jprof_check_end
jprof_check_end:
  ret
2:
  lea 1(%rax), %rax
  ret
)");

namespace {

constexpr uint64_t kCheckedInstructions = 1 + 100 * 5 + 1;

[[noreturn]] void RunChecked(int go) {
  char byte;
  ssize_t got = 0;
  while ((got = read(go, &byte, 1)) < 0 && errno == EINTR) {
  }
  if (got != 1) _exit(1);
  jprof_check_code();
  _exit(0);
}

uint64_t PlaceOf(const char* label) { return reinterpret_cast<uint64_t>(label); }

}  // namespace

Result<void> CheckEngine() {
  int go[2];
  if (pipe2(go, O_CLOEXEC) != 0) return Fail("cannot make a pipe: {}", ErrnoText());
  const Fd read_end(go[0]);
  Fd write_end(go[1]);
  const pid_t child = fork();
  if (child < 0) return Fail("cannot start a process: {}", ErrnoText());
  if (child == 0) {
    write_end.Reset();  // else the end of the parent's would not end the read
    RunChecked(go[0]);
  }
  TraceEvents none;
  const TraceRange range = {
      .begin = TraceRange::Begin::kPlace,
      .end = TraceRange::End::kPlace,
      .begin_places = [] { return std::vector<uint64_t>{PlaceOf(jprof_check_begin)}; },
      .end_places = [] { return std::vector<uint64_t>{PlaceOf(jprof_check_end)}; },
      .seconds = 5};
  const auto tracer =
      Tracer::Seize(child, {.engine = Engine::kBlock, .records = false}, range, none);
  Result<void> result;
  if (!tracer) {
    write_end.Reset();
    result = std::unexpected(tracer.error());
  } else {
    (*tracer)->SetBreakpoints();
    (void)WriteAll(write_end.get(), "x");
    write_end.Reset();  // ends the read also if nothing was written
    result = (*tracer)->Run();
    uint64_t counted = 0;
    for (const ThreadTotals& thread : (*tracer)->totals()) counted += thread.instructions;
    if (result && counted != kCheckedInstructions)
      result = Fail("the engine block counts {} instructions instead of {} here", counted,
                    kCheckedInstructions);
  }
  if (!tracer || !(*tracer)->process_status()) waitpid(child, nullptr, 0);
  return result;
}

#else
Result<void> CheckEngine() { return Fail("the engine block is for x86-64 only"); }
#endif

}  // namespace jprof::itrace
