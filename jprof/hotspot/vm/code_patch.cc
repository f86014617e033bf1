#include "jprof/hotspot/vm/code_patch.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "jprof/hotspot/vm/load.h"

namespace jprof::hotspot {
namespace {

#if defined(__x86_64__)

constexpr uint8_t kJump[] = {0xff, 0x25, 0, 0, 0, 0};  // jmp [rip+0]; address

// A call or jump has 5 bytes: an opcode and a distance from its end. The probability that four
// bytes of another instruction contain just this distance after such an opcode is that of a random
// 32-bit number.
constexpr uint8_t kCall = 0xe8, kTailJump = 0xe9;
constexpr uint64_t kCallBytes = 5, kStep = 1;

uint64_t TargetAt(uint64_t site) {
  const auto opcode = LoadAt<uint8_t>(site);
  if (opcode != kCall && opcode != kTailJump) return 0;
  return site + kCallBytes + int64_t{LoadAt<int32_t>(site + 1)};
}

int64_t DistanceOf(uint64_t site, uint64_t to) {
  return static_cast<int64_t>(to - (site + kCallBytes));
}
bool Encodes(int64_t distance) { return distance == int32_t(distance); }

void Encode(uint64_t site, int64_t distance) {
  const auto encoded = static_cast<int32_t>(distance);
  std::memcpy(reinterpret_cast<char*>(site) + 1, &encoded, sizeof encoded);
}

#else

constexpr uint8_t kJump[] = {0x50, 0x00, 0x00, 0x58,
                             0x00, 0x02, 0x1f, 0xd6};  // ldr x16, #8; br x16; address

// BL and B have 6 bits of opcode and 26 of a distance in instructions.
constexpr uint32_t kDistanceBits = 0x03ffffff, kCall = 0x94000000, kTailJump = 0x14000000;
constexpr uint64_t kCallBytes = 4, kStep = 4;

uint64_t TargetAt(uint64_t site) {
  const auto instruction = LoadAt<uint32_t>(site);
  const uint32_t opcode = instruction & ~kDistanceBits;
  if (opcode != kCall && opcode != kTailJump) return 0;
  return site + (int64_t{static_cast<int32_t>(instruction << 6)} >> 4);
}

int64_t DistanceOf(uint64_t site, uint64_t to) { return static_cast<int64_t>(to - site); }
bool Encodes(int64_t distance) {
  constexpr int64_t kMost = int64_t{1} << 27;
  return distance % 4 == 0 && distance >= -kMost && distance < kMost;
}

void Encode(uint64_t site, int64_t distance) {
  const uint32_t opcode = LoadAt<uint32_t>(site) & ~kDistanceBits;
  const uint32_t instruction = opcode | (static_cast<uint32_t>(distance >> 2) & kDistanceBits);
  std::memcpy(reinterpret_cast<char*>(site), &instruction, sizeof instruction);
}

#endif

static_assert(kJumpBytes == sizeof kJump + sizeof(uint64_t));

}  // namespace

WritableCode::WritableCode(uint64_t begin, uint64_t bytes) {
  const uint64_t page = sysconf(_SC_PAGESIZE);
  begin_ = begin / page * page;
  end_ = (begin + bytes + page - 1) / page * page;
  writable_ = Protect(PROT_READ | PROT_WRITE | PROT_EXEC);
}

WritableCode::~WritableCode() {
  if (writable_) Protect(PROT_READ | PROT_EXEC);
}

bool WritableCode::Protect(int protection) const {
  return mprotect(reinterpret_cast<void*>(begin_), end_ - begin_, protection) == 0;
}

void WriteJump(uint64_t from, uint64_t to) {
  auto* code = reinterpret_cast<char*>(from);
  std::memcpy(code, kJump, sizeof kJump);
  std::memcpy(code + sizeof kJump, &to, sizeof to);
  __builtin___clear_cache(code, code + kJumpBytes);
}

bool HoldsJump(uint64_t from) {
  return std::memcmp(reinterpret_cast<const char*>(from), kJump, sizeof kJump) == 0;
}

void SetJumpTarget(uint64_t from, uint64_t to) {
  __atomic_store_n(reinterpret_cast<uint64_t*>(from + sizeof kJump), to, __ATOMIC_SEQ_CST);
}

bool CanSetJumpTarget(uint64_t from) {
  constexpr uint64_t kCacheLine = 64;
  return (from + sizeof kJump) % kCacheLine <= kCacheLine - sizeof(uint64_t);
}

void Redirect(uint64_t from, uint64_t to) {
  if (HoldsJump(from)) {
    SetJumpTarget(from, to);
  } else {
    WriteJump(from, to);
  }
}

std::vector<uint64_t> CallsOf(Function caller, uint64_t callee) {
  std::vector<uint64_t> sites;
  for (uint64_t at = caller.begin; at + kCallBytes <= caller.begin + caller.bytes; at += kStep) {
    if (TargetAt(at) == callee) sites.push_back(at);
  }
  return sites;
}

bool Reaches(uint64_t site, uint64_t to) { return Encodes(DistanceOf(site, to)); }

void RedirectCall(uint64_t site, uint64_t to) {
  Encode(site, DistanceOf(site, to));
  auto* code = reinterpret_cast<char*>(site);
  __builtin___clear_cache(code, code + kCallBytes);
}

}  // namespace jprof::hotspot
