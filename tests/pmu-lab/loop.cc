// pmu_lab_loop TURNS: runs TURNS turns of the loop in the main thread and in a second one; for
// jprof stat, cpi and ptt, which count unmodified programs.
#include "tests/pmu-lab/loop.h"

#include <cstdlib>
#include <thread>

int main(int count, char** arguments) {
  const uint64_t turns = count == 2 ? std::strtoull(arguments[1], nullptr, 10) : 0;
  if (turns == 0) return 2;
  std::thread([turns] { jprof::pmu_lab::Turn(turns); }).join();
  jprof::pmu_lab::Turn(turns);
}
