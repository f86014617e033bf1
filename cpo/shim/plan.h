// What the launcher wants of the library: the file that JPROF_PAGES names.
//
//   jprof-pages 1
//   log FOLDER
//   threshold BYTES
//   large PAGES KIND KEY     one line for each directive: at most so many large pages
//
// It is read once: forked children go by the same plan.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "cpo/shim/state.h"

namespace jprof::cpo {

inline constexpr char kPlanVariable[] = "JPROF_PAGES";

struct Directive {
  uint64_t hash;   // of the group's text, KIND KEY
  uint64_t limit;  // large pages
};

struct Plan {
  char folder[PATH_MAX];
  uint64_t threshold;
  size_t count;
  Directive directives[kMostDirectives];
  uint64_t most_pages;  // of all directives together
  bool is_read, is_valid;
};

// Returns the plan of this process. It is not valid if there is none, or none that is understood.
const Plan& ThePlan();

// Returns the number of the directive for a group, or -1 if there is none.
int DirectiveOf(uint64_t hash);

}  // namespace jprof::cpo
