// Shows on a terminal what is being done.
#pragma once

#include <string>

namespace jprof::record {

// A line on stderr that is rewritten while work goes on, and removed at the end. It is only shown
// if stderr is a terminal.
class StatusLine {
 public:
  StatusLine() = default;
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;
  ~StatusLine() { End(); }

  // Returns whether stderr is a terminal.
  static bool IsShown();

  // Replaces the line.
  void Show(std::string text);
  // Removes the line.
  void End();

 private:
  std::string shown_;
};

}  // namespace jprof::record
