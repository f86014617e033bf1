#include "cli/shared/pager.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>

namespace jprof::cli {
namespace {

// Returns the command of the pager, or an empty text for none.
std::string PagerCommand() {
  const char* named = std::getenv("PAGER");
  std::string command = named == nullptr ? "less" : named;
  if (command == "cat") command.clear();
  return command;
}

bool Exists(const std::string& command) {
  const std::string program = command.substr(0, command.find(' '));
  const std::string check = "command -v -- '" + program + "' >/dev/null 2>&1";
  return program.find('\'') == program.npos && std::system(check.c_str()) == 0;
}

}  // namespace

size_t TerminalWidth() {
  winsize size = {};
  if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

Pager::Pager(bool wanted) {
  if (!wanted || !isatty(STDOUT_FILENO)) return;
  const std::string command = PagerCommand();
  if (command.empty() || !Exists(command)) return;
  setenv("LESS", "FRX", /*overwrite=*/0);  // end if all fits, keep colours and the text
  std::fflush(stdout);
  pipe_ = popen(command.c_str(), "w");
  if (pipe_ == nullptr) return;
  signal(SIGPIPE, SIG_IGN);  // the user may end the pager early
  signal(SIGINT, SIG_IGN);   // Ctrl-C is for the pager
}

Pager::~Pager() {
  if (pipe_ != nullptr) pclose(pipe_);
}

}  // namespace jprof::cli
