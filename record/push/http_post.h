// Sends one HTTP request by libcurl, which is loaded when it is used, because it and the libraries
// it needs would double the time that every command takes to start.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/result.h"

namespace jprof::record {

// A part of a form.
struct FormFile {
  std::string field, file_name, content_type;
  std::string bytes;
};

struct HttpPost {
  std::string url;  // http or https
  std::vector<std::string> headers;
  std::vector<FormFile> form;  // if empty, `body` is sent
  std::string body;
  // Sent by HTTP's basic scheme if one is not empty. With `netrc`, libcurl looks up in the user's
  // file .netrc what is left out.
  std::string user, password;
  bool netrc = false;
  bool compressed = false;  // asks for a compressed answer, which is expanded
  // Receives the answer piece by piece, as it arrives, if its status is 200. If it returns false,
  // the request ends and fails. May be empty.
  std::function<bool(std::string_view)> receive;
  long timeout_seconds = 30;  // for the whole request; connecting may take 10 at most
  // The request fails when no byte was sent or received for so long. 0: the whole time.
  long silence_seconds = 0;
};

struct HttpAnswer {
  long status = 0;
  std::string text;  // at most the first 4 kB
};

// Sends the request and follows no redirection. Fails, with libcurl's reason, if there was no
// response, or if libcurl is not installed.
Result<HttpAnswer> Post(const HttpPost& post);

// What the installed libcurl can do.
struct HttpFeatures {
  std::string version;
  bool tls = false, compressed = false;  // whether it knows https, and expands gzip
};
// Fails if libcurl is not installed, or too old.
Result<HttpFeatures> FindHttp();

// Returns `text` as a part of a URL's query: what is not a letter, a digit or one of "-._~" is %XX.
std::string UrlEncoded(std::string_view text);

}  // namespace jprof::record
