#include "record/run/this_machine.h"

#include <sys/utsname.h>

#include "ptm/machine.h"

namespace jprof::record {

calibrate::Fingerprint ThisMachine() {
  utsname name = {};
  uname(&name);
  const ptm::Machine machine = ptm::ReadMachine();
  return {{"arch", name.machine},
          {"cpu", machine.cpu},
          {"kernel", name.release},
          {"virtual", machine.virtual_machine ? "yes" : "no"}};
}

}  // namespace jprof::record
