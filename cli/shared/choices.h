// Parses options whose value is one of a list of names.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "reports/print/formats.h"

namespace jprof::cli {

// Returns the index of `name` in `choices`. Fails if there is none; the message names
// the nearest choice.
Result<size_t> Choose(const char* what, std::string_view name,
                      const std::vector<std::string_view>& choices);

// Returns the format that --format names, one of `offered`.
Result<reports::Format> ChooseFormat(
    std::string_view name, std::span<const reports::Format> offered = reports::kCommonFormats);

}  // namespace jprof::cli
