// `jprof view`: writes the HTML view of a profile and opens it.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "cli/shared/commands.h"
#include "cli/shared/report_options.h"
#include "cli/shared/usage_error.h"
#include "cli/shared/view_output.h"
#include "common/errno_text.h"
#include "record/place/recording_summary.h"

extern char** environ;

namespace jprof::cli {
namespace {

namespace fs = std::filesystem;

struct ViewArguments {
  std::vector<std::string> profiles;
  std::string out;
  bool no_open = false;
  TableChoice table;
};

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

Result<void> View(ViewArguments arguments) {
  if (arguments.profiles.empty()) {
    auto newest = NewestProfile(/*combined=*/true);
    if (!newest) return std::unexpected(newest.error());
    arguments.profiles.push_back(*newest);
  }
  const bool temporary = arguments.out.empty();
  if (temporary) {
    auto place = TemporaryPlace(ViewName(arguments.profiles.front()));
    if (!place) return std::unexpected(place.error());
    arguments.out = *place;
  }
  if (auto written = WriteView(arguments.profiles, arguments.table, arguments.out); !written) {
    std::error_code ignored;
    if (temporary) fs::remove(fs::path(arguments.out).parent_path(), ignored);
    return written;
  }
  if (arguments.out == "-") return {};
  const std::string file = record::DisplayPath(arguments.out);
  PrintError("view:    " + file);
  if (arguments.no_open || !HasDisplay() || !OpenInBrowser(arguments.out))
    PrintNext(fmt::format("open {} in a browser", file));
  return {};
}

}  // namespace

Action ViewCommand(CommandLine line, const Command&) {
  auto arguments = std::make_shared<ViewArguments>();
  line.Footer(
      "One file with flame graph, call tree, methods, contexts, plots and, of traces, calls over "
      "time; of a heap dump, a map and the tree of what holds the memory. It needs no network and "
      "can be mailed (docs/VIEW.md). Without -o it is a temporary file.\n\n"
      "Examples:\n"
      "  jprof view                               the newest profile here, in the browser\n"
      "  jprof view app.jprof -o app.html         only writes the file\n"
      "  jprof view before.jprof after.jprof      two profiles, coloured by difference\n"
      "  jprof view trace.jprof                   a trace of jprof trace, also over time\n"
      "  jprof view app-tprof.jprof               a recording of jprof tprof\n"
      "  jprof view app.itrace                    a trace of jprof itrace, also over time\n"
      "  jprof view app.hprof                     a heap dump: what holds the memory");
  line.Option("PROFILES", arguments->profiles, "PROFILE",
              "A profile, a recording of tprof or itrace, a heap dump, or two profiles to compare; "
              "the newest *.jprof here if left out");
  line.Option("-o,--out", arguments->out, "FILE",
              "Write this file and do not open it; - is stdout");
  line.Flag("--no-open", arguments->no_open, "Do not open the browser");
  AddTableOptions(line, arguments->table);
  return [arguments] {
    if (!arguments->out.empty()) arguments->no_open = true;
    return StatusOf(View(*arguments));
  };
}

}  // namespace jprof::cli
