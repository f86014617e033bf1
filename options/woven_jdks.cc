#include "options/woven_jdks.h"

namespace jprof::options {

Result<void> CheckWovenJdk(int version) {
  if (version == 19 || version == 20)
    return Fail(
        "woven counting is wrong on JDK 19 and 20, whose virtual threads may end on another "
        "carrier than those of later JDKs");
  if (version > kLastWovenJdk)
    return Fail("woven counting knows JDKs up to {}, not {}", kLastWovenJdk, version);
  return {};
}

}  // namespace jprof::options
