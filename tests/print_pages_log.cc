// Prints a log of libjprof-pages.so as lines of words, for tests: print_pages_log FILE
#include <cstdio>

#include "cpo/allocations/log.h"

using namespace jprof::cpo;

int main(int count, char** words) {
  const auto log = ReadLog(count == 2 ? words[1] : "");
  if (!log) {
    std::fprintf(stderr, "%s\n", log.error().message.c_str());
    return 1;
  }
  std::printf("log %u %u %lu %lu %lu %d %lu %lu\n", log->pid, log->large_page, log->threshold,
              log->began_ns, log->last_ns, log->exited, log->lost, log->damaged);
  std::printf("faults %lu %lu\n", log->minor_faults, log->major_faults);
  std::printf("total %lu %lu\n", log->total_large, log->total_resident);
  for (const std::string& note : log->notes) std::printf("note %s\n", note.c_str());
  for (const LoggedModule& module : log->modules)
    std::printf("module %lx %lx %s\n", module.begin, module.size, module.path.c_str());
  for (const LoggedGroup& group : log->groups)
    std::printf("group %lu %lu %lu %lu %s %s\n", group.advised, group.large, group.most_large,
                group.refused, group.kind.c_str(), group.key.c_str());
  for (const Placement& placed : log->placements)
    std::printf("placed %u %lx %lx %lu %lu\n", placed.group, placed.start, placed.size,
                placed.from_ns, placed.to_ns);
}
