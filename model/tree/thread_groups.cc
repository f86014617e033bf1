#include "model/tree/thread_groups.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace jprof::model {
namespace {

constexpr uint32_t kAlone = UINT32_MAX;
constexpr std::string_view kDigits = "0123456789";

// Replaces the last number of the text by "*".
std::string WithoutLastNumber(const std::string& name) {
  const size_t last = name.find_last_of(kDigits);
  if (last == name.npos) return name;
  const size_t before = name.find_last_not_of(kDigits, last);
  const size_t first = before == name.npos ? 0 : before + 1;
  return name.substr(0, first) + "*" + name.substr(last + 1);
}

std::string WithoutNumbers(const std::string& name) {
  std::string pattern;
  for (const char c : name) {
    if (!kDigits.contains(c)) {
      pattern += c;
    } else if (!pattern.ends_with('*')) {
      pattern += '*';
    }
  }
  return pattern;
}

// Makes groups of the threads that are still alone and have the same pattern.
void AddPools(std::span<const profile::Thread> threads, std::string (*pattern)(const std::string&),
              ThreadGroups& made) {
  std::unordered_map<std::string, std::vector<size_t>> alike;
  for (size_t i = 0; i < threads.size(); ++i) {
    if (made.of_thread[i] == kAlone) alike[pattern(threads[i].name)].push_back(i);
  }
  for (const auto& [name, members] : alike) {
    if (members.size() < kLeastPool) continue;
    for (const size_t i : members) made.of_thread[i] = static_cast<uint32_t>(made.groups.size());
    made.groups.push_back({name, members.size()});
  }
}

}  // namespace

ThreadGroups AllThreads(std::span<const profile::Thread> threads) {
  return {.of_thread = std::vector<uint32_t>(threads.size()),
          .groups = {{"(all threads)", threads.size()}}};
}

ThreadGroups ThreadPools(std::span<const profile::Thread> threads) {
  ThreadGroups made = {.of_thread = std::vector<uint32_t>(threads.size(), kAlone), .groups = {}};
  AddPools(threads, WithoutLastNumber, made);
  AddPools(threads, WithoutNumbers, made);
  for (size_t i = 0; i < threads.size(); ++i) {
    if (made.of_thread[i] != kAlone) continue;
    made.of_thread[i] = static_cast<uint32_t>(made.groups.size());
    made.groups.push_back({threads[i].name});
  }
  return made;
}

}  // namespace jprof::model
