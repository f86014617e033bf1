// Prints messages for the user.
#pragma once

#include <string>
#include <vector>

namespace jprof::setup {

// Prints "jprof: TEXT" to standard error, or passes it to the collector, with a question mark for
// each control character: paths may have any. Must not be called in a signal handler or a probe.
void PrintMessage(const std::string& text);

// Collects the messages of its thread while it exists, if it is `active`. An agent that is attached
// reports to its client, not to the program's standard error.
class MessageCollector {
 public:
  explicit MessageCollector(bool active);
  ~MessageCollector();
  MessageCollector(const MessageCollector&) = delete;
  MessageCollector& operator=(const MessageCollector&) = delete;

  const std::vector<std::string>& lines() const { return lines_; }

 private:
  friend void PrintMessage(const std::string& text);
  std::vector<std::string> lines_;
};

}  // namespace jprof::setup
