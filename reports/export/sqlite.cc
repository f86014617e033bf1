// Writes SQLite: tables run, metric, thread, method and context, and views with inclusive values.
#include <fcntl.h>
#include <fmt/ranges.h>
#include <sqlite3.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include "common/errno_text.h"
#include "common/fd.h"
#include "model/tree/context_tree.h"
#include "profile/files/printable_text.h"
#include "reports/export/export_list.h"

namespace jprof::reports {
namespace {

constexpr char kTables[] = R"(
CREATE TABLE run (key TEXT NOT NULL, value TEXT NOT NULL);
CREATE TABLE metric (name TEXT PRIMARY KEY, unit TEXT NOT NULL,
  adds_up INTEGER NOT NULL, period INTEGER, period_unit TEXT);
CREATE TABLE thread (id INTEGER PRIMARY KEY, tid INTEGER, name TEXT NOT NULL);
CREATE TABLE method (id INTEGER PRIMARY KEY, name TEXT NOT NULL, readable TEXT NOT NULL,
  module TEXT, build_id TEXT);
)";

// The first placeholder is for the columns of the measures, the others for their sums over `d`.
constexpr char kContexts[] = R"(
CREATE TABLE context (id INTEGER PRIMARY KEY, last INTEGER NOT NULL, parent INTEGER,
  level INTEGER NOT NULL, outermost INTEGER NOT NULL, thread INTEGER NOT NULL REFERENCES thread,
  method INTEGER REFERENCES method, type TEXT NOT NULL{});
CREATE VIEW context_inclusive AS
  SELECT c.id AS id{} FROM context c JOIN context d ON d.id BETWEEN c.id AND c.last GROUP BY c.id;
CREATE VIEW method_self AS
  SELECT d.method AS method, m.name AS name, count(*) AS contexts{}
  FROM context d JOIN method m ON m.id = d.method GROUP BY d.method;
CREATE VIEW method_inclusive AS
  SELECT c.method AS method, m.name AS name{}
  FROM context c JOIN context d ON d.id BETWEEN c.id AND c.last JOIN method m ON m.id = c.method
  WHERE c.outermost GROUP BY c.method;
)";

// Quotes a name for SQL; it may contain any characters.
std::string Quoted(const std::string& name) {
  std::string quoted = "\"";
  for (const char c : name) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

class Database {
 public:
  explicit Database(const std::string& path) {
    // A link in the place of the new file is not followed.
    const Fd made(open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666));
    if (!made) {
      error_ = ErrnoText();
      return;
    }
    const std::string file = path.starts_with('/') ? path : "./" + path;  // "file:x" is no URI
    Check(sqlite3_open_v2(file.c_str(), &database_, SQLITE_OPEN_READWRITE, nullptr));
    // No journal is needed: the file is either complete or removed.
    Run("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE");
  }
  ~Database() { sqlite3_close_v2(database_); }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  void Run(const std::string& sql) {
    if (ok()) Check(sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr));
  }
  void Check(int result) {
    const bool good = result == SQLITE_OK || result == SQLITE_ROW || result == SQLITE_DONE;
    if (ok() && !good) error_ = database_ != nullptr ? sqlite3_errmsg(database_) : "no memory";
  }
  bool ok() const { return error_.empty(); }
  const std::string& error() const { return error_; }
  sqlite3* get() const { return database_; }

 private:
  sqlite3* database_ = nullptr;
  std::string error_;
};

// Prepares an INSERT, binds its values from left to right, and executes it by Row().
class Insert {
 public:
  Insert(Database& database, const std::string& table, size_t columns) : database_(database) {
    const std::string sql = fmt::format("INSERT INTO {} VALUES ({})", table,
                                        fmt::join(std::vector<const char*>(columns, "?"), ","));
    if (database.ok())
      database.Check(sqlite3_prepare_v2(database.get(), sql.c_str(), -1, &statement_, nullptr));
  }
  ~Insert() { sqlite3_finalize(statement_); }
  Insert(const Insert&) = delete;
  Insert& operator=(const Insert&) = delete;

  Insert& Integer(int64_t value) {
    sqlite3_bind_int64(statement_, ++bound_, value);
    return *this;
  }
  // `text` must live until Row(). An empty text is NULL if `nullable`.
  Insert& Text(std::string_view text, bool nullable = false) {
    if (text.empty() && nullable) return Null();
    sqlite3_bind_text(statement_, ++bound_, text.data(), static_cast<int>(text.size()),
                      SQLITE_STATIC);
    return *this;
  }
  Insert& Null() {
    sqlite3_bind_null(statement_, ++bound_);
    return *this;
  }
  void Row() {
    bound_ = 0;
    if (!database_.ok()) return;
    database_.Check(sqlite3_step(statement_));
    sqlite3_reset(statement_);
  }

 private:
  Database& database_;
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
};

// Returns the names of the columns of values: a measure's name, and "_2" as long as another column
// has that name. Upper and lower case do not distinguish columns.
std::vector<std::string> ColumnNames(const std::vector<model::Measure>& measures) {
  std::vector<std::string> taken = {"id",     "last",   "parent", "level", "outermost",
                                    "thread", "method", "type",   "name",  "contexts"};
  const auto lower = [](std::string name) {
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    return name;
  };
  std::vector<std::string> names;
  for (const model::Measure& measure : measures) {
    std::string name = measure.name;
    while (std::ranges::find(taken, lower(name)) != taken.end()) name += "_2";
    taken.push_back(lower(name));
    names.push_back(std::move(name));
  }
  return names;
}

