#include "cli/shared/pager.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace jprof::cli {
namespace {

// Returns the command of the pager, or an empty text for none.
std::string PagerCommand() {
  const char* named = std::getenv("PAGER");
  const std::string command = named == nullptr ? "less" : named;
  const char* terminal = std::getenv("TERM");
  const bool can_page = terminal != nullptr && std::string_view(terminal) != "dumb";
  return can_page && command != "cat" ? command : "";
}

bool Exists(const std::string& command) {
  const std::string program = command.substr(0, command.find(' '));
  if (program.contains('/')) {
    std::error_code error;
    return access(program.c_str(), X_OK) == 0 && std::filesystem::is_regular_file(program, error);
  }
  const std::string check = "command -v -- '" + program + "' >/dev/null 2>&1";
  return program.find('\'') == program.npos && std::system(check.c_str()) == 0;
}

}  // namespace

size_t TerminalWidth() {
  winsize size = {};
  if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

Pager::Pager(bool wanted) : wanted_(wanted && isatty(STDOUT_FILENO)) {}

Pager::~Pager() {
  if (pipe_ == nullptr) return;
  pclose(pipe_);
  sigaction(SIGINT, &interrupt_, nullptr);
  sigaction(SIGPIPE, &pipe_signal_, nullptr);
}

std::FILE* Pager::file() {
  if (std::exchange(wanted_, false)) Start();
  return pipe_ != nullptr ? pipe_ : stdout;
}

void Pager::Start() {
  const std::string command = PagerCommand();
  if (command.empty() || !Exists(command)) return;
  setenv("LESS", "FRX", /*overwrite=*/0);  // end if all fits, keep colours and the text
  std::fflush(stdout);
  pipe_ = popen(command.c_str(), "w");
  if (pipe_ == nullptr) return;
  struct sigaction ignore = {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGINT, &ignore, &interrupt_);
  sigaction(SIGPIPE, &ignore, &pipe_signal_);  // a user may leave before the end
}

}  // namespace jprof::cli
