// SIGINT and SIGTERM as something that a loop asks for. While an Interruption lives, they do not
// end this program. Those that are ignored (nohup, & in a script) stay so, here and in what is
// started.
#pragma once

#include <signal.h>

#include "record/launcher.h"

namespace jprof::record {

class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  static int Number();  // of the last one, 0: none came
  // Sends the last one on, if only we got it (a terminal sends it to all that it runs); then none
  // came.
  static void PassTo(const HeldProgram& program);

 private:
  struct sigaction before_int_ = {}, before_term_ = {};
};

}  // namespace jprof::record
