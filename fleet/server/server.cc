#include "fleet/server/server.h"

#include <zlib.h>

#include <algorithm>
#include <cstdlib>

#include "profile/files/printable_text.h"
#include "record/push/http_post.h"

namespace jprof::fleet {
namespace {

constexpr long kLongestSeconds = 900;

// Returns the bytes in the format of gzip. Level 1: the network is faster than more of it.
std::string Compressed(std::string_view bytes) {
  z_stream stream = {};
  constexpr int kGzip = 15 + 16;
  if (deflateInit2(&stream, 1, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) != Z_OK) return "";
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

// Returns what to do about an error of the server.
std::string NextStep(long status, std::string_view text, const Url& url) {
  const auto code = [&](std::string_view number) {
    return text.starts_with(fmt::format("Code: {},", number)) ||
           text.starts_with(fmt::format("Code: {}.", number));
  };
  if (code("60") || code("81"))
    return fmt::format("the tables are made with: jprof fleet init {}", url.Text());
  if (status == 401 || status == 403 || code("192") || code("193") || code("516")) {
    return fmt::format(
        "name the user in the URL (clickhouse://USER@...), and put the password into ~/.netrc or "
        "into the variable {}",
        kPasswordVariable);
  }
  if (code("241"))
    return "the server has too little memory for this selection: select fewer runs (service=, "
           "from=, to=), or raise max_memory_usage there";
  if (code("279") || code("209") || code("210") || code("32"))
    return "one of its shards does not answer: start it, and try again";
  return "see what the server says";
}

std::string FirstLineOf(const std::string& text) {
  return profile::CleanText(
      profile::BeginningOf(std::string_view(text).substr(0, text.find('\n')), 400));
}

}  // namespace

Server::Server(Url url, long silence_seconds)
    : url_(std::move(url)), silence_seconds_(silence_seconds) {
  if (const char* password = std::getenv(kPasswordVariable)) password_ = password;
}

Result<void> Server::Send(std::string query, std::string body, bool compressed,
                          const std::vector<SentTable>& tables, const Receive& receive) {
  // libcurl looks up the password of a user in .netrc only if the user is part of the URL.
  const bool netrc = password_.empty();
  record::HttpPost post = {.url = url_.Http(netrc) + "/?" + query,
                           .body = std::move(body),
                           .user = netrc ? "" : url_.user,
                           .password = password_,
                           .netrc = netrc,
                           .compressed = true,
                           .receive = receive,
                           .timeout_seconds = std::max(kLongestSeconds, silence_seconds_),
                           .silence_seconds = silence_seconds_};
  if (compressed) post.headers.push_back("Content-Encoding: gzip");
  for (const SentTable& table : tables) {
    post.form.push_back({.field = table.name,
                         .file_name = table.name,
                         .content_type = "application/octet-stream",
                         .bytes = table.rows});
  }
  const auto answer = record::Post(post);
  if (!answer) {
    return Fail("{}: {}; is the server running, and is the URL right?", url_.Text(),
                profile::CleanText(answer.error().message));
  }
  if (answer->status == 200) return {};
  return Fail("{}: the server answered with status {}: {}; {}", url_.Text(), answer->status,
              FirstLineOf(answer->text), NextStep(answer->status, answer->text, url_));
}

Result<void> Server::Execute(std::string_view sql, bool any_database) {
  const std::string query = any_database ? "" : "database=" + url_.database;
  return Send(query, std::string(sql), false, {}, {});
}

Result<void> Server::Insert(std::string_view table, std::string_view columns,
                            std::string_view rows) {
  if (rows.empty()) return {};
  const std::string sql = fmt::format("INSERT INTO {} ({}) FORMAT RowBinary", table, columns);
  // Without the first setting, a table of several shards takes rows and sends them later.
  return Send(fmt::format("database={}&insert_distributed_sync=1&query={}", url_.database,
                          record::UrlEncoded(sql)),
              Compressed(rows), true, {}, {});
}

Result<std::string> Server::Query(std::string_view sql, const std::vector<SentTable>& tables) {
  std::string whole;
  const auto done = QueryAs(sql, "RowBinary", tables, [&](std::string_view piece) {
    whole += piece;
    return true;
  });
  if (!done) return std::unexpected(done.error());
  return whole;
}

Result<void> Server::ForEachRow(std::string_view sql, const std::vector<SentTable>& tables,
                                const TakeRow& take) {
  RowPieces rows(take);
  auto done = QueryAs(sql, "RowBinary", tables, [&](std::string_view piece) {
    rows.Add(piece);
    return true;
  });
  if (!done || rows.End()) return done;
  return Fail("{}: the answer of the server is cut off", url_.Text());
}

Result<void> Server::QueryAs(std::string_view sql, std::string_view format,
                             const std::vector<SentTable>& tables, const Receive& receive) {
  // With wait_end_of_query an error in the middle is no part of the result.
  std::string query = fmt::format(
      "database={}&wait_end_of_query=1&enable_http_compression=1&"
      "output_format_json_quote_64bit_integers=0",
      url_.database);
  std::string text = fmt::format("{} FORMAT {}", sql, format);
  if (tables.empty()) return Send(query, std::move(text), false, {}, receive);
  for (const SentTable& table : tables) {
    query += fmt::format("&{0}_format=RowBinary&{0}_structure={1}", table.name,
                         record::UrlEncoded(table.structure));
  }
  return Send(query + "&query=" + record::UrlEncoded(text), "", false, tables, receive);
}

std::string Quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    if (c == '\0') {
      out += "\\0";
    } else {
      out += c;
    }
  }
  return out + "'";
}

}  // namespace jprof::fleet
