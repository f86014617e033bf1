#include "cli/shared/page_output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "cli/shared/output_file.h"
#include "cli/shared/usage_error.h"
#include "common/errno_text.h"
#include "record/place/recording_summary.h"

extern char** environ;

namespace jprof::cli {
namespace {

namespace fs = std::filesystem;

using Print = std::function<Result<void>(reports::Output&)>;

Result<void> PrintTo(std::FILE* file, const Print& print) {
  reports::Output out(file);
  if (auto printed = print(out); !printed) return printed;
  return out.Finish();
}

// Returns the path of a file in a new temporary directory that only this user can read.
Result<std::string> TemporaryPlace(const std::string& name) {
  std::error_code error;
  const fs::path base = fs::temp_directory_path(error);
  if (error) return Fail("no temporary directory: {}; choose a file with -o", error.message());
  std::string directory = (base / "jprof-view-XXXXXX").string();
  if (mkdtemp(directory.data()) == nullptr)
    return Fail("cannot make {}: {}; choose a file with -o", directory, ErrnoText());
  return (fs::path(directory) / name).string();
}

bool HasDisplay() {
  return std::getenv("DISPLAY") != nullptr || std::getenv("WAYLAND_DISPLAY") != nullptr;
}

// Waits until the opener ends, but at most two seconds, because it may be the browser itself.
// Returns whether it has not failed by then.
bool HasNotFailed(pid_t opener) {
  for (int tries = 0; tries < 200; ++tries) {
    int status = 0;
    const pid_t ended = waitpid(opener, &status, WNOHANG);
    if (ended == opener) return status == 0;
    if (ended < 0 && errno != EINTR) return false;
    usleep(10'000);
  }
  return true;
}

// Returns whether xdg-open was started, in a session of its own, and has not failed.
bool OpenInBrowser(const std::string& file) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  std::string program = "xdg-open", path = file;
  char* words[] = {program.data(), path.data(), nullptr};
  pid_t child = 0;
  const bool started =
      posix_spawnp(&child, program.c_str(), &actions, &attributes, words, environ) == 0;
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return started && HasNotFailed(child);
}

}  // namespace

void AddPageOptions(CommandLine& line, PageChoice& choice, const std::string& action) {
  const bool always = action.empty();
  const std::string with = always ? "" : "With " + action + ": ";
  line.Option("-o,--out", choice.out, "FILE",
              with + (always ? "Write" : "write") + " this file and do not open it; - is stdout");
  line.Flag("--no-open", choice.no_open, with + (always ? "Do" : "do") + " not open the browser");
}

Result<void> WritePage(const std::string& out, const Print& print) {
  if (out != "-") {
    return WriteOutputFile(out, [&](const std::string& place) {
      return PrintToNewFile(place, [&](std::FILE* file) { return PrintTo(file, print); });
    });
  }
  if (isatty(STDOUT_FILENO)) return WrongUse("the view is not for a terminal: -o FILE");
  return PrintTo(stdout, print);
}

Result<void> ShowPage(const PageChoice& choice, const std::string& name,
                      const std::function<Result<void>(const std::string& out)>& write) {
  std::string out = choice.out;
  const bool temporary = out.empty();
  if (temporary) {
    auto place = TemporaryPlace(name);
    if (!place) return std::unexpected(place.error());
    out = *place;
  }
  if (auto written = write(out); !written) {
    std::error_code ignored;
    if (temporary) fs::remove(fs::path(out).parent_path(), ignored);
    return written;
  }
  if (out == "-") return {};
  const std::string file = record::DisplayPath(out);
  PrintError("view:    " + file);
  if (!temporary || choice.no_open || !HasDisplay() || !OpenInBrowser(out))
    PrintNext(fmt::format("open {} in a browser", file));
  return {};
}

}  // namespace jprof::cli
