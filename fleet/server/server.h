// Talks to a server of ClickHouse by its HTTP interface.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "fleet/server/row_pieces.h"
#include "fleet/server/url.h"

namespace jprof::fleet {

// A table that is sent with a query, which refers to it by its name.
struct SentTable {
  std::string name;
  std::string structure;  // "push UInt64, factor Float64"
  std::string rows;       // RowBinary
};

// How long a server may be silent before a request fails: while it answers a question, and while it
// takes rows.
inline constexpr long kQuestionSeconds = 300;
inline constexpr long kPushSeconds = 120;

class Server {
 public:
  explicit Server(Url url, long silence_seconds = kQuestionSeconds);

  const Url& url() const { return url_; }

  // Executes a statement without a result. With `any_database` the database need not exist.
  Result<void> Execute(std::string_view sql, bool any_database = false);

  // Inserts rows (RowBinary) into a table, whose columns are `columns`. Returns when all shards
  // have them. After a failure none, some or all of them may be there.
  Result<void> Insert(std::string_view table, std::string_view columns, std::string_view rows);

  // Returns the result as RowBinary. It is for results of some rows.
  Result<std::string> Query(std::string_view sql, const std::vector<SentTable>& tables = {});

  // Takes the rows of the result as they arrive (row_pieces.h). Fails also after it has taken some
  // of them, and if the last one is cut off.
  Result<void> ForEachRow(std::string_view sql, const std::vector<SentTable>& tables,
                          const TakeRow& take);

  // Passes on the result in a format of the server, as it arrives. If `receive` returns false, it
  // ends and fails.
  using Receive = std::function<bool(std::string_view piece)>;
  Result<void> QueryAs(std::string_view sql, std::string_view format,
                       const std::vector<SentTable>& tables, const Receive& receive);

 private:
  Result<void> Send(std::string query, std::string body, bool compressed,
                    const std::vector<SentTable>& tables, const Receive& receive);

  Url url_;
  long silence_seconds_;
  std::string password_;
};

// Returns the text as a literal of SQL, in quotes.
std::string Quoted(std::string_view text);

}  // namespace jprof::fleet
