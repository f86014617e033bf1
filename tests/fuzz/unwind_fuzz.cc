// libFuzzer: any bytes as the .eh_frame of a module, for both processors (selected by the first
// byte). There must be no crash, no sanitizer report, no rows out of order and no endless loop.
#include "jprof/unwind/unwind_table.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace jprof::unwind;
  if (size < 1) return 0;
  const UnwindTable table(FrameBytes({data + 1, size - 1}, 0x1000), {0, uint64_t{1} << 40},
                          data[0] % 2 == 0 ? kX86 : kAArch64);
  const UnwindTable::Row* before = nullptr;
  for (const UnwindTable::Row& row : table.rows()) {
    if (before != nullptr && before->pc >= row.pc) __builtin_trap();
    if (table.Find(row.pc) != &row || table.FunctionOf(&row) > &row) __builtin_trap();
    before = &row;
  }
  return 0;
}
