// Instructions of the hottest functions of a trace, each with how often it was executed.
#include <algorithm>

#include "profile/reader_text.h"
#include "reports/arc.h"
#include "reports/disassembler.h"
#include "reports/run_counts.h"
#include "reports/statistics.h"

namespace jprof::reports {
namespace {

constexpr uint32_t kListed = 10;  // functions, if neither --top nor --function is given

// jcc and loop on x86; b.cond, cbz, tbz and their like on ARM.
bool IsConditional(std::string_view mnemonic) {
  if (mnemonic.starts_with("j")) return !mnemonic.starts_with("jmp");
  return mnemonic.starts_with("loop") || mnemonic.starts_with("b.") || mnemonic.starts_with("cb") ||
         mnemonic.starts_with("tb");
}

class ArcListing {
 public:
  ArcListing(ArcRecording& arcs, const ArcOptions& options, Output& out)
      : arcs_(arcs), options_(options), out_(out), counts_(*arcs.code) {}

  Result<void> Print() {
    if (auto usable = disassembler_.Check(); !usable) return usable;
    const ArcTrace trace =
        WalkArcs(arcs_, options_.tid, [this](const StraightRun& run) { counts_.Add(run); });
    instructions_ = trace.instructions;
    sums_ = SumUp(trace, arcs_.code->functions().size());
    const ArcNotes notes = NotesOf(arcs_, trace);
    for (const std::string& loss : notes.losses) out_.Warning(fmt::format("lost: {}\n", loss));
    const std::vector<uint32_t> chosen = Chosen();
    if (chosen.empty()) {
      return WrongUse(
          "no function whose name contains '{}' was executed; jprof report arc {} "
          "lists them",
          options_.function, arcs_.directory);
    }
    for (const uint32_t function : chosen) PrintFunction(function);
    return {};
  }

 private:
  const ArcFunction& function(uint32_t number) const { return arcs_.code->functions()[number]; }

  bool HasRuns(uint32_t number) const {
    if (sums_.functions[number].self > 0) return true;
    for (uint32_t piece = 0; piece < counts_.pieces(); ++piece) {  // a stub: its caller has them
      if (arcs_.code->pieces()[piece].function == number && !counts_.Executed(piece).empty())
        return true;
    }
    return false;
  }

  // The hottest first.
  std::vector<uint32_t> Chosen() const {
    const bool named = !options_.function.empty();
    std::vector<uint32_t> chosen;
    for (uint32_t number = kFirstCode; number < sums_.functions.size(); ++number) {
      if (named ? function(number).name.contains(options_.function) && HasRuns(number)
                : sums_.functions[number].self > 0)
        chosen.push_back(number);
    }
    std::ranges::stable_sort(chosen, std::greater(),
                             [this](uint32_t number) { return sums_.functions[number].self; });
    const uint32_t most = options_.top > 0 ? options_.top : named ? ~0u : kListed;
    if (chosen.size() > most) chosen.resize(most);
    return chosen;
  }

  void PrintFunction(uint32_t number) {
    const FunctionSums& sums = sums_.functions[number];
    out_.Bold(fmt::format("{}: {} instructions, {:.2f} % of all; {} calls\n",
                          function(number).Marked(), sums.self, PercentOf(sums.self, instructions_),
                          sums.calls));
    if (arcs_.code->IsUnnamed(number))
      out_.Text("  no symbols: what one of its functions is, is not known\n");
    for (uint32_t piece = 0; piece < counts_.pieces(); ++piece) {
      if (arcs_.code->pieces()[piece].function == number) PrintPiece(piece);
    }
    out_.Text("\n");
  }

  std::vector<uint8_t> BytesOf(const CodePiece& piece) const {
    if (piece.jitted != nullptr) return piece.jitted->code;
    return arcs_.recording.resolver->Code(piece.pid, piece.start, piece.end - piece.start,
                                          piece.time);
  }

  void PrintPiece(uint32_t number) {
    const std::vector<uint64_t> executed = counts_.Executed(number);
    if (executed.empty()) return;
    const CodePiece piece = arcs_.code->pieces()[number];
    out_.Print("  at {:x} in process {}{}\n", piece.start, piece.pid,
               piece.jitted == nullptr ? "" : fmt::format(", {}", piece.jitted->type));
    const std::vector<uint8_t> bytes = BytesOf(piece);
    if (bytes.empty()) return PrintRuns(executed, piece.jitted != nullptr);
    SourceLines lines(arcs_.recording, piece.pid, piece.time);
    out_.Text("     EXECUTED        TAKEN  OFFSET  INSTRUCTION\n");
    disassembler_.Visit(bytes, piece.start, [&](const Instruction& instruction) {
      const uint64_t offset = instruction.address - piece.start;
      if (const std::string line = lines.At(instruction.address); !line.empty())
        out_.Print("                                    {}\n", line);
      const uint64_t count = offset < executed.size() ? executed[offset] : 0;
      const uint64_t taken = counts_.Taken(number, offset);
      const bool conditional = count > 0 && (taken > 0 || IsConditional(instruction.mnemonic));
      out_.Print("{:>13} {:>12}  {:>6x}  {} {}\n", count == 0 ? "" : fmt::format("{}", count),
                 conditional ? fmt::format("{}", taken) : "", offset, instruction.mnemonic,
                 instruction.operands);
    });
  }

  // Without the instructions: how often the code was executed from where on.
  void PrintRuns(const std::vector<uint64_t>& executed, bool jitted) {
    out_.Print("  its instructions are not {}; executions from each offset on:\n",
               jitted ? "in the recording (record with --code)" : "in a file that is there");
    for (size_t offset = 0; offset < executed.size(); ++offset) {
      if (executed[offset] != (offset == 0 ? 0 : executed[offset - 1]))
        out_.Print("{:>13}  +{:x}\n", executed[offset], offset);
    }
  }

  ArcRecording& arcs_;
  const ArcOptions& options_;
  Output& out_;
  const Disassembler disassembler_;
  RunCounts counts_;
  ArcSums sums_;
  uint64_t instructions_ = 0;
};

}  // namespace

Result<void> PrintArcListing(ArcRecording& arcs, const ArcOptions& options, Output& out) {
  if (options.format != Format::kText)
    return WrongUse("--listing is text; leave out --format {}", EntryOf(options.format).name);
  return ArcListing(arcs, options, out).Print();
}

}  // namespace jprof::reports
