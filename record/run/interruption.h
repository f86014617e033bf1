// Turns SIGINT, SIGTERM and SIGHUP into a state that a loop polls. While an Interruption exists,
// they do not end this program. A signal that is ignored (nohup, & in a script) stays ignored, here
// and in the programs that are started.
#pragma once

#include <signal.h>

#include "record/run/launcher.h"

namespace jprof::record {

class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  static int Number();      // the last signal, or 0 if none arrived
  static int TakeNumber();  // the same, and clears it
  // Passes the last signal on if only this process received it, and clears it. A terminal sends the
  // signal to the program as well.
  static void PassTo(const HeldProgram& program);

 private:
  struct sigaction before_int_ = {}, before_term_ = {}, before_hup_ = {};
};

}  // namespace jprof::record
