// Changes to the code of the loaded libjvm.so: jumps over whole functions, and calls sent
// elsewhere. No instruction is ever moved. Only in Agent_OnLoad, while nothing else runs there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace jprof::hotspot {

// A range of code.
struct Function {
  uint64_t begin = 0;
  uint64_t bytes = 0;  // 0: not known
};

#if defined(__x86_64__)
inline constexpr size_t kJumpBytes = 14;
#elif defined(__aarch64__)
inline constexpr size_t kJumpBytes = 16;
#else
#error "no jump known for this architecture"
#endif

// Code that may be written while this lives.
class WritableCode {
 public:
  WritableCode(uint64_t begin, uint64_t bytes);
  ~WritableCode();
  WritableCode(const WritableCode&) = delete;
  WritableCode& operator=(const WritableCode&) = delete;
  explicit operator bool() const { return writable_; }

 private:
  bool Protect(int protection) const;
  uint64_t begin_, end_;
  bool writable_;
};

// A jump to anywhere, kJumpBytes long. `from` is writable; on AArch64 a multiple of 8.
void WriteJump(uint64_t from, uint64_t to);

// The places in `caller` that call (or end by jumping to) the function at `callee`.
std::vector<uint64_t> CallsOf(Function caller, uint64_t callee);

// Whether a call at `site` can be sent to `to`.
bool Reaches(uint64_t site, uint64_t to);

// Sends the call at `site`, one of CallsOf, to `to`. `site` is writable, and reaches.
void RedirectCall(uint64_t site, uint64_t to);

}  // namespace jprof::hotspot
