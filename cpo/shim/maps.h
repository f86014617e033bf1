// The map of this process's memory, area by area.
#pragma once

#include <stdint.h>
#include <stdlib.h>

#include "cpo/shim/small_file.h"

namespace jprof::cpo {

struct Area {
  uint64_t begin, end;
  const char* rest;  // of its line, from the permissions on
};

// Calls visit(area) for each line of the process's map until it returns false.
template <class Visit>
void ForEachArea(Visit visit) {
  ForEachLine("/proc/self/maps", [&](const char* line) {
    char* end = nullptr;
    Area area = {strtoull(line, &end, 16), 0, nullptr};
    if (*end != '-') return true;
    area.end = strtoull(end + 1, &end, 16);
    area.rest = *end == ' ' ? end + 1 : end;
    return visit(area);
  });
}

}  // namespace jprof::cpo
