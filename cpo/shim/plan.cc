#include "cpo/shim/plan.h"

#include <stdlib.h>
#include <string.h>

#include "cpo/shim/large.h"
#include "cpo/shim/small_file.h"
#include "cpo/shim/text.h"

namespace jprof::cpo {
namespace {

constexpr size_t kMostBytes = 256 << 10;
constexpr uint64_t kMostPages = uint64_t{1} << 20;

Plan the_plan;

// If the line begins with `word` and a blank, moves it behind these.
bool Take(char*& line, const char* word) {
  const size_t bytes = strlen(word);
  if (strncmp(line, word, bytes) != 0 || line[bytes] != ' ') return false;
  line += bytes + 1;
  return true;
}

uint64_t NumberAt(char*& line) {
  uint64_t value = 0;
  for (; *line >= '0' && *line <= '9' && value < UINT64_MAX / 16; ++line)
    value = value * 10 + static_cast<uint64_t>(*line - '0');
  return value;
}

void AddDirective(char* line) {
  const uint64_t pages = NumberAt(line);
  if (*line++ != ' ' || the_plan.count == kMostDirectives) return;
  const uint64_t limit =
      pages < kMostPages - the_plan.most_pages ? pages : kMostPages - the_plan.most_pages;
  the_plan.most_pages += limit;
  the_plan.directives[the_plan.count++] = {HashOf(line, strlen(line)), limit};
}

void ReadLine(char* line) {
  if (Take(line, "log") && strlen(line) < sizeof the_plan.folder) {
    memcpy(the_plan.folder, line, strlen(line) + 1);
  } else if (Take(line, "threshold")) {
    the_plan.threshold = NumberAt(line);
  } else if (Take(line, "large")) {
    AddDirective(line);
  }
}

void ReadLines(char* text) {
  constexpr char kFirst[] = "jprof-pages 1\n";
  if (strncmp(text, kFirst, strlen(kFirst)) != 0) return;
  char* line = text + strlen(kFirst);
  while (char* const end = strchr(line, '\n')) {
    *end = '\0';
    ReadLine(line);
    line = end + 1;
  }
  the_plan.is_valid = the_plan.folder[0] == '/' && the_plan.threshold >= kLeastThreshold;
}

}  // namespace

const Plan& ThePlan() {
  if (the_plan.is_read) return the_plan;
  the_plan.is_read = true;
  const char* const path = secure_getenv(kPlanVariable);
  if (path == nullptr || *path == '\0') return the_plan;
  const MappedText text(path, kMostBytes);
  if (text.bytes() != nullptr) ReadLines(text.bytes());
  return the_plan;
}

int DirectiveOf(uint64_t hash) {
  for (size_t i = 0; i < the_plan.count; ++i) {
    if (the_plan.directives[i].hash == hash) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace jprof::cpo
