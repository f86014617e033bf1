#include "jprof/unwind/registers.h"

#include <ucontext.h>

namespace jprof::unwind {

Registers OfSignal(const void* ucontext) {
  const mcontext_t& context = static_cast<const ucontext_t*>(ucontext)->uc_mcontext;
#if defined(__x86_64__)
  const auto reg = [&](int i) { return static_cast<uint64_t>(context.gregs[i]); };
  return {reg(REG_RIP), reg(REG_RSP), reg(REG_RBP), 0, true};
#elif defined(__aarch64__)
  return {context.pc, context.sp, context.regs[29], context.regs[30], true};
#else
#error "no unwinder for this processor"
#endif
}

}  // namespace jprof::unwind
