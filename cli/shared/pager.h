// Shows long output on a terminal page by page.
#pragma once

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
  // Starts no pager unless `wanted`, if standard output is no terminal, if PAGER is empty or "cat",
  // or if there is no such program.
  explicit Pager(bool wanted);
  Pager(const Pager&) = delete;
  Pager& operator=(const Pager&) = delete;
  // Waits until the user leaves the pager.
  ~Pager();

  // Returns where to write: the pager's input, or standard output.
  std::FILE* file() const { return pipe_ != nullptr ? pipe_ : stdout; }

 private:
  std::FILE* pipe_ = nullptr;
};

}  // namespace jprof::cli
