// Prints the instructions of the hottest functions of a trace, each with how often it was executed.
#include <algorithm>
#include <functional>
#include <set>

#include "common/shell_word.h"
#include "model/itrace/run_counts.h"
#include "model/ticks/disassembler.h"
#include "model/values/statistics.h"
#include "profile/files/printable_text.h"
#include "reports/itrace/arc.h"

namespace jprof::reports {
namespace {

constexpr uint32_t kListed = 10;  // functions, if neither --top nor --function is given

// Matches jcc and loop on x86, and b.cond, cbz, tbz and their like on ARM.
bool IsConditional(std::string_view mnemonic) {
  if (mnemonic.starts_with("j")) return !mnemonic.starts_with("jmp");
  return mnemonic.starts_with("loop") || mnemonic.starts_with("b.") || mnemonic.starts_with("cb") ||
         mnemonic.starts_with("tb");
}

uint64_t CountAt(const std::vector<model::ExecutedFrom>& executed, uint64_t offset) {
  const auto above = std::ranges::upper_bound(executed, offset, {}, &model::ExecutedFrom::offset);
  return above == executed.begin() ? 0 : std::prev(above)->count;
}

// Prints the code of functions.
class ListedFunction {
 public:
  ListedFunction(model::ArcRecording& arcs, const model::RunCounts& counts,
                 const model::Disassembler& disassembler, model::NameForm names, Output& out)
      : arcs_(arcs), counts_(counts), disassembler_(disassembler), names_(names), out_(out) {}

  void Print(uint32_t number, const model::FunctionSums& sums, uint64_t all) {
    out_.Bold(fmt::format("{}: {} instructions, {:.2f} % of all; {} calls\n",
                          arcs_.code->functions()[number].Marked(names_), sums.self,
                          model::PercentOf(sums.self, all), sums.calls));
    if (arcs_.code->IsUnnamed(number))
      out_.Text("  no symbols: which instructions are one function is not known\n");
    for (uint32_t piece = 0; piece < counts_.pieces(); ++piece) {
      if (arcs_.code->pieces()[piece].function == number) PrintPiece(piece);
    }
    out_.Text("\n");
  }

 private:
  std::vector<uint8_t> BytesOf(const model::CodePiece& piece) const {
    if (piece.jitted != nullptr) return piece.jitted->code;
    return arcs_.recording.resolver->Code(piece.pid, piece.start, piece.end - piece.start,
                                          piece.time);
  }

  void PrintPiece(uint32_t number) {
    const std::vector<model::ExecutedFrom> executed = counts_.Executed(number);
    if (executed.empty()) return;
    const model::CodePiece piece = arcs_.code->pieces()[number];
    out_.Print("  at {:x} in process {}{}\n", piece.start, piece.pid,
               piece.jitted == nullptr ? "" : fmt::format(", {}", piece.jitted->type));
    const std::vector<uint8_t> bytes = BytesOf(piece);
    if (bytes.empty()) return PrintRuns(executed, piece.jitted != nullptr);
    model::SourceLines lines(arcs_.recording, piece.pid, piece.time);
    out_.Text("     EXECUTED        TAKEN  OFFSET  INSTRUCTION\n");
    disassembler_.Visit(bytes, piece.start, [&](const model::Instruction& instruction) {
      const uint64_t offset = instruction.address - piece.start;
      if (const std::string line = lines.At(instruction.address); !line.empty())
        out_.Print("                                    {}\n", line);
      const uint64_t count = CountAt(executed, offset);
      const uint64_t taken = counts_.Taken(number, offset);
      const bool conditional = count > 0 && (taken > 0 || IsConditional(instruction.mnemonic));
      out_.Print("{:>13} {:>12}  {:>6x}  {} {}\n", count == 0 ? "" : fmt::format("{}", count),
                 conditional ? fmt::format("{}", taken) : "", offset, instruction.mnemonic,
                 instruction.operands);
    });
  }

