// `jprof mcp`: answers assistants about profiles, by the Model Context Protocol on standard input
// and output.
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/assistant/roots.h"
#include "cli/fleet/fetched.h"
#include "cli/shared/commands.h"
#include "cli/shared/profile_source.h"
#include "cli/shared/usage_error.h"
#include "common/errno_text.h"
#include "common/fd.h"
#include "common/write_all.h"
#include "reports/assistant/session.h"

namespace jprof::cli {
namespace {

using reports::assistant::ProfileDoor;
using reports::assistant::Session;

// Opens profiles as all commands do, within the roots and the databases.
ProfileDoor DoorOf(const Roots& roots, KeptProfiles& fleet) {
  return {.admit = [roots, &fleet](const std::string& named) -> Result<std::string> {
            if (fleet::IsUrl(named)) return fleet.DirectoryOf(named);
            if (!named.empty()) return roots.Admit(named);
            const Result<std::string> newest = NewestProfile(/*combined=*/true);
            return newest ? roots.Admit(*newest) : newest;
          },
          .open = [](const std::string& directory) { return OpenNamed(directory, {}); },
          .open_comparable =
              [](const std::string& directory) { return OpenComparable(directory, {}); }};
}

// Standard input and output of a server.
class Streams {
 public:
  // Whatever else is printed goes to stderr, because stdout has only messages of the protocol.
  static Result<Streams> Take() {
    Streams streams;
    streams.out_ = Fd(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
    if (!streams.out_ || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
      return Fail("cannot use standard output: {}", ErrnoText());
    signal(SIGPIPE, SIG_IGN);
    return streams;
  }

  bool at_end() const { return at_end_; }
  bool client_left() const { return client_left_; }

  // Reads what has arrived, and waits for it if `waits`. Fails if it cannot be read.
  Result<void> Read(bool waits, Session& session) {
    pollfd ready = {.fd = STDIN_FILENO, .events = POLLIN};
    if (at_end_ || (!waits && poll(&ready, 1, 0) <= 0)) return {};
    char bytes[65536];
    const ssize_t size = read(STDIN_FILENO, bytes, sizeof(bytes));
    if (size < 0 && errno == EINTR) return {};
    if (size < 0) return Fail("cannot read standard input: {}", ErrnoText());
    at_end_ = size == 0;
    at_end_ ? session.End() : session.Receive({bytes, static_cast<size_t>(size)});
    return {};
  }

  // Writes one line. A client that has left is no failure.
  Result<void> Write(std::string line) {
    errno = WriteAll(out_.get(), line += '\n');
    client_left_ = errno == EPIPE;
    if (errno == 0 || client_left_) return {};
    return Fail("cannot write standard output: {}", ErrnoText());
  }

 private:
  Fd out_;
  bool at_end_ = false;
  bool client_left_ = false;
};

Result<void> Serve(Session& session) {
  constexpr size_t kMostWaiting = 100;  // messages that are read ahead
  auto streams = Streams::Take();
  if (!streams) return std::unexpected(streams.error());
  Result<void> done;
  while (done && !streams->client_left() && (!streams->at_end() || session.waiting() > 0)) {
    if (session.waiting() == 0) {
      done = streams->Read(/*waits=*/true, session);
      continue;
    }
    const auto response = session.Handle([&] {
      if (session.waiting() < kMostWaiting) done = streams->Read(/*waits=*/false, session);
    });
    if (done && response) done = streams->Write(*response);
  }
  return done;
}

struct McpArguments {
  std::vector<std::string> folders;
  std::vector<std::string> databases;
};

Result<void> Run(const McpArguments& arguments) {
  const auto& [folders, databases] = arguments;
  const auto roots = Roots::Of(folders);
  if (!roots) return std::unexpected(roots.error());
  auto fleet = KeptProfiles::Of(databases);
  if (!fleet) return std::unexpected(fleet.error());
  if (!folders.empty()) std::filesystem::current_path(folders.front());
  if (isatty(STDIN_FILENO) != 0) {
    PrintError(
        "jprof mcp waits for messages of an assistant, which starts it (jprof mcp --help); end it "
        "with Ctrl-D");
  }
  Session session(DoorOf(*roots, *fleet), JPROF_VERSION);
  return Serve(session);
}

}  // namespace

Action McpCommand(CommandLine line, const Command&) {
  auto arguments = std::make_shared<McpArguments>();
  line.Footer(
      "An assistant starts this command and asks it about profiles: which methods are hottest, who "
      "calls them, what changed between two profiles, how far numbers can be trusted. It speaks "
      "the Model Context Protocol on standard input and output, reads profiles, writes nothing, "
      "and uses no network except for databases of --fleet. Most assistants register it as\n"
      "  {\"mcpServers\": {\"jprof\": {\"command\": \"jprof\", \"args\": [\"mcp\"]}}}\n\n"
      "Examples:\n"
      "  jprof mcp                        reads any profile that the user can read\n"
      "  jprof mcp --root ~/profiles      only those in this folder\n"
      "  jprof mcp --fleet clickhouse://db/fleet\n"
      "                                   also clickhouse://db/fleet?service=shop&from=7d");
  line.Option(
          "--root", arguments->folders, "DIR",
          "Read only profiles in this folder (links inside a profile are followed), and look for "
          "relative names in the first one; may be repeated (default: any profile; relative names "
          "are looked for in the working directory)")
      .Repeatable();
  line.Option("--fleet", arguments->databases, "URL",
              "Also read what URLs of this database select (docs/FLEET.md); may be repeated")
      .Repeatable();
  return [arguments] { return StatusOf(Run(*arguments)); };
}

}  // namespace jprof::cli