class SqliteWriter {
 public:
  SqliteWriter(const model::ContextTree& tree, Database& database)
      : tree_(tree), database_(database), columns_(ColumnNames(tree.measures)) {}

  void Write() {
    database_.Run("BEGIN");
    database_.Run(kTables);
    database_.Run(ContextSql());
    WriteRun();
    WriteMetrics();
    WriteThreads();
    WriteMethods();
    WriteContexts();
    database_.Run("CREATE INDEX context_method ON context (method)");
    database_.Run("COMMIT");
  }

 private:
  std::string ContextSql() const {
    std::string columns, sums;
    for (size_t m = 0; m < columns_.size(); ++m) {
      const std::string name = Quoted(columns_[m]);
      columns += ", " + name + " INTEGER NOT NULL";
      if (tree_.measures[m].kind != model::Measure::Kind::kBound)
        sums += fmt::format(", sum(d.{0}) AS {0}", name);
    }
    return fmt::format(kContexts, columns, sums, sums, sums);
  }

  void WriteRun() {
    const model::RunDescription& run = tree_.run;
    Insert insert(database_, "run", 2);
    const auto add = [&](const char* key, const std::string& value) {
      if (!value.empty()) insert.Text(key).Text(value).Row();
    };
    add("jprof", run.jprof);
    add("mode", run.mode);
    add("command", run.command);
    add("jvm", run.jvm);
    add("machine", run.machine);
    add("start", run.start);
    add("pid", std::to_string(run.pid));
    add("duration_ns", std::to_string(run.duration_ns));
    for (const std::string& note : run.notes) add("note", note);
  }

  void WriteMetrics() {
    Insert insert(database_, "metric", 5);
    for (size_t m = 0; m < columns_.size(); ++m) {
      const model::Measure& measure = tree_.measures[m];
      insert.Text(columns_[m]).Text(measure.unit);
      insert.Integer(measure.kind != model::Measure::Kind::kBound);
      measure.period > 0 ? insert.Integer(measure.period) : insert.Null();
      insert.Text(measure.period > 0 ? measure.period_unit : "", true).Row();
    }
  }

  void WriteThreads() {
    Insert insert(database_, "thread", 3);
    for (size_t i = 0; i < tree_.threads.size(); ++i) {
      const model::ExportThread& thread = tree_.threads[i];
      insert.Integer(static_cast<int64_t>(i + 1));
      thread.tid != 0 ? insert.Integer(thread.tid) : insert.Null();
      insert.Text(thread.name).Row();
    }
  }

  void WriteMethods() {
    Insert insert(database_, "method", 5);
    for (size_t i = 0; i < tree_.frames.size(); ++i) {
      const model::ExportFrame& frame = tree_.frames[i];
      if (frame.kind == model::ExportFrame::Kind::kThread) continue;
      const model::ExportModule& module = tree_.modules[frame.module];
      insert.Integer(static_cast<int64_t>(i + 1)).Text(frame.full).Text(frame.readable);
      insert.Text(frame.module == 0 ? "" : module.path, true).Text(module.build_id, true).Row();
    }
  }

  // Numbers contexts in the order of a walk, so that those below a context are the ones up to
  // `last`.
  void WriteContexts() {
    Number();
    Insert insert(database_, "context", 8 + tree_.measures.size());
    std::vector<uint32_t> on_path(tree_.frames.size());
    int64_t level = -1;
    for (const model::NodeIndex root : tree_.roots) {
      model::VisitNodes(
          tree_.nodes, root,
          [&](model::NodeIndex node) {
            const bool outermost = on_path[IndexOf(tree_.nodes[node].frame)]++ == 0;
            WriteContext(insert, node, ++level, outermost);
            return database_.ok();
          },
          [&](model::NodeIndex node) {
            --level;
            --on_path[IndexOf(tree_.nodes[node].frame)];
          });
    }
  }

  void Number() {
    id_.resize(tree_.nodes.size());
    last_.resize(tree_.nodes.size());
    int64_t next = 1;
    for (const model::NodeIndex root : tree_.roots) {
      model::VisitNodes(
          tree_.nodes, root,
          [&](model::NodeIndex node) {
            id_[node] = next++;
            return true;
          },
          [&](model::NodeIndex node) { last_[node] = next - 1; });
    }
  }

  void WriteContext(Insert& insert, model::NodeIndex node, int64_t level, bool outermost) {
    const model::ContextNode& at = tree_.nodes[node];
    const bool is_root = at.parent == model::kNoNode;
    insert.Integer(id_[node]).Integer(last_[node]);
    is_root ? insert.Null() : insert.Integer(id_[at.parent]);
    insert.Integer(level).Integer(outermost).Integer(IndexOf(at.thread) + 1);
    is_root ? insert.Null() : insert.Integer(IndexOf(at.frame) + 1);
    insert.Text({&at.type, 1});
    for (size_t m = 0; m < tree_.measures.size(); ++m) insert.Integer(tree_.Value(node, m));
    insert.Row();
  }

  const model::ContextTree& tree_;
  Database& database_;
  std::vector<std::string> columns_;
  std::vector<int64_t> id_, last_;  // by node
};

}  // namespace

Result<void> WriteSqlite(const model::ContextTree& tree, const std::string& path) {
  Database database(path);
  if (database.ok()) SqliteWriter(tree, database).Write();
  if (database.ok()) return {};
  return Fail("cannot write {}: {}; choose another file with -o", profile::CleanText(path),
              database.error());
}

}  // namespace jprof::reports
