// Options whose value is one of a few words.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "reports/source.h"

namespace jprof::cli {

// One of `choices` by name; its place. Error: names the nearest one.
Result<size_t> Choose(const char* what, std::string_view word,
                      const std::vector<std::string_view>& choices);

// The format of --format, one of `offered`.
Result<reports::Format> ChooseFormat(
    std::string_view word, std::span<const reports::Format> offered = reports::kCommonFormats);

}  // namespace jprof::cli
