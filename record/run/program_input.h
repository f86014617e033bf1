// Provides the standard input of a program that runs several times: every run reads the same bytes.
// - A regular file is read from the position that it had before the first run.
// - What the first run receives through a pipe or a socket is stored in an unlinked temporary file,
//   which the later runs read.
// - A terminal or another device is passed on as it is.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <string_view>
#include <thread>

#include "common/fd.h"
#include "common/result.h"

namespace jprof::record {

class ProgramInput {
 public:
  explicit ProgramInput(int fd = STDIN_FILENO);
  ~ProgramInput();
  ProgramInput(const ProgramInput&) = delete;
  ProgramInput& operator=(const ProgramInput&) = delete;

  // Call before each run. Returns the descriptor for the program, which is valid until End,
  // or a negative one for that of this process. Fails, with the reason, if there is no
  // input for this run.
  Result<int> Begin();

  // Call after each run. What the program did not read is not lost if it was stored, and the next
  // run may read it.
  void End();

  // Returns what the user should know before the program runs again, or an empty text.
  std::string_view RepeatNote() const;

 private:
  enum class Kind { kPassed, kTerminal, kFile, kStream };

  Result<int> CopyStream();
  Result<int> OpenStored();

  const int fd_;
  Kind kind_ = Kind::kPassed;
  off_t start_ = 0;      // of kFile, the position before the first run
  Fd stored_;            // of kStream, the temporary file; none before the first run
  int store_error_ = 0;  // the errno of a failed write to it
  Fd given_;             // what the program reads
  Fd stop_;              // an event that ends the copying thread
  std::thread copying_;
};

}  // namespace jprof::record
