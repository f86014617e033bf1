// Says in one line what a run of `jprof optimize` did. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cpo/database/store.h"

namespace jprof::cpo {

// What is to be told of a run.
struct RunStory {
  const BegunRun& begun;
  std::vector<Directive> applied;
  std::vector<Figure> figures;
  std::vector<Proposal> proposals;  // of a measured run
  std::vector<Decision> decisions;  // of a trial
  std::vector<RowId> yielded;       // claims that others got meanwhile
  std::string why_not_compared;     // empty if it is
  std::string agent_error;          // why there are no proposals or figures; empty if there are
};

std::string TextOf(const RunStory& story);

// Returns "site main+0x11f0: 128 huge pages".
std::string DirectiveText(const Proposal& proposal);

}  // namespace jprof::cpo
