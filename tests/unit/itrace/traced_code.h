// Traces a function in a child of the test.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "itrace/tracer.h"

extern "C" char end;  // of the program's data, by the linker

namespace jprof::itrace {

extern "C" __attribute__((noinline)) inline void itrace_test_begin() { asm volatile("nop"); }
extern "C" __attribute__((noinline)) inline void itrace_test_end() { asm volatile("nop"); }

struct Traced : TraceEvents {
  std::vector<profile::Branch> branches;
  std::vector<profile::MemoryReference> references;
  std::vector<ThreadTotals> totals;
  std::vector<std::string> notes;
  int status = -1;  // of the child, as by waitpid
  uint64_t instructions = 0, repeats = 0;
  uint64_t nap_ns = 0;  // the first call of OnReferences takes so long
  void OnBranch(const profile::Branch& branch) override { branches.push_back(branch); }
  void OnReferences(std::span<const profile::MemoryReference> found) override {
    references.insert(references.end(), found.begin(), found.end());
    std::this_thread::sleep_for(std::chrono::nanoseconds(std::exchange(nap_ns, 0)));
  }
};

struct HowToTrace {
  Engine engine = Engine::kBlock;
  bool records = true;
  bool memory = false;
  bool not_taken = false;
  bool all_threads = false;
  uint64_t instructions = 0;
  uint64_t nap_ns = 0;  // that the first report of references takes
  std::optional<int64_t> thread_counter = {};
  std::function<std::vector<uint64_t>()> begin_places = {};  // default: of itrace_test_begin
};

// malloc's per-thread cache depends on what the test freed before the fork. Here it is filled, so
// small allocations execute the same instructions in each child.
inline void FillMallocCache() {
  constexpr int kPerSize = 7;  // glibc keeps so many of each size
  for (size_t size = 24; size <= 1032; size += 16) {
    void* blocks[kPerSize];
    for (void*& block : blocks) block = malloc(size);
    for (void* block : blocks) free(block);
  }
}

// Runs `code` in a child, traced between calls of the two functions above: the code calls them.
inline Traced Trace(const HowToTrace& how, int (*code)()) {
  Traced traced;
  traced.nap_ns = how.nap_ns;
  int go[2];
  if (pipe2(go, O_CLOEXEC) != 0) return traced;
  const pid_t child = fork();
  if (child == 0) {
    alarm(1200);  // no test hangs
    FillMallocCache();
    char byte;
    if (read(go[0], &byte, 1) != 1) _exit(99);
    _exit(code());
  }
  TraceRange range = {.begin = TraceRange::Begin::kPlace, .end = TraceRange::End::kPlace};
  range.begin_places = how.begin_places ? how.begin_places : [] {
    return std::vector<uint64_t>{reinterpret_cast<uint64_t>(&itrace_test_begin)};
  };
  range.end_places = [] {
    return std::vector<uint64_t>{reinterpret_cast<uint64_t>(&itrace_test_end)};
  };
  range.instructions = how.instructions;
  range.seconds = 200;  // steps are slow beside other work
  if (how.instructions != 0) range.end = TraceRange::End::kNever;
  const TracerOptions options = {.engine = how.engine,
                                 .records = how.records,
                                 .memory = how.memory,
                                 .not_taken = how.not_taken,
                                 .all_threads = how.all_threads};
  auto tracer = Tracer::Seize(child, options, range, traced);
  if (!tracer) {
    traced.notes.push_back(tracer.error().message);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    return traced;
  }
  (*tracer)->find_thread_counter = [&how] { return how.thread_counter; };
  (*tracer)->SetBreakpoints();
  if (write(go[1], "x", 1) != 1) return traced;
  EXPECT_TRUE((*tracer)->Run());
  traced.totals = (*tracer)->totals();
  traced.notes = (*tracer)->notes();
  for (const ThreadTotals& thread : traced.totals) {
    traced.instructions += thread.instructions;
    traced.repeats += thread.repeats;
  }
  if ((*tracer)->process_status()) {
    traced.status = *(*tracer)->process_status();
  } else {
    waitpid(child, &traced.status, 0);
  }
  close(go[0]);
  close(go[1]);
  return traced;
}

// The branches without times and processes, which differ between runs.
inline std::vector<profile::Branch> Comparable(std::vector<profile::Branch> branches) {
  for (profile::Branch& branch : branches) branch.time_ns = branch.pid = branch.tid = 0;
  return branches;
}

// The references without times and processes, and without addresses in malloc's blocks, which
// depend on what the test itself has allocated.
inline std::vector<profile::MemoryReference> Comparable(
    std::vector<profile::MemoryReference> references) {
  const auto heap = reinterpret_cast<uint64_t>(&::end);
  const auto heap_end = reinterpret_cast<uint64_t>(sbrk(0)) + (uint64_t{1} << 20);
  for (profile::MemoryReference& reference : references) {
    reference.time_ns = reference.pid = reference.tid = 0;
    if (reference.address >= heap && reference.address < heap_end) reference.address = 0;
  }
  return references;
}

inline void ExpectEqual(const std::vector<profile::MemoryReference>& left,
                        const std::vector<profile::MemoryReference>& right) {
  for (size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
    ASSERT_EQ(left[i], right[i]) << i << std::hex << ": " << left[i].code << " -> "
                                 << left[i].address << ", " << right[i].code << " -> "
                                 << right[i].address;
  }
  EXPECT_EQ(left.size(), right.size());
  EXPECT_FALSE(left.empty());
}

}  // namespace jprof::itrace
