// pmu_lab_loop TURNS: TURNS turns of the loop in the main thread and as many in a second one; for
// jprof stat, cpi and ptt, which count programs that know nothing of them.
#include "tests/pmu-lab/loop.h"

#include <cstdlib>
#include <thread>

int main(int count, char** arguments) {
  const uint64_t turns = count == 2 ? std::strtoull(arguments[1], nullptr, 10) : 0;
  if (turns == 0) return 2;
  std::thread([turns] { jprof::pmu_lab::Turn(turns); }).join();
  jprof::pmu_lab::Turn(turns);
}
