// Controls the open trace of a running program: lists and sets the levels of its events, and resets
// their statistics. A thread of the program serves the socket .jprof-control in the trace's
// directory (events/runtime/control.c, events/java/jprof/events/Control.java), only for its own
// user and for root.
//
// The client sends lines and shuts its side down:
//   list                    the reply has a line "event LEVEL VERSION NAME" for each event
//   level LEVEL PATTERN     the reply is the number of events
//   reset
// The reply to each ends with "ok NUMBER" or "error TEXT". A level is a sum of 1, statistics, and
// 2, log.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace jprof::events {

struct LiveTrace {
  uint32_t pid = 0;  // of the process that writes it
  std::string directory;
};

// Returns the traces that can be controlled, of all processes of this process's network namespace
// or of that of `pid`, if it is not 0.
std::vector<LiveTrace> LiveTraces(uint32_t pid);

struct EventLevel {
  std::string name;
  uint32_t version = 0;
  int level = 0;
};

struct NewLevel {
  std::string pattern;
  int level = 0;
};

// Parses PATTERN=LEVEL, where a level is off, log, statistics, or log+statistics. Fails (kWrongUse)
// if it is not that.
Result<NewLevel> ParseNewLevel(std::string_view text);

// Returns the name of a level, as ParseNewLevel takes it.
std::string_view LevelName(int level);

// Each waits for the reply at most for so many seconds. Fails (kWrongUse) if no process serves the
// trace, (kFailed) if the process does not reply.
Result<std::vector<EventLevel>> ListLevels(const std::string& directory, double timeout);
// Sets all levels in one exchange. Returns how many events each names.
Result<std::vector<uint64_t>> SetLevels(const std::string& directory,
                                        const std::vector<NewLevel>& levels, double timeout);
Result<void> ResetStatistics(const std::string& directory, double timeout);

}  // namespace jprof::events
