// Shows long output on a terminal page by page.
#pragma once

#include <csignal>
#include <cstddef>
#include <cstdio>

namespace jprof::cli {

// Returns the number of characters in a line of the terminal on standard output, or 0 if standard
// output is no terminal.
size_t TerminalWidth();

// Runs the pager that PAGER names, or less, if standard output is a terminal. less ends at once if
// everything fits one screen.
class Pager {
 public:
  // There is no pager unless `wanted`, if standard output is no terminal or TERM names none that
  // can move its cursor, if PAGER is empty or "cat", or if there is no such program.
  explicit Pager(bool wanted);
  Pager(const Pager&) = delete;
  Pager& operator=(const Pager&) = delete;
  // Waits until the user leaves the pager.
  ~Pager();

  // Starts the pager at the first call. Returns where to write: its input, or standard output.
  // Until the pager ends, SIGINT is the pager's, and SIGPIPE is ignored.
  std::FILE* file();

 private:
  void Start();

  bool wanted_;
  std::FILE* pipe_ = nullptr;
  struct sigaction interrupt_ = {}, pipe_signal_ = {};  // what they were
};

}  // namespace jprof::cli
