// Lists the formats of reports. A new format of tables is a row here and one file with its writer.
#pragma once

#include <array>
#include <memory>
#include <span>

#include "common/result.h"
#include "reports/print/table_writer.h"

namespace jprof::reports {

enum class Format { kText, kJson, kCsv, kMarkdown, kCollapsed };

using MakeWriter = std::unique_ptr<TableWriter>(const Layout&, Output&);
MakeWriter MakeTextWriter, MakeJsonWriter, MakeCsvWriter, MakeMarkdownWriter;

struct FormatEntry {
  const char* name;
  View view;
  MakeWriter* make;  // null for what is no table and printed by the reports themselves
  bool head;         // the output begins with what describes the profile
};

// The entries are in the order of Format.
inline constexpr FormatEntry kFormats[] = {
    {"text", kPeople, MakeTextWriter, true}, {"json", kJson, MakeJsonWriter, true},
    {"csv", kCsv, MakeCsvWriter, false},     {"markdown", kPeople, MakeMarkdownWriter, false},
    {"collapsed", kPeople, nullptr, false},
};

// These are the formats that reports and commands offer.
inline constexpr Format kCommonFormats[] = {Format::kText, Format::kJson, Format::kCsv};
inline constexpr Format kTableFormats[] = {Format::kText, Format::kJson, Format::kCsv,
                                           Format::kMarkdown};
inline constexpr Format kTreeFormats[] = {Format::kText, Format::kJson, Format::kCsv,
                                          Format::kMarkdown, Format::kCollapsed};
inline constexpr Format kStackFormats[] = {Format::kText, Format::kJson, Format::kCsv,
                                           Format::kCollapsed};
inline constexpr auto kAllFormats = [] {
  std::array<Format, std::size(kFormats)> all{};
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Format>(i);
  return all;
}();

inline const FormatEntry& EntryOf(Format format) { return kFormats[static_cast<size_t>(format)]; }

// Returns "text, json, csv".
std::string FormatNames(std::span<const Format> formats);

// Fails if `report` does not offer the format; the message lists those that it offers.
Result<void> CheckOffered(std::string_view report, std::span<const Format> offered, Format format);

}  // namespace jprof::reports
