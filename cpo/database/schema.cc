#include "cpo/database/schema.h"

namespace jprof::cpo {
namespace {

constexpr int64_t kApplicationId = 0x6a70726f;  // "jpro"

// Version 1. States and kinds are the numbers of the enumerations in records.h.
constexpr char kFirst[] = R"(
CREATE TABLE program (id INTEGER PRIMARY KEY, name TEXT NOT NULL, identity TEXT NOT NULL,
  arguments TEXT NOT NULL, UNIQUE (identity, arguments));
CREATE TABLE machine (id INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL UNIQUE);
CREATE TABLE run (id INTEGER PRIMARY KEY, program INTEGER NOT NULL REFERENCES program ON DELETE CASCADE,
  machine INTEGER NOT NULL REFERENCES machine, number INTEGER NOT NULL, agent TEXT NOT NULL,
  kind INTEGER NOT NULL CHECK (kind BETWEEN 0 AND 2),
  state INTEGER NOT NULL CHECK (state BETWEEN 0 AND 2), comparable INTEGER NOT NULL,
  exit_code INTEGER NOT NULL DEFAULT 0, began_at INTEGER NOT NULL,
  pid INTEGER NOT NULL, pid_start INTEGER NOT NULL, boot TEXT NOT NULL,
  UNIQUE (program, machine, number));
CREATE TABLE figure (run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE, name TEXT NOT NULL,
  value REAL NOT NULL, unit TEXT NOT NULL, PRIMARY KEY (run, name));
CREATE TABLE allocation_group (id INTEGER PRIMARY KEY,
  program INTEGER NOT NULL REFERENCES program ON DELETE CASCADE, kind TEXT NOT NULL,
  key TEXT NOT NULL, UNIQUE (program, kind, key));
CREATE TABLE directive (id INTEGER PRIMARY KEY,
  program INTEGER NOT NULL REFERENCES program ON DELETE CASCADE,
  machine INTEGER NOT NULL REFERENCES machine, agent TEXT NOT NULL,
  allocation_group INTEGER NOT NULL REFERENCES allocation_group ON DELETE CASCADE,
  text TEXT NOT NULL, setting TEXT NOT NULL, cost TEXT NOT NULL,
  state INTEGER NOT NULL CHECK (state BETWEEN 0 AND 3), reason TEXT NOT NULL,
  UNIQUE (program, machine, agent, allocation_group));
CREATE TABLE prediction (directive INTEGER NOT NULL REFERENCES directive ON DELETE CASCADE,
  figure TEXT NOT NULL, unit TEXT NOT NULL, value REAL NOT NULL, low REAL NOT NULL,
  high REAL NOT NULL, guard INTEGER NOT NULL, place INTEGER NOT NULL,
  PRIMARY KEY (directive, figure));
CREATE TABLE validation (directive INTEGER NOT NULL REFERENCES directive ON DELETE CASCADE,
  figure TEXT NOT NULL, value REAL NOT NULL, low REAL NOT NULL, high REAL NOT NULL,
  runs INTEGER NOT NULL, PRIMARY KEY (directive, figure));
CREATE TABLE trial (run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
  directive INTEGER NOT NULL REFERENCES directive ON DELETE CASCADE, applied INTEGER NOT NULL,
  PRIMARY KEY (run, directive));
)";

// Version 2: directives compete for what the machine has, and the program of a run is known, so
// that its claims hold while it lives.
constexpr char kClaims[] = R"(
ALTER TABLE directive ADD COLUMN resource TEXT NOT NULL DEFAULT '';
ALTER TABLE directive ADD COLUMN amount INTEGER NOT NULL DEFAULT 0;
ALTER TABLE run ADD COLUMN program_pid INTEGER NOT NULL DEFAULT 0;
ALTER TABLE run ADD COLUMN program_start INTEGER NOT NULL DEFAULT 0;
CREATE TABLE claim (run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
  directive INTEGER NOT NULL REFERENCES directive ON DELETE CASCADE,
  machine INTEGER NOT NULL REFERENCES machine, resource TEXT NOT NULL,
  amount INTEGER NOT NULL CHECK (amount > 0), benefit REAL NOT NULL,
  yielded_to INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (run, directive));
)";

