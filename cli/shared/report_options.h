// Implements the options that `report`, `compare` and `calibrate` share: the choice of a
// calibration table, the samples that it is refitted to, and how text looks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/shared/command_line.h"
#include "cli/shared/profile_source.h"
#include "model/tree/readable_name.h"

namespace jprof::cli {

// Adds --uncalibrated, --table and --force. `choice` must outlive the app.
void AddTableOptions(CommandLine line, TableChoice& choice);

// Adds --window, which is that of `choice`.
void AddWindowOption(CommandLine line, TableChoice& choice);

// Holds the options for how text looks.
struct TextChoice {
  std::string names = "full";
  std::optional<uint64_t> width;
  bool no_pager = false;

  // Fails if --names has no such form.
  Result<model::NameForm> Form() const;
  // Returns the cells of a line, or 0 for no limit: those of --width, else the terminal's.
  size_t Width() const;
};

// Adds --width. `choice` must outlive the app.
void AddWidthOption(CommandLine line, TextChoice& choice);

// Adds --names, --width and --no-pager. `choice` must outlive the app.
void AddTextOptions(CommandLine line, TextChoice& choice);

// Fails for a given option that this format does not have: --names needs text or markdown;
// --legend, --width and --no-pager need text.
Result<void> CheckTextOptions(const CommandLine& line, std::string_view format);

// A counted run and the sampled runs of the same program.
struct CountedAndSampled {
  model::Source counted;
  std::vector<model::Source> sampled;
};

// Opens the profiles. If `sampled` is empty, `counted` is a combined profile, whose counted run and
// sampled runs are opened. The table is not refitted. Fails if it is no combined profile, or if a
// profile cannot be opened.
Result<CountedAndSampled> OpenCountedAndSampled(const std::string& counted,
                                                const std::vector<std::string>& sampled,
                                                const TableChoice& chosen);

}  // namespace jprof::cli
