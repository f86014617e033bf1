// Defines one finding of `jprof doctor`.
#pragma once

#include <string>
#include <vector>

namespace jprof::record {

struct DoctorCheck {
  enum class Verdict {
    kOk,
    kNote,  // works with a restriction
    kNo,    // does not work
  };
  Verdict verdict = Verdict::kOk;
  std::string name;    // what was checked, a few words
  std::string detail;  // what was found, and what follows from it
  std::string remedy;  // what to do next; "" if there is nothing to do
};

using DoctorChecks = std::vector<DoctorCheck>;

}  // namespace jprof::record
