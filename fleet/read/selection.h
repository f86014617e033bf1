// Which runs of a fleet a URL selects.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/result.h"
#include "fleet/server/server.h"

namespace jprof::fleet {

// The parameters of a URL. Empty texts select everything.
struct Selection {
  std::string service, version, host, mode, metrics;
  std::vector<std::pair<std::string, std::string>> labels;
  uint64_t from_ns = 0, to_ns = UINT64_MAX;  // of the start of a run, since 1970
  double min_share = 1e-4;                   // contexts with less are loaded as one row
};

// Parses the parameters. A time is a date (2026-11-29), a moment (2026-11-29T10:00) in UTC, or how
// long ago it was (7d, 12h, 30m) by `now_ns`. Fails with kWrongUse if one is not known or has no
// such value.
Result<Selection> SelectionOf(const Url& url, uint64_t now_ns);
uint64_t NowNanos();

struct SelectedRun {
  uint64_t push = 0, start = 0, duration = 0, calls = 0;
  std::string service, version, host, mode, shape, metrics;
  bool sites = false;
  double ticks_per_second = 0;
  double cpu_seconds = 0;

  std::vector<std::string> MetricNames() const;
};

// Returns the runs in the order in which they started. Of a run that was pushed several times the
// last push counts. Fails, also if there are none; the message then lists what there is.
Result<std::vector<SelectedRun>> SelectRuns(Server& server, const Selection& selection);

// Fails with kWrongUse if the runs cannot be added because they recorded different things. The
// message lists these.
Result<void> CheckOneShape(const std::vector<SelectedRun>& runs);

// Returns the table `name` with the pushes of the runs.
SentTable PushesOf(const std::vector<SelectedRun>& runs, const char* name = "selected");

// Returns the condition on the days of the runs, which are partitions of the tables.
std::string DaysOf(const std::vector<SelectedRun>& runs);
// Returns the same with a condition on their services, for tables that have this column.
std::string PlacesOf(const std::vector<SelectedRun>& runs);

}  // namespace jprof::fleet
