// Runs a program several times as if each run were the only one. Every run gets the same standard
// input, its output goes where it would without jprof, and the outputs are compared.
#pragma once

#include <string>

#include "common/result.h"
#include "profile/read/combined.h"
#include "record/run/launcher.h"
#include "record/run/program_input.h"
#include "record/run/program_output.h"

namespace jprof::record {

struct ProgramRun {
  Outcome outcome;
  ProgramOutput::Comparison output;  // with the first run
};

class ProgramRuns {
 public:
  // Returns what the user should know before the second run, and an empty text before the others.
  std::string_view RepeatNote() const { return runs_ == 1 ? input_.RepeatNote() : ""; }

  // The next run is the first one with other arguments: no output is compared with those before.
  void ChangeArguments() { output_.Forget(); }

  // Runs the program like record::Run. Fails if it could not be started, or if there
  // is no input for it.
  Result<ProgramRun> Run(const Launch& launch, const ProcessObserver& observe = {});

 private:
  size_t runs_ = 0;
  ProgramInput input_;
  ProgramOutput output_;
};

}  // namespace jprof::record
