// Describes a data TLB of two levels, as CPUID or a user does. Translations of 1 GiB are not
// described.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "common/result.h"

namespace jprof::cpo {

// An array of translations. It is fully associative if it has as many ways as entries; no entries
// mean that there is none.
struct TlbArray {
  uint32_t entries = 0;
  uint32_t ways = 0;
  bool operator==(const TlbArray&) const = default;
};

struct TlbLevel {
  TlbArray small;       // of pages of 4 KiB, or of all sizes
  TlbArray large;       // of pages of 2 MiB
  bool shared = false;  // true: pages of both sizes are in `small`, and `large` is not used
  // Returns the array that has pages of this size.
  const TlbArray& Of(bool is_large) const { return is_large && !shared ? large : small; }
  bool operator==(const TlbLevel&) const = default;
};

struct TlbGeometry {
  TlbLevel first;
  TlbLevel second;  // without entries if the processor has one level
  bool operator==(const TlbGeometry&) const = default;
};

// Returns the geometry that is used where a processor does not state its own: that of Intel's
// cores from Skylake to Cascade Lake, as in the Intel 64 and IA-32 Architectures Optimization
// Reference Manual: 64 entries for 4 KiB and 32 for 2 MiB, both with 4 ways; 1,536 shared, 12 ways.
TlbGeometry DefaultTlb();

// EAX, EBX, ECX, EDX.
using CpuidWords = std::array<uint32_t, 4>;
using Cpuid = std::function<CpuidWords(uint32_t leaf, uint32_t subleaf)>;

// Decodes the answers of CPUID. Intel: leaf 18H, else the descriptors of leaf 2 (Intel SDM, volume
// 2A, CPUID). AMD: leaves 80000005H and 80000006H (AMD64 APM, volume 3, appendix E); from family
// 17H on both levels hold all sizes (Software Optimization Guides of these families), and the
// associativity is that of 4 KiB. Fails if they describe no first level.
Result<TlbGeometry> DecodeTlb(const Cpuid& cpuid);

// Returns the geometry of the processor that runs this, or DefaultTlb() if it states none. A
// hypervisor may answer for another processor.
TlbGeometry ThisTlb();

// Returns the geometry as text, as "l1-4k=64/4,l1-2m=32/4,l2=1536/12" or "l1=64/full,l2=2048/8":
// entries and ways of each array, without "-4k" and "-2m" if shared.
std::string TextOf(const TlbGeometry& geometry);

// Parses that text. Fails if an array is unknown, appears twice or has entries that are no multiple
// of its ways, or if the first level lacks a size.
Result<TlbGeometry> ParseTlb(std::string_view text);

}  // namespace jprof::cpo
