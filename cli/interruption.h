// SIGINT and SIGTERM as something that a loop asks for. While an Interruption lives, they do not
// end this program.
#pragma once

#include <signal.h>

namespace jprof::cli {

class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  static int Number();     // of the last one, 0: none came
  static bool OnlyToUs();  // sent by someone; a terminal sends it to all that it runs
  static void Forget();    // none came

 private:
  struct sigaction before_int_ = {}, before_term_ = {};
};

}  // namespace jprof::cli
