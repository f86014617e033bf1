#include "record/itrace/released_trace.h"

#include <thread>

namespace jprof::record {

Result<void> RunReleased(itrace::Tracer& tracer, HeldProgram* program, Result<void>& released) {
  std::thread release([&] {
    if (program != nullptr) released = program->ReleaseTraced();
  });
  auto run = tracer.Run();
  release.join();
  return run;
}

}  // namespace jprof::record
