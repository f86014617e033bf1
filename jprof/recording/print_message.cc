#include "jprof/recording/print_message.h"

#include <pthread.h>

#include <atomic>
#include <cstdio>

#include "common/kept_fd.h"

namespace jprof::agent {
namespace {

std::atomic<MessageCollector*> collector = nullptr;
pthread_t collecting;  // its thread

// A program may close its standard error and open a file of its own, which gets that number.
const std::optional<FileIdentity> standard_error = IdentityOf(STDERR_FILENO);

}  // namespace

void PrintMessage(const std::string& line) {
  if (MessageCollector* const to = collector; to != nullptr && collecting == pthread_self()) {
    to->lines_.push_back(line);
    return;
  }
  if (IdentityOf(fileno(stderr)) != standard_error) return;
  std::fprintf(stderr, "jprof: %s\n", line.c_str());
  std::fflush(stderr);
}

MessageCollector::MessageCollector(bool active) {
  if (!active) return;
  collecting = pthread_self();
  collector = this;
}

MessageCollector::~MessageCollector() { collector = nullptr; }

}  // namespace jprof::agent
