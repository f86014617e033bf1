// A connection to an SQLite file, and statements on it. An error is kept: what follows it does
// nothing, and Transaction::Commit, or Check, returns it. One thread at a time may use a
// connection.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace jprof::cpo {

class Connection {
 public:
  // Opens a file, which is created, readable by this user only, if it does not exist. Fails if it
  // cannot be written.
  static Result<std::unique_ptr<Connection>> Open(const std::filesystem::path& file);
  // Opens an existing file to read it.
  static Result<std::unique_ptr<Connection>> OpenToRead(const std::filesystem::path& file);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  sqlite3* get() const { return database_; }
  bool ok() const { return !error_; }

  // Executes statements without values.
  void Run(const char* sql);
  // Keeps the error if `result`, a result of SQLite, is one. Only the first error is kept.
  void Note(int result);
  // Returns the kept error, which is then forgotten. The message names the file and what to do.
  Result<void> Check();
  // Returns an error that names the file.
  std::unexpected<Error> Refuse(std::string_view why) const;

 private:
  explicit Connection(std::filesystem::path file) : file_(std::move(file)) {}

  std::filesystem::path file_;
  sqlite3* database_ = nullptr;
  std::optional<Error> error_;
};

// A statement with its values, and the rows that it returns.
class Query {
 public:
  // Binds the values, which are integers, floating-point numbers and texts, in their order.
  template <typename... Values>
  Query(Connection& connection, std::string_view sql, const Values&... values)
      : Query(connection, sql, Prepared()) {
    int at = 0;
    (Bind(++at, values), ...);
  }
  ~Query();
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;

  // Goes to the first or the next row. Returns false if there is none, and after an error.
  bool Next();

  int64_t Integer(int column) const;
  double Real(int column) const;
  std::string Text(int column) const;

 private:
  struct Prepared {};
  Query(Connection& connection, std::string_view sql, Prepared);
  void Bind(int at, int64_t value);
  void Bind(int at, int value) { Bind(at, int64_t{value}); }
  void Bind(int at, uint32_t value) { Bind(at, static_cast<int64_t>(value)); }
  void Bind(int at, uint64_t value) { Bind(at, static_cast<int64_t>(value)); }
  void Bind(int at, double value);
  void Bind(int at, std::string_view value);

  Connection& connection_;
  sqlite3_stmt* statement_ = nullptr;
};

// Executes a statement with values that returns no rows.
template <typename... Values>
void Execute(Connection& connection, std::string_view sql, const Values&... values) {
  Query query(connection, sql, values...);
  while (query.Next()) {
  }
}

// Executes the same and returns the id of the row that it inserted.
template <typename... Values>
int64_t Insert(Connection& connection, std::string_view sql, const Values&... values);

int64_t LastRow(const Connection& connection);

template <typename... Values>
int64_t Insert(Connection& connection, std::string_view sql, const Values&... values) {
  Execute(connection, sql, values...);
  return LastRow(connection);
}

// A transaction. One that writes holds the file's lock for writing from its beginning, so that what
// it reads is still true when it writes; one that reads sees the file as of one moment. The
// destructor undoes it unless it was committed.
class Transaction {
 public:
  enum class Mode { kWrite, kRead };
  explicit Transaction(Connection& connection, Mode mode = Mode::kWrite);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  // Makes the changes permanent, all or none. Fails with the first error since the beginning.
  Result<void> Commit();

 private:
  Connection& connection_;
  bool is_open_ = true;
};

}  // namespace jprof::cpo
