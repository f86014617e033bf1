#include "cli/fleet/push_checks.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "fleet/push/spool.h"
#include "record/push/http_post.h"

namespace jprof::cli {
namespace {

using record::DoctorCheck;
using Verdict = DoctorCheck::Verdict;

DoctorCheck CheckHttp() {
  DoctorCheck check = {.name = "HTTP (push, fleet)"};
  const auto http = record::FindHttp();
  if (!http) {
    check.verdict = Verdict::kNo;
    check.detail =
        "profiles cannot be pushed, and URLs of fleets cannot be read: libcurl cannot be "
        "loaded";
    check.remedy = http.error().message;
    return check;
  }
  check.detail =
      fmt::format("libcurl {}, {}, {}", http->version,
                  http->tls ? "with TLS" : "without TLS: https:// and clickhouses:// fail",
                  http->compressed ? "compressed answers" : "answers are not compressed");
  if (!http->tls || !http->compressed) {
    check.verdict = Verdict::kNote;
    check.remedy = "install a libcurl with TLS and zlib (Debian: apt install libcurl4)";
  }
  return check;
}

// Returns whether the folder can be written, or made.
bool CanWrite(std::filesystem::path folder) {
  std::error_code error;
  while (!std::filesystem::exists(folder, error) && folder.has_relative_path())
    folder = folder.parent_path();
  return std::filesystem::is_directory(folder, error) && access(folder.c_str(), W_OK | X_OK) == 0;
}

DoctorCheck CheckSpool(const std::string& folder) {
  DoctorCheck check = {.name = "spool of fleet pushes"};
  const fleet::SpoolUse use = fleet::UseOf(folder);
  if (use.profiles > 0) {
    check.verdict = Verdict::kNote;
    check.detail =
        fmt::format("{} {} in {} ({:.1f} MB): earlier pushes could not send {}", use.profiles,
                    use.profiles == 1 ? "profile waits" : "profiles wait", folder,
                    static_cast<double>(use.bytes) / 1e6, use.profiles == 1 ? "it" : "them");
    check.remedy = "jprof push clickhouse://HOST/DATABASE --spooled";
  } else {
    check.detail = fmt::format("{}: nothing waits to be sent", folder);
  }
  if (CanWrite(folder)) return check;
  check.verdict = Verdict::kNo;
  check.detail = fmt::format("{} cannot be written: what a push cannot send is not kept", folder);
  check.remedy = "set XDG_STATE_HOME, or use jprof push --spool DIR";
  return check;
}

}  // namespace

record::DoctorChecks CheckPush(const std::string& spool) {
  return {CheckHttp(), CheckSpool(spool)};
}

}  // namespace jprof::cli
