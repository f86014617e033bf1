#include "cpo/database/claims.h"

#include <algorithm>
#include <tuple>

namespace jprof::cpo {
namespace {

bool ComesBefore(const ClaimRow& a, const ClaimRow& b) {
  // Compares benefit / amount without a division.
  const double left = a.benefit * static_cast<double>(b.amount);
  const double right = b.benefit * static_cast<double>(a.amount);
  if (left != right) return left > right;
  return std::tuple(!a.is_held, a.run, a.directive) < std::tuple(!b.is_held, b.run, b.directive);
}

}  // namespace

Grants Resolve(uint64_t capacity, std::vector<ClaimRow> claims) {
  std::ranges::sort(claims, ComesBefore);
  Grants grants;
  uint64_t left = capacity;
  for (const ClaimRow& claim : claims) {
    const bool fits = claim.amount <= left;
    if (fits) left -= claim.amount;
    if (!claim.is_held) {
      (fits ? grants.granted : grants.refused).push_back(claim);
    } else if (!fits) {
      grants.yielded.push_back(claim);
    }
  }
  return grants;
}

}  // namespace jprof::cpo
