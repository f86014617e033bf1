#include "model/tree/run_description.h"

#include <algorithm>

#include "model/tree/process_attributes.h"
#include "model/values/amount.h"
#include "profile/files/printable_text.h"
#include "profile/read/imported.h"
#include "profile/read/losses.h"

namespace jprof::model {
namespace {

using profile::CleanText;

std::string MachineText(const profile::Machine& machine) {
  if (machine.cpu.empty() && machine.kernel.empty()) return "";
  return CleanText(
      fmt::format("{}, {} CPUs, {} {}", machine.cpu, machine.cpus, machine.kernel, machine.arch));
}

bool IsAgent(std::string_view word) {
  return word.starts_with("-agentpath:") || word.starts_with("-J-agentpath:");
}

uint64_t DurationNanos(const profile::ControlHeader& header) {
  if (header.ticks_per_second == 0 || header.end_ticks <= header.start_ticks) return 0;
  const double nanos = static_cast<double>(header.end_ticks - header.start_ticks) * 1e9 /
                       static_cast<double>(header.ticks_per_second);
  return static_cast<uint64_t>(Rounded(nanos));  // a damaged header may have any value
}

// Adds what the profile was merged from, and what the table was refitted to.
void AddOrigin(const Source& source, std::vector<std::string>& notes) {
  if (!source.refitted.empty()) notes.push_back(CleanText(source.refitted));
  if (const auto imported = profile::ReadImported(source.reader.directory())) {
    notes.push_back("imported from " + imported->Text());
    notes.insert(notes.end(), imported->notes.begin(), imported->notes.end());
  }
  if (!source.merged) return;
  notes.push_back(CleanText(fmt::format("merged: {} profiles; threads: {}",
                                        source.merged->inputs.size(), source.merged->threads)));
  for (const std::string& notice : source.merged->notices) notes.push_back(CleanText(notice));
}

std::vector<std::string> Notes(const Source& source) {
  const profile::Reader& reader = source.reader;
  std::vector<std::string> notes;
  if (reader.window() != nullptr) notes.push_back("window: " + CleanText(reader.window()->Text()));
  if (const auto& piece = reader.meta().piece; piece.number != 0)
    notes.push_back(CleanText(piece.Text()));
  AddOrigin(source, notes);
  const std::string folded = profile::FoldedText(reader.header());
  if (!folded.empty()) notes.push_back(folded);
  for (const profile::Loss& loss : profile::Losses(reader)) {
    if (loss.count > 0) notes.push_back(fmt::format("lost: {} {}", loss.count, loss.description));
  }
  for (const std::string& damage : reader.damages().Lines()) notes.push_back("damaged: " + damage);
  return notes;
}

}  // namespace

std::string CommandText(const std::vector<std::string>& command) {
  std::string text;
  for (const std::string& word : command) {
    if (!IsAgent(word)) text += (text.empty() ? "" : " ") + word;
  }
  return CleanText(text);
}

RunDescription DescribeRun(const Source& source) {
  const profile::Meta& meta = source.reader.meta();
  const profile::ControlHeader& header = source.reader.header();
  return {.jprof = CleanText(meta.jprof),
          .mode = CleanText(meta.mode),
          .command = CommandText(meta.command),
          .jvm = CleanText(meta.jvm.Title()),
          .machine = MachineText(meta.machine),
          .start = CleanText(meta.start),
          .pid = meta.pid,
          .start_unix_ns = std::min<uint64_t>(header.start_unix_ns, INT64_MAX),
          .duration_ns = DurationNanos(header),
          .notes = Notes(source),
          .attributes = ReadProcessAttributes(source.reader.directory())};
}

}  // namespace jprof::model
