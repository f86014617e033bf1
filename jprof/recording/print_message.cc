#include "jprof/recording/print_message.h"

#include <pthread.h>

#include <atomic>
#include <cstdio>

namespace jprof::agent {
namespace {

std::atomic<MessageCollector*> collector = nullptr;
pthread_t collecting;  // its thread

}  // namespace

void PrintMessage(const std::string& line) {
  if (MessageCollector* const to = collector; to != nullptr && collecting == pthread_self()) {
    to->lines_.push_back(line);
    return;
  }
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
