#include "fleet/schema/schema.h"

#include <ctime>
#include <optional>
#include <vector>

#include "fleet/server/row_binary.h"
#include "profile/files/printable_text.h"

namespace jprof::fleet {
namespace {

constexpr char kVersions[] = "jprof_schema";  // the table of versions that were applied

// A table that stands for all shards, and by what rows are distributed.
struct Spread {
  const char* table;
  const char* key;
};
constexpr Spread kTables[] = {{"frames", "frame"},
                              {"contexts", "cityHash64(context)"},
                              {"counts", "push"},
                              {"threads", "push"},
                              {"runs", "push"}};

struct Applied {
  uint32_t version = 0;
  std::string cluster;
};

std::string Replaced(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

// Splits a file at the semicolons that end lines, without comments.
std::vector<std::string> Statements(std::string_view text) {
  std::vector<std::string> statements;
  std::string statement;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.starts_with("--")) continue;
    statement.append(line).push_back('\n');
    if (!line.ends_with(';')) continue;
    statement.resize(statement.size() - 2);
    statements.push_back(std::move(statement));
    statement.clear();
  }
  return statements;
}

// Returns what was applied to the database; nothing if it has no table of versions.
Result<std::optional<Applied>> AppliedTo(Server& server) {
  const auto exists = server.Query(
      fmt::format("SELECT count() FROM system.tables WHERE database = {} AND name = {}",
                  Quoted(server.url().database), Quoted(kVersions)));
  if (!exists) return std::unexpected(exists.error());
  if (RowReader(*exists).Get<uint64_t>() == 0) return std::nullopt;
  const auto found =
      server.Query(fmt::format("SELECT max(version), argMax(cluster, version) FROM {}", kVersions));
  if (!found) return std::unexpected(found.error());
  RowReader row(*found);
  Applied applied;
  applied.version = row.Get<uint32_t>();
  applied.cluster = row.Text();
  return applied;
}

std::unexpected<Error> Newer(const Server& server, uint32_t version) {
  return Fail(
      "{}: its tables have version {}, and this jprof knows versions up to {}: install the jprof "
      "that made them, or a later one",
      server.url().Text(), version, SchemaFiles().size());
}

Result<void> CheckCluster(Server& server, const std::string& cluster) {
  const auto found = server.Query(
      fmt::format("SELECT count() FROM system.clusters WHERE cluster = {}", Quoted(cluster)));
  if (!found) return std::unexpected(found.error());
  if (RowReader(*found).Get<uint64_t>() > 0) return {};
  return WrongUse(
      "{}: the server knows no cluster {}: add it to <remote_servers> of its configuration, or "
      "name one that is there (table system.clusters)",
      server.url().Text(), profile::CleanText(cluster));
}

Result<void> Apply(Server& server, uint32_t version, const std::string& cluster) {
  const char* local = cluster.empty() ? "" : "_local";
  for (const std::string& statement : Statements(SchemaFiles()[version - 1])) {
    if (auto done = server.Execute(Replaced(statement, "{local}", local)); !done) return done;
  }
  for (const Spread& table : kTables) {
    if (cluster.empty()) break;
    auto done = server.Execute(fmt::format(
        "CREATE TABLE IF NOT EXISTS {0} AS {0}_local ENGINE = Distributed({1}, {2}, {0}_local, "
        "{3})",
        table.table, Quoted(cluster), server.url().database, table.key));
    if (!done) return done;
  }
  return server.Execute(fmt::format("INSERT INTO {} (version, cluster) VALUES ({}, {})", kVersions,
                                    version, Quoted(cluster)));
}

}  // namespace

Result<InitOutcome> Init(Server& server, const std::string& cluster) {
  if (!cluster.empty()) {
    // The database need not exist yet, but the question needs none.
    Url any = server.url();
    any.database = "default";
    Server asked(any);
    if (auto known = CheckCluster(asked, cluster); !known) return std::unexpected(known.error());
  }
  auto done = server.Execute("CREATE DATABASE IF NOT EXISTS " + server.url().database, true);
  if (!done) return std::unexpected(done.error());
  const auto applied = AppliedTo(server);
  if (!applied) return std::unexpected(applied.error());
  const Applied before = applied->value_or(Applied{});
  const auto latest = static_cast<uint32_t>(SchemaFiles().size());
  if (before.version > latest) return Newer(server, before.version);
  if (before.version > 0 && before.cluster != cluster) {
    return WrongUse(
        "{}: its tables were made {}: repeat the command with that, or use another "
        "database",
        server.url().Text(),
        before.cluster.empty() ? std::string("without --cluster")
                               : "with --cluster " + before.cluster);
  }
  done = server.Execute(fmt::format(
      "CREATE TABLE IF NOT EXISTS {} (version UInt32, cluster String, applied DateTime DEFAULT "
      "now()) ENGINE = MergeTree() ORDER BY version",
      kVersions));
  for (uint32_t version = before.version + 1; done && version <= latest; ++version)
    done = Apply(server, version, cluster);
  if (!done) return std::unexpected(done.error());
  return InitOutcome{before.version, latest};
}

Result<void> CheckSchema(Server& server) {
  const auto applied = AppliedTo(server);
  if (!applied) return std::unexpected(applied.error());
  const uint32_t version = applied->value_or(Applied{}).version;
  if (version == 0) {
    return Fail("{0}: the database has no tables of jprof; make them: jprof fleet init {0}",
                server.url().Text());
  }
  if (version > SchemaFiles().size()) return Newer(server, version);
  if (version == SchemaFiles().size()) return {};
  return Fail(
      "{0}: its tables are of an older version; bring them up to date: jprof fleet init {0}",
      server.url().Text());
}

Result<uint64_t> RemoveOld(Server& server, uint64_t days) {
  const auto applied = AppliedTo(server);
  if (!applied) return std::unexpected(applied.error());
  const bool spread = *applied && !(*applied)->cluster.empty();
  // Days of runs are those of UTC. A date has 16 bits: one before 1970 would be one of the future.
  const auto found = server.Query(fmt::format(
      "SELECT DISTINCT table, partition FROM system.parts WHERE database = {} AND active AND table "
      "IN ({}) AND partition < toString(toYYYYMMDD(toDate(greatest("
      "toInt64(intDiv(toUInt32(now()), 86400)) - {}, 0)))) "
      "ORDER BY table LIKE 'runs%' DESC, table, partition",
      Quoted(server.url().database),
      spread ? "'counts_local', 'threads_local', 'runs_local'" : "'counts', 'threads', 'runs'",
      days));
  if (!found) return std::unexpected(found.error());
  uint64_t removed = 0;
  for (RowReader rows(*found); !rows.AtEnd();) {
    const std::string table(rows.Text()), partition(rows.Text());
    if (!rows.ok()) break;
    removed += table.starts_with("runs");
    const auto done =
        server.Execute(fmt::format("ALTER TABLE {} DROP PARTITION {}", table, partition));
    if (!done) return std::unexpected(done.error());
  }
  return removed;
}

}  // namespace jprof::fleet
