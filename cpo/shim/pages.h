// Puts memory on large pages by the directives of its groups. No directive has more large pages
// advised than its limit: they are counted by address until the memory is unmapped, and memory of
// malloc's heap that was advised once stays advised.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace jprof::cpo {

// Reads whether and how large pages this kernel has. Returns their size, or 0.
uint32_t LargePage();
// Returns whether directives are applied in this process.
bool AppliesDirectives();

// Returns whether the group has a directive with at least one large page left.
bool MayAdvise(uint32_t group);

// Advises the large pages within [begin, begin + bytes), from the first on, as many as the group's
// directive has left. Logs those that it has not. Does nothing for a group without directive.
// If the limit allows all, the parts at both ends that are no whole pages are advised too: to
// mremap, a mapping that is advised in part is several ones. Returns whether some of it is advised.
bool Advise(uint32_t group, uint64_t begin, uint64_t bytes);

// The same for memory that is in use already: it is moved to large pages now.
void AdviseUsed(uint32_t group, uint64_t begin, uint64_t bytes);

// Returns whether some of [begin, begin + bytes) is advised.
bool HasLargePages(uint64_t begin, uint64_t bytes);

// Forgets the large pages within memory that is about to be unmapped. Logs what the directive has
// got before, if it was not logged yet.
void ForgetPages(uint64_t begin, uint64_t bytes);

// Logs what each directive has got. Reads the process's map, which takes a millisecond or so.
void LogOutcomes(uint64_t now);

}  // namespace jprof::cpo
