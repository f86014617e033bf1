// Talks to a server of ClickHouse by its HTTP interface.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "fleet/server/url.h"

namespace jprof::fleet {

// A table that is sent with a query, which refers to it by its name.
struct SentTable {
  std::string name;
  std::string structure;  // "push UInt64, factor Float64"
  std::string rows;       // RowBinary
};

class Server {
 public:
  explicit Server(Url url);

  const Url& url() const { return url_; }

  // Executes a statement without a result. With `any_database` the database need not exist.
  Result<void> Execute(std::string_view sql, bool any_database = false);

  // Inserts rows (RowBinary) into a table, whose columns are `columns`. Returns when all shards
  // have them. After a failure none, some or all of them may be there.
  Result<void> Insert(std::string_view table, std::string_view columns, std::string_view rows);

  // Returns the result as RowBinary.
  Result<std::string> Query(std::string_view sql, const std::vector<SentTable>& tables = {});

  // Returns the result in another format of the server, as it is.
  Result<std::string> QueryAs(std::string_view sql, std::string_view format,
                              const std::vector<SentTable>& tables = {});

 private:
  Result<std::string> Send(std::string query, std::string body, bool compressed,
                           const std::vector<SentTable>& tables);

  Url url_;
  std::string password_;
};

// Returns the text as a literal of SQL, in quotes.
std::string Quoted(std::string_view text);

}  // namespace jprof::fleet
