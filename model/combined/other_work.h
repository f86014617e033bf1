// Recognises samples that cannot refit a counted run, because the program did something else.
#pragma once

#include <string>

#include "model/combined/refit.h"

namespace jprof::model {

// Returns why the samples cannot be of the same work as the counted run, or an empty text: what is
// left of its time is then far from what they show, or the costs would have to be below 0.
std::string OtherWork(const Refitting& refitting);

}  // namespace jprof::model
