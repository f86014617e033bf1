#include "cpo/database/connection.h"

#include <fcntl.h>
#include <sqlite3.h>

#include <system_error>

#include "common/errno_text.h"
#include "common/fd.h"
#include "common/private_file.h"

namespace jprof::cpo {
namespace {

namespace fs = std::filesystem;

constexpr int kBusyMilliseconds = 20'000;  // sixteen processes at a time wait for less than one

// Returns what the user can do about a result of SQLite.
std::string_view NextStepFor(int result) {
  switch (result & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "another process holds it; try again when that has ended";
    case SQLITE_FULL:
    case SQLITE_IOERR:
      return "free space on its disk, or name another file with --database";
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_FORMAT:
      return "move it away, so that jprof learns anew, or name another file with --database";
    default:
      return "make it a file that you can write, or name another one with --database";
  }
}

// Makes the folder and an empty file that others cannot read; one that exists stays as it is.
// Returns an errno.
int MakePrivateFile(const fs::path& file) {
  std::error_code failed;
  if (file.has_parent_path()) fs::create_directories(file.parent_path(), failed);
  if (failed) return failed.value();
  const Fd made(open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, kPrivateFile));
  return made ? 0 : errno;
}

}  // namespace

Result<std::unique_ptr<Connection>> Connection::OpenToRead(const fs::path& file) {
  std::unique_ptr<Connection> connection(new Connection(file));
  const std::string name = fs::absolute(file).string();  // "file:x" is no URI
  // SQLite opens what cannot be written to read it. A journal that a killed process left is only
  // undone by a connection that may write.
  connection->Note(
      sqlite3_open_v2(name.c_str(), &connection->database_, SQLITE_OPEN_READWRITE, nullptr));
  if (connection->database_ != nullptr) {
    sqlite3_extended_result_codes(connection->database_, 1);
    sqlite3_busy_timeout(connection->database_, kBusyMilliseconds);
  }
  connection->Run("PRAGMA foreign_keys = ON");
  if (auto opened = connection->Check(); !opened) return std::unexpected(opened.error());
  return connection;
}

Result<std::unique_ptr<Connection>> Connection::Open(const fs::path& file) {
  std::error_code ignored;
  if (fs::exists(file, ignored) && !fs::is_regular_file(file, ignored))
    return Connection(file).Refuse("it is not a regular file; name another one with --database");
  if (const int error = MakePrivateFile(file); error != 0) {
    return Connection(file).Refuse(
        fmt::format("{}; name a file that you can write with --database", ErrnoText(error)));
  }
  auto connection = OpenToRead(file);
  if (connection && sqlite3_db_readonly((*connection)->get(), "main") == 1)
    return (*connection)->Refuse("it cannot be written; name another one with --database");
  return connection;
}

Connection::~Connection() { sqlite3_close_v2(database_); }

void Connection::Run(const char* sql) {
  if (ok()) Note(sqlite3_exec(database_, sql, nullptr, nullptr, nullptr));
}

void Connection::Note(int result) {
  if (!ok() || result == SQLITE_OK || result == SQLITE_ROW || result == SQLITE_DONE) return;
  const char* const text = database_ != nullptr ? sqlite3_errmsg(database_) : "no memory";
  error_ = Refuse(fmt::format("{}; {}", text, NextStepFor(result))).error();
}

Result<void> Connection::Check() {
  if (ok()) return {};
  Error error = *std::move(error_);
  error_.reset();
  return std::unexpected(std::move(error));
}

std::unexpected<Error> Connection::Refuse(std::string_view why) const {
  return Fail("cannot use the database {}: {}", file_.string(), why);
}

Query::Query(Connection& connection, std::string_view sql, Prepared) : connection_(connection) {
  if (!connection.ok()) return;
  connection.Note(sqlite3_prepare_v2(connection.get(), sql.data(), static_cast<int>(sql.size()),
                                     &statement_, nullptr));
}

Query::~Query() { sqlite3_finalize(statement_); }

bool Query::Next() {
  if (!connection_.ok() || statement_ == nullptr) return false;
  const int result = sqlite3_step(statement_);
  connection_.Note(result);
  return result == SQLITE_ROW;
}

int64_t Query::Integer(int column) const { return sqlite3_column_int64(statement_, column); }

double Query::Real(int column) const { return sqlite3_column_double(statement_, column); }

std::string Query::Text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  if (text == nullptr) return "";
  return {text, static_cast<size_t>(sqlite3_column_bytes(statement_, column))};
}

void Query::Bind(int at, int64_t value) {
  if (statement_ != nullptr) connection_.Note(sqlite3_bind_int64(statement_, at, value));
}

void Query::Bind(int at, double value) {
  if (statement_ != nullptr) connection_.Note(sqlite3_bind_double(statement_, at, value));
}

void Query::Bind(int at, std::string_view value) {
  if (statement_ == nullptr) return;
  const char* const text = value.data() != nullptr ? value.data() : "";
  connection_.Note(
      sqlite3_bind_text64(statement_, at, text, value.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
}

int64_t LastRow(const Connection& connection) {
  return sqlite3_last_insert_rowid(connection.get());
}

Transaction::Transaction(Connection& connection, Mode mode) : connection_(connection) {
  connection.Run(mode == Mode::kWrite ? "BEGIN IMMEDIATE" : "BEGIN");
}

Transaction::~Transaction() {
  if (is_open_ && sqlite3_get_autocommit(connection_.get()) == 0)
    sqlite3_exec(connection_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
}

Result<void> Transaction::Commit() {
  connection_.Run("COMMIT");
  auto done = connection_.Check();
  if (done) is_open_ = false;
  return done;
}

}  // namespace jprof::cpo
