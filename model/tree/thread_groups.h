// Groups threads whose trees are shown as one: all of a profile, or those of each thread pool.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "profile/read/reader.h"

namespace jprof::model {

struct ThreadGroup {
  std::string name;  // "pool-1-thread-*"; of a thread alone, its own
  size_t threads = 1;
};

// Has the group of each thread. If it is empty, each thread is a group of its own.
struct ThreadGroups {
  std::vector<uint32_t> of_thread;
  std::vector<ThreadGroup> groups;
};

// Returns one group of all threads.
ThreadGroups AllThreads(std::span<const profile::Thread> threads);

// Returns a group for each kLeastPool or more threads whose names agree but for the last number in
// them or, of the others, for all numbers. Each other thread is a group by itself.
inline constexpr size_t kLeastPool = 4;
ThreadGroups ThreadPools(std::span<const profile::Thread> threads);

}  // namespace jprof::model
