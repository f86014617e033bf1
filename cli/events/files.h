// What `jprof events` does with files: specifications of events, and traces.
#pragma once

#include <string>

#include "common/result.h"

namespace jprof::cli {

struct EventFilesArguments {
  std::string language, out, identities, by, event;
  std::string format = "text";
};

// Writes the files of a language into a directory, which is made if there is none.
Result<int> GenerateEvents(const std::string& specification, const EventFilesArguments& arguments);

// Prints the identity of each event, or compares them with those that were kept. Returns 1 if an
// event has changed without a new version.
Result<int> CheckEvents(const std::string& specification, const EventFilesArguments& arguments);

// Prints how often each event is in a trace, and its statistics.
Result<int> ShowEvents(const std::string& trace, const EventFilesArguments& arguments);

// Prints the events of a trace, those of a running program as they come, until the trace is closed
// or its process has ended.
Result<int> FollowEvents(const std::string& trace, const EventFilesArguments& arguments);

}  // namespace jprof::cli
