// The formats of reports. A new format of tables is a row here and one file with its writer.
#pragma once

#include <memory>
#include <span>

#include "common/result.h"
#include "reports/table_writer.h"

namespace jprof::reports {

enum class Format { kText, kJson, kCsv, kCollapsed };

using MakeWriter = std::unique_ptr<TableWriter>(const Layout&, Output&);
MakeWriter MakeTextWriter, MakeJsonWriter, MakeCsvWriter;

struct FormatEntry {
  const char* name;
  View view;
  MakeWriter* make;  // null: not a table, reports print it themselves
};

// By Format.
inline constexpr FormatEntry kFormats[] = {
    {"text", kPeople, MakeTextWriter},
    {"json", kJson, MakeJsonWriter},
    {"csv", kCsv, MakeCsvWriter},
    {"collapsed", kPeople, nullptr},
};

// What a report may offer.
inline constexpr Format kTableFormats[] = {Format::kText, Format::kJson, Format::kCsv};
inline constexpr Format kTreeFormats[] = {Format::kText, Format::kJson, Format::kCsv,
                                          Format::kCollapsed};
inline constexpr std::span<const Format> kAllFormats = kTreeFormats;
inline constexpr Format kLineFormats[] = {Format::kText, Format::kJson, Format::kCsv};

inline const FormatEntry& EntryOf(Format format) { return kFormats[static_cast<size_t>(format)]; }

// Error: `report` does not offer the format; the message lists those that it offers.
Result<void> CheckOffered(std::string_view report, std::span<const Format> offered, Format format);

}  // namespace jprof::reports
