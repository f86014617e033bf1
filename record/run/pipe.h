// Makes pipes whose ends are closed when a program is executed.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include "common/errno_text.h"
#include "common/fd.h"
#include "common/result.h"

namespace jprof::record {

struct Pipe {
  Fd read, write;
};

// Returns the same file by a descriptor above those of the standard streams, so that it can become
// one of them in a new process while the others are replaced. Negative if no descriptor is left.
inline Fd AboveStandardStreams(Fd fd) {
  if (fd.get() > STDERR_FILENO || !fd) return fd;
  return Fd(fcntl(fd.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

inline Result<Pipe> MakePipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return Fail("cannot make a pipe: {}", ErrnoText());
  Pipe pipe{AboveStandardStreams(Fd(ends[0])), AboveStandardStreams(Fd(ends[1]))};
  if (!pipe.read || !pipe.write) return Fail("cannot make a pipe: {}", ErrnoText());
  return pipe;
}

}  // namespace jprof::record
