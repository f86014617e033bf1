#include "record/run/print_error.h"

#include <fmt/format.h>

#include <cstdio>

#include "profile/files/printable_text.h"

namespace jprof::record {

void PrintError(std::string_view message) {
  fmt::print(stderr, "jprof: {}\n", profile::CleanText(message));
}

void PrintNext(std::string_view command) { PrintError(fmt::format("next:    {}", command)); }

}  // namespace jprof::record
