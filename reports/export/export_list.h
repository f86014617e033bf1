// Lists the export formats. A new format is an entry in export_list.cc and a file beside it.
#pragma once

#include <span>
#include <string>

#include "model/open/open.h"
#include "reports/print/output.h"

namespace jprof::reports {

// Holds what is exported.
struct ExportInput {
  std::string name;  // of the profile, without folders and extension
  model::Input input;
  model::ForestOptions options;  // `merged` and `metric` are used

  std::string_view directory() const { return model::DirectoryOf(input); }
  std::string_view shown() const { return model::ShownNameOf(input); }
};

struct ExportFormat {
  const char* name;
  const char* extension;  // of its files, with the dot
  const char* help;       // one line
  const char* open;       // the command that opens FILE, or a text that explains how
  const char* holds;      // in Markdown, like `lacks`; docs/EXPORTS.md is generated from both
  const char* lacks;
  bool binary;
  bool of_timeline;  // needs points in time; else needs a call tree
  // Fails if the profile does not have what the format needs.
  Result<void> (*write)(ExportInput& input, Output& out);
  // Replaces `write`: writes the file or folder `path` itself, which must not exist.
  Result<void> (*write_file)(ExportInput& input, const std::string& path);
  bool is_folder = false;
};

std::span<const ExportFormat> ExportFormats();

// Fails with kWrongUse if the input lacks what the format needs, which is a call tree or points in
// time, or if a timeline is to be exported with another metric or with its threads merged.
Result<void> CheckExportable(const ExportFormat& format, const ExportInput& input);

// These write one format each. docs/EXPORTS.md describes what becomes of values that a format
// cannot hold. WritePprof and WriteOtlp fail if WriteStacks does.
Result<void> WritePprof(const model::ContextTree& tree, Output& out);
Result<void> WriteCallgrind(const model::ContextTree& tree, Output& out);
Result<void> WriteSpeedscope(const model::ContextTree& tree, const std::string& name, Output& out);
Result<void> WriteOtlp(const model::ContextTree& tree, const std::string& name, Output& out);
// Fails if the file cannot be written, with SQLite's reason.
Result<void> WriteSqlite(const model::ContextTree& tree, const std::string& path);
// These fail if the timeline cannot be visited.
Result<void> WriteChrome(model::Timeline& timeline, Output& out);
Result<void> WritePerfetto(model::Timeline& timeline, Output& out);
// Fails if the trace has no references to memory, or if they cannot be read.
Result<void> WriteReferences(ExportInput& input, Output& out);

}  // namespace jprof::reports
