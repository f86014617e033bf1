// Compares the standard output of the runs of a program without changing where it goes.
// - The bytes that each run wrote to a regular file are read again.
// - In place of a pipe or a socket, the program writes to a pipe that a thread copies to the real
//   one. When the real one is closed by its reader, so is the program's.
// - A terminal or another device is passed on as it is, and so is a stream that is also the
//   standard error, because the order of the two would change; these are not compared.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/fd.h"
#include "common/result.h"
#include "profile/read/combined.h"

namespace jprof::record {

// The length and the hash (FNV-1a) of an output's bytes.
class OutputSum {
 public:
  void Add(std::string_view bytes);
  bool operator==(const OutputSum&) const = default;

 private:
  uint64_t length_ = 0;
  uint64_t hash_ = 0xcbf29ce484222325;
};

class ProgramOutput {
 public:
  explicit ProgramOutput(int fd = STDOUT_FILENO, int error = STDERR_FILENO);
  // Waits until everything that was written has been copied. Processes that a run left behind lose
  // their standard output if they write to the pipe.
  ~ProgramOutput();
  ProgramOutput(const ProgramOutput&) = delete;
  ProgramOutput& operator=(const ProgramOutput&) = delete;

  // Call before each run. Returns the descriptor for the program, which is valid until End, or a
  // negative one for that of this process.
  Result<int> Begin();

  struct Comparison {
    profile::Run::Output output = profile::Run::Output::kUnknown;
    std::string note;  // why it was not compared; empty if it was, and for the first run
  };
  // Call after each run, when the program has ended. Returns when its output has been copied.
  Comparison End();

  // The next run becomes the first one, with which later ones are compared.
  void Forget() { first_.reset(); }

 private:
  class Forwarding;

  Result<OutputSum> SumOfFile() const;
  Result<OutputSum> SumOfStream();

  const int fd_;
  bool is_file_ = false, is_stream_ = false;
  std::string note_;                                     // why outputs are not compared
  off_t start_ = 0;                                      // of this run in a file
  Fd given_;                                             // what the program writes to
  std::vector<std::unique_ptr<Forwarding>> forwarding_;  // the last one is of this run
  std::optional<Result<OutputSum>> first_;               // of the first run
};

}  // namespace jprof::record
