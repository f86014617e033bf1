// Modifies the code of the loaded libjvm.so: writes jumps over whole functions, and redirects
// calls. No instruction is ever moved. Except for SetJumpTarget, this requires that nothing else
// runs there, as in Agent_OnLoad.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace jprof::hotspot {

// A range of code.
struct Function {
  uint64_t begin = 0;
  uint64_t bytes = 0;  // 0 if unknown
};

#if defined(__x86_64__)
inline constexpr size_t kJumpBytes = 14;
#elif defined(__aarch64__)
inline constexpr size_t kJumpBytes = 16;
#else
#error "no jump known for this architecture"
#endif

// Makes code writable while the object exists.
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

// Writes a jump to any address, which takes kJumpBytes. `from` must be writable and, on
// AArch64, a multiple of 8.
void WriteJump(uint64_t from, uint64_t to);

// Returns whether there is a jump by WriteJump at `from`.
bool HoldsJump(uint64_t from);
// Changes the target of a jump that other threads may be executing: its target is a word of data,
// which is replaced as a whole. Requires a writable jump and CanSetJumpTarget.
void SetJumpTarget(uint64_t from, uint64_t to);
// Returns whether the target of a jump at `from` is within one cache line.
bool CanSetJumpTarget(uint64_t from);

// Makes the function at `from`, which is writable, jump to `to`. If it holds no jump yet, it must
// not be running; else the jump's target is changed.
void Redirect(uint64_t from, uint64_t to);

// Returns the sites in `caller` that call the function at `callee`, or end by a jump to it.
std::vector<uint64_t> CallsOf(Function caller, uint64_t callee);

// Returns whether a call at `site` can be redirected to `to`.
bool Reaches(uint64_t site, uint64_t to);

// Redirects the call at `site`, one of CallsOf, to `to`. Requires a writable site and Reaches.
void RedirectCall(uint64_t site, uint64_t to);

}  // namespace jprof::hotspot
