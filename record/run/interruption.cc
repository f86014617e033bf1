#include "record/run/interruption.h"

namespace jprof::record {
namespace {

volatile sig_atomic_t last_number = 0;
volatile sig_atomic_t only_to_us = 0;

void Note(int number, siginfo_t* info, void*) {
  last_number = number;
  only_to_us = info->si_code != SI_KERNEL;
}

void Take(int number, struct sigaction& before) {
  sigaction(number, nullptr, &before);
  if (before.sa_handler == SIG_IGN) return;
  struct sigaction action = {};
  action.sa_sigaction = Note;
  action.sa_flags = SA_SIGINFO;
  sigaction(number, &action, nullptr);
}

}  // namespace

Interruption::Interruption() {
  last_number = 0;
  Take(SIGINT, before_int_);
  Take(SIGTERM, before_term_);
  Take(SIGHUP, before_hup_);
}

Interruption::~Interruption() {
  sigaction(SIGINT, &before_int_, nullptr);
  sigaction(SIGTERM, &before_term_, nullptr);
  sigaction(SIGHUP, &before_hup_, nullptr);
}

int Interruption::Number() { return last_number; }

int Interruption::TakeNumber() {
  const int number = last_number;
  last_number = 0;
  return number;
}

void Interruption::PassTo(const HeldProgram& program) {
  if (last_number != 0 && only_to_us != 0) program.Signal(last_number);
  last_number = 0;
}

}  // namespace jprof::record
