// Decides which of the directives that are tried a run applies, so that the effect of each can be
// told from those of the others in few runs. Pure.
//
// Runs come in pairs: a row of a Hadamard matrix (Sylvester's) and its complement. The first pair
// is all directives and none; for one directive there are only these. In all pairs together each
// directive is applied in half of the runs, and half of these apply any other one. A row with its
// complement keeps effects of single directives apart from those of two together (Box, Hunter,
// Hunter: Statistics for Experimenters, 2005, chapter 6).
#pragma once

#include <cstddef>
#include <vector>

namespace jprof::cpo {

// Returns how many arms the design for this number of directives has; at least 2.
size_t ArmCount(size_t directives);

// Returns which directives an arm applies.
std::vector<bool> ArmOf(size_t arm, size_t directives);

// Returns the arm of the next run: the one with the fewest runs so far, given by what each of these
// applied. Equal arms come in their order, and in the opposite order the next time, so that a drift
// over time does not favour one of them.
size_t NextArm(const std::vector<std::vector<bool>>& runs, size_t directives);

}  // namespace jprof::cpo