  // Prints how often the code was executed from each offset on, without its instructions.
  void PrintRuns(const std::vector<model::ExecutedFrom>& executed, bool jitted) {
    out_.Print("  its instructions are not {}; executions from each offset on:\n",
               jitted ? "in the recording (JPROFOPTS=code jprof itrace ... records them)"
                      : "in a file that is there");
    for (const model::ExecutedFrom& from : executed)
      out_.Print("{:>13}  +{:x}\n", from.count, from.offset);
  }

  model::ArcRecording& arcs_;
  const model::RunCounts& counts_;
  const model::Disassembler& disassembler_;
  model::NameForm names_;
  Output& out_;
};

// Returns the functions with executed instructions. Their sums may be 0: the instructions of a stub
// are attributed to its caller.
std::vector<uint32_t> Executed(const model::ArcRecording& arcs, const model::RunCounts& counts) {
  std::set<uint32_t> functions;
  for (uint32_t piece = 0; piece < counts.pieces(); ++piece) {
    if (counts.IsExecuted(piece)) functions.insert(arcs.code->pieces()[piece].function);
  }
  return {functions.begin(), functions.end()};
}

// Returns the functions to list, the hottest first.
std::vector<uint32_t> Chosen(const model::ArcRecording& arcs, const Options& options,
                             const model::RunCounts& counts, const model::ArcSums& sums) {
  std::vector<uint32_t> chosen = Executed(arcs, counts);
  std::erase_if(chosen, [&](uint32_t number) {
    return !arcs.code->functions()[number].name.contains(options.function);
  });
  std::ranges::stable_sort(chosen, std::greater(),
                           [&](uint32_t number) { return sums.functions[number].self; });
  const size_t most = options.top > 0            ? options.top
                      : options.function.empty() ? kListed
                                                 : chosen.size();
  chosen.resize(std::min(chosen.size(), most));
  return chosen;
}

}  // namespace

Result<void> PrintArcListing(model::ArcRecording& arcs, const Options& options, Output& out) {
  if (options.format != Format::kText)
    return WrongUse("--listing is text; leave out --format {}", EntryOf(options.format).name);
  model::RunCounts counts(*arcs.code);
  const model::ArcTrace trace = model::WalkArcs(
      arcs, options.tid, [&counts](const model::StraightRun& run) { counts.Add(run); });
  for (const std::string& loss : model::NotesOf(arcs, trace).losses)
    out.Warning(fmt::format("lost: {}\n", loss));
  const auto visit = [&out](uint32_t, const std::string& text) { out.Text(text); };
  const Result<size_t> listed = ListArcFunctions(arcs, trace, counts, options, visit);
  if (!listed) return std::unexpected(listed.error());
  if (*listed > 0) return {};
  if (options.tid && trace.threads.empty())
    return WrongUse("{} has no thread {}", arcs.directory, *options.tid);
  if (options.function.empty())
    return WrongUse("{}: all code that was executed is without symbols: nothing to list",
                    arcs.directory);
  return WrongUse(
      "no function whose name contains '{}' was executed; jprof report arc {} lists them",
      options.function, ShellWord(arcs.directory));
}

Result<size_t> ListArcFunctions(
    model::ArcRecording& arcs, const model::ArcTrace& trace, const model::RunCounts& counts,
    const Options& options,
    const std::function<void(uint32_t function, const std::string& text)>& visit) {
  const model::Disassembler disassembler;
  if (auto usable = disassembler.Check(); !usable) return std::unexpected(usable.error());
  const model::ArcSums sums = model::SumUp(trace, arcs.code->functions().size());
  const std::vector<uint32_t> chosen = Chosen(arcs, options, counts, sums);
  for (const uint32_t number : chosen) {
    const auto text = PrintedText([&](Output& out) -> Result<void> {
      ListedFunction(arcs, counts, disassembler, options.names, out)
          .Print(number, sums.functions[number], trace.instructions);
      return {};
    });
    if (!text) return std::unexpected(text.error());
    visit(number, *text);
  }
  return chosen.size();
}

}  // namespace jprof::reports
