#include "record/push/http_post.h"

#include <curl/curl.h>
#include <dlfcn.h>

#include <algorithm>
#include <memory>

namespace jprof::record {
namespace {

constexpr long kConnectSeconds = 10;
constexpr size_t kMostOfAnswer = 4096;

// The functions of libcurl, which is loaded at run time.
struct Curl {
  decltype(&curl_easy_init) easy_init;
  decltype(&curl_easy_setopt) easy_setopt;
  decltype(&curl_easy_perform) easy_perform;
  decltype(&curl_easy_getinfo) easy_getinfo;
  decltype(&curl_easy_strerror) easy_strerror;
  decltype(&curl_easy_cleanup) easy_cleanup;
  decltype(&curl_slist_append) slist_append;
  decltype(&curl_slist_free_all) slist_free_all;
  decltype(&curl_mime_init) mime_init;
  decltype(&curl_mime_free) mime_free;
  decltype(&curl_mime_addpart) mime_addpart;
  decltype(&curl_mime_name) mime_name;
  decltype(&curl_mime_filename) mime_filename;
  decltype(&curl_mime_type) mime_type;
  decltype(&curl_mime_data) mime_data;
  decltype(&curl_version_info) version_info;
};

template <typename Function>
bool Find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

// Loads the library, which stays loaded until the process ends.
Result<Curl> LoadCurl() {
  void* library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    return Fail("libcurl is not installed; install it (Debian: apt install libcurl4)");
  Curl curl = {};
  const bool all = Find(library, "curl_easy_init", curl.easy_init) &&
                   Find(library, "curl_easy_setopt", curl.easy_setopt) &&
                   Find(library, "curl_easy_perform", curl.easy_perform) &&
                   Find(library, "curl_easy_getinfo", curl.easy_getinfo) &&
                   Find(library, "curl_easy_strerror", curl.easy_strerror) &&
                   Find(library, "curl_easy_cleanup", curl.easy_cleanup) &&
                   Find(library, "curl_slist_append", curl.slist_append) &&
                   Find(library, "curl_slist_free_all", curl.slist_free_all) &&
                   Find(library, "curl_mime_init", curl.mime_init) &&
                   Find(library, "curl_mime_free", curl.mime_free) &&
                   Find(library, "curl_mime_addpart", curl.mime_addpart) &&
                   Find(library, "curl_mime_name", curl.mime_name) &&
                   Find(library, "curl_mime_filename", curl.mime_filename) &&
                   Find(library, "curl_mime_type", curl.mime_type) &&
                   Find(library, "curl_mime_data", curl.mime_data) &&
                   Find(library, "curl_version_info", curl.version_info);
  if (!all) return Fail("libcurl is too old; jprof push needs 7.56 or newer");
  return curl;
}

// Where an answer goes.
struct Receiver {
  const Curl& curl;
  CURL* easy;
  const HttpPost& post;
  std::string& text;
};

// Returns the number of bytes that were taken. libcurl ends the request if they are not all.
size_t KeepAnswer(char* bytes, size_t size, size_t count, void* to) {
  const auto& [curl, easy, post, text] = *static_cast<Receiver*>(to);
  text.append(bytes, std::min(size * count, kMostOfAnswer - std::min(kMostOfAnswer, text.size())));
  long status = 0;
  curl.easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
  const bool taken = status != 200 || !post.receive || post.receive({bytes, size * count});
  return taken ? size * count : 0;
}

// Owns one request and what belongs to it.
class Request {
 public:
  explicit Request(const Curl& curl) : curl_(curl), easy_(curl.easy_init()) {}
  ~Request() {
    curl_.slist_free_all(headers_);
    if (mime_ != nullptr) curl_.mime_free(mime_);
    if (easy_ != nullptr) curl_.easy_cleanup(easy_);
  }
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  Result<HttpAnswer> Perform(const HttpPost& post) {
    if (easy_ == nullptr) return Fail("libcurl could not start: not enough memory");
    HttpAnswer answer;
    char reason[CURL_ERROR_SIZE] = "";
    Set(CURLOPT_URL, post.url.c_str());
    Set(CURLOPT_NOSIGNAL, 1l);
    Set(CURLOPT_CONNECTTIMEOUT, std::min(kConnectSeconds, post.timeout_seconds));
    Set(CURLOPT_TIMEOUT, post.timeout_seconds);
    if (post.silence_seconds > 0) {
      Set(CURLOPT_LOW_SPEED_LIMIT, 1l);  // bytes per second
      Set(CURLOPT_LOW_SPEED_TIME, post.silence_seconds);
    }
    Set(CURLOPT_USERAGENT, "jprof");
    Set(CURLOPT_ERRORBUFFER, static_cast<char*>(reason));
    Set(CURLOPT_WRITEFUNCTION, &KeepAnswer);
    Receiver receiver = {curl_, easy_, post, answer.text};
    Set(CURLOPT_WRITEDATA, static_cast<void*>(&receiver));
    SetAccess(post);
    SetContent(post);
    const CURLcode result = curl_.easy_perform(easy_);
    if (result == CURLE_OPERATION_TIMEDOUT && WasSilent(post))
      return Fail("the server has been silent for {} s", post.silence_seconds);
    if (result != CURLE_OK)
      return Fail("{}", *reason != '\0' ? reason : curl_.easy_strerror(result));
    curl_.easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &answer.status);
    return answer;
  }

