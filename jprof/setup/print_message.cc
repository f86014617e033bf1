#include "jprof/setup/print_message.h"

#include <pthread.h>

#include <atomic>
#include <cstdio>

#include "common/control_protocol.h"
#include "common/kept_fd.h"

namespace jprof::setup {
namespace {

std::atomic<MessageCollector*> collector = nullptr;
pthread_t collecting;  // its thread

// Returns the standard error of the first call. A program may close it later and open a file of its
// own, which gets that number.
const std::optional<FileIdentity>& StandardError() {
  static const std::optional<FileIdentity> first = IdentityOf(STDERR_FILENO);
  return first;
}
[[gnu::constructor]] void NoteStandardError() { StandardError(); }

}  // namespace

void PrintMessage(const std::string& text) {
  const std::string line = control::OneLine(text);
  if (MessageCollector* const to = collector; to != nullptr && collecting == pthread_self()) {
    to->lines_.push_back(line);
    return;
  }
  if (IdentityOf(fileno(stderr)) != StandardError()) return;
  std::fprintf(stderr, "jprof: %s\n", line.c_str());
  std::fflush(stderr);
}

MessageCollector::MessageCollector(bool active) {
  if (!active) return;
  collecting = pthread_self();
  collector = this;
}

MessageCollector::~MessageCollector() { collector = nullptr; }

}  // namespace jprof::setup