constexpr const char* kSteps[] = {kFirst, kClaims};
static_assert(std::size(kSteps) == kSchemaVersion);

// Each returns rows only if the tables contradict themselves.
constexpr const char* kContradictions[] = {
    "SELECT 1 FROM claim c JOIN run r ON r.id = c.run WHERE r.state = 1",  // kEnded
    "SELECT 1 FROM figure f JOIN run r ON r.id = f.run WHERE r.state != 1",
    "SELECT 1 FROM directive d WHERE NOT EXISTS (SELECT 1 FROM prediction WHERE directive = d.id)",
    R"(SELECT 1 FROM trial t JOIN run r ON r.id = t.run JOIN directive d ON d.id = t.directive
       WHERE r.program != d.program OR r.machine != d.machine)",
    "SELECT 1 FROM directive WHERE state = 3 AND reason = ''",  // kWithdrawn
};

int64_t Pragma(Connection& connection, const char* name) {
  Query query(connection, fmt::format("PRAGMA {}", name));
  return query.Next() ? query.Integer(0) : 0;
}

bool HasTables(Connection& connection) {
  Query query(connection, "SELECT 1 FROM sqlite_master");
  return query.Next();
}

// Returns the version of the tables, 0 if there are none. Fails if they are not those of jprof.
Result<int> VersionOf(Connection& connection) {
  const bool has_tables = HasTables(connection);
  const int64_t application = Pragma(connection, "application_id");
  const int64_t version = Pragma(connection, "user_version");
  if (auto read = connection.Check(); !read) return std::unexpected(read.error());
  if (!has_tables) return 0;
  if (application != kApplicationId || version < 1)
    return connection.Refuse("it belongs to another program; name another file with --database");
  if (version > kSchemaVersion) {
    return connection.Refuse(
        fmt::format("it has version {} of a newer jprof, and this one knows version {}; use the "
                    "newer jprof, or name another file with --database",
                    version, kSchemaVersion));
  }
  return static_cast<int>(version);
}

}  // namespace

Result<void> PrepareSchema(Connection& connection) {
  auto version = VersionOf(connection);
  if (!version) return std::unexpected(version.error());
  if (*version == kSchemaVersion) return {};
  Transaction transaction(connection);
  version = VersionOf(connection);  // another process may have migrated it meanwhile
  if (!version) return std::unexpected(version.error());
  for (int step = *version; step < kSchemaVersion; ++step) connection.Run(kSteps[step]);
  connection.Run(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplicationId,
                             kSchemaVersion)
                     .c_str());
  return transaction.Commit();
}

Result<bool> CheckSchema(Connection& connection) {
  const auto version = VersionOf(connection);
  if (!version) return std::unexpected(version.error());
  if (*version == 0 || *version == kSchemaVersion) return *version != 0;
  return connection.Refuse("an older jprof wrote it; the next `jprof optimize -- CMD` migrates it");
}

Result<void> CheckConsistency(Connection& connection) {
  std::string found;
  {
    Query integrity(connection, "PRAGMA integrity_check(1)");
    if (integrity.Next() && integrity.Text(0) != "ok") found = integrity.Text(0);
    Query keys(connection, "PRAGMA foreign_key_check");
    if (keys.Next()) found = "a row refers to one that is missing";
    for (const char* sql : kContradictions) {
      Query query(connection, sql);
      if (query.Next()) found = fmt::format("contradiction: {}", sql);
    }
  }
  if (auto read = connection.Check(); !read) return read;
  if (!found.empty())
    return connection.Refuse(found +
                             "; move it away, so that jprof learns anew, or name another "
                             "file with --database");
  return {};
}

}  // namespace jprof::cpo