 private:
  template <typename Value>
  void Set(CURLoption option, Value value) {
    curl_.easy_setopt(easy_, option, value);
  }

  // Returns whether a request that took too long had a connection, and time left.
  bool WasSilent(const HttpPost& post) {
    double connecting = 0, whole = 0;
    curl_.easy_getinfo(easy_, CURLINFO_CONNECT_TIME, &connecting);
    curl_.easy_getinfo(easy_, CURLINFO_TOTAL_TIME, &whole);
    return post.silence_seconds > 0 && connecting > 0 &&
           whole < static_cast<double>(post.timeout_seconds);
  }

  void SetAccess(const HttpPost& post) {
    if (post.netrc) Set(CURLOPT_NETRC, static_cast<long>(CURL_NETRC_OPTIONAL));
    if (!post.user.empty()) Set(CURLOPT_USERNAME, post.user.c_str());
    if (!post.password.empty()) Set(CURLOPT_PASSWORD, post.password.c_str());
    if (post.compressed) Set(CURLOPT_ACCEPT_ENCODING, "gzip");
  }

  void SetContent(const HttpPost& post) {
    for (const std::string& header : post.headers)
      headers_ = curl_.slist_append(headers_, header.c_str());
    headers_ = curl_.slist_append(headers_, "Expect:");  // not every server handles it
    Set(CURLOPT_HTTPHEADER, headers_);
    if (post.form.empty()) {
      Set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(post.body.size()));
      Set(CURLOPT_POSTFIELDS, post.body.data());
      return;
    }
    mime_ = curl_.mime_init(easy_);
    for (const FormFile& file : post.form) {
      curl_mimepart* part = curl_.mime_addpart(mime_);
      curl_.mime_name(part, file.field.c_str());
      curl_.mime_filename(part, file.file_name.c_str());
      curl_.mime_type(part, file.content_type.c_str());
      curl_.mime_data(part, file.bytes.data(), file.bytes.size());
    }
    Set(CURLOPT_MIMEPOST, mime_);
  }

  const Curl& curl_;
  CURL* easy_;
  curl_slist* headers_ = nullptr;
  curl_mime* mime_ = nullptr;
};

}  // namespace

Result<HttpAnswer> Post(const HttpPost& post) {
  const Result<Curl> curl = LoadCurl();
  if (!curl) return std::unexpected(curl.error());
  return Request(*curl).Perform(post);
}

Result<HttpFeatures> FindHttp() {
  const Result<Curl> curl = LoadCurl();
  if (!curl) return std::unexpected(curl.error());
  const curl_version_info_data& info = *curl->version_info(CURLVERSION_NOW);
  return HttpFeatures{.version = info.version,
                      .tls = (info.features & CURL_VERSION_SSL) != 0,
                      .compressed = (info.features & CURL_VERSION_LIBZ) != 0};
}

std::string UrlEncoded(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                       std::string_view("-._~").find(c) != std::string_view::npos;
    encoded += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return encoded;
}

}  // namespace jprof::record
