#include "fleet/read/dump.h"

#include <filesystem>

#include "fleet/schema/schema.h"
#include "profile/files/out_file.h"

namespace jprof::fleet {
namespace {

constexpr char kRuns[] =
    "lower(hex(run)) AS run, toString(push) AS push, day, start, duration, "
    "service, version, host, mode, metrics, ticks_per_second, calls, cpu_seconds, finished, "
    "contexts";
constexpr char kContexts[] =
    "lower(hex(context)) AS context, lower(hex(parent)) AS parent, toString(frame) AS frame, type, "
    "depth";
constexpr char kFrames[] =
    "toString(frame) AS frame, any(kind) AS kind, groupBitOr(flags) AS flags, any(class) AS class, "
    "any(name) AS name, any(signature) AS signature";

std::string CountsSql() {
  std::string sql = "day, service, lower(hex(context)) AS context, toString(push) AS push, type";
  for (const char* column : {"entries_0", "entries_1", "exits_0", "exits_1", "dispatches"})
    sql += fmt::format(", {}", column);
  for (size_t m = 1; m <= 8; ++m) sql += fmt::format(", value_{}", m);
  return sql;
}

}  // namespace

Result<size_t> Dump(Server& server, const Selection& selection, const std::string& folder,
                    bool json) {
  if (auto checked = CheckSchema(server); !checked) return std::unexpected(checked.error());
  const auto runs = SelectRuns(server, selection);
  if (!runs) return std::unexpected(runs.error());
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return Fail("cannot make the folder {}: {}", folder, error.message());
  const char* const extension = json ? "json" : "csv";
  for (const char* table : {"runs", "counts", "contexts", "frames"}) {
    const std::string path = fmt::format("{}/{}.{}", folder, table, extension);
    if (std::filesystem::exists(path, error))
      return WrongUse("{} exists already: choose another folder with -o, or remove it", path);
  }
  const std::string of_runs = fmt::format("{} AND push GLOBAL IN selected", PlacesOf(*runs));
  const std::string contexts = "(SELECT DISTINCT context FROM counts WHERE " + of_runs + ")";
  const std::string frames = "(SELECT DISTINCT frame FROM counts WHERE " + of_runs + ")";
  // The columns are renamed outside: within, the names are those of the table.
  const auto from = [](std::string_view columns, std::string_view table,
                       const std::string& condition) {
    return fmt::format("SELECT {} FROM (SELECT * FROM {} WHERE {})", columns, table, condition);
  };
  const std::pair<const char*, std::string> queries[] = {
      {"runs", from(kRuns, "runs", of_runs)},
      {"counts", from(CountsSql(), "counts", of_runs)},
      {"contexts",
       from(fmt::format("DISTINCT {}", kContexts), "contexts", "context GLOBAL IN " + contexts)},
      {"frames", from(kFrames, "frames", "frame GLOBAL IN " + frames) + " GROUP BY frame"},
  };
  for (const auto& [table, sql] : queries) {
    profile::OutFile out(fmt::format("{}/{}.{}", folder, table, extension));
    const auto dumped = server.QueryAs(sql, json ? "JSONEachRow" : "CSVWithNames",
                                       {PushesOf(*runs)}, [&](std::string_view piece) {
                                         out.Write(piece.data(), piece.size());
                                         return !out.failed();
                                       });
    // A file that cannot be written ends the query, too, and is the reason.
    if (auto closed = out.Close(); !closed) return std::unexpected(closed.error());
    if (!dumped) return std::unexpected(dumped.error());
  }
  return runs->size();
}

}  // namespace jprof::fleet
