#include "jprof/unwind/call_frames.h"

#include <algorithm>

#include "jprof/unwind/frame_program.h"

namespace jprof::unwind {
namespace {

constexpr uint32_t kLongLength = 0xffffffff;

// Returns the bytes of one entry after its length. They are empty at the end mark and at the end of
// the section.
FrameBytes NextEntry(FrameBytes& section) {
  if (section.left() < sizeof(uint32_t)) return {};
  const uint64_t length = section.Read<uint32_t>();
  return section.Part(length == kLongLength ? section.Read<uint64_t>() : length);
}

// Returns the rule for the stack layout when the kernel calls a signal handler on AArch64: a
// siginfo of 128 bytes, then a ucontext whose registers x0 to x30, sp and pc begin at offset 184.
FrameRule KernelSignalFrame() {
  constexpr int32_t kX0 = 128 + 184;
  return {.cfa = FrameRule::From::kAtSp,
          .fp = FrameRule::From::kSp,
          .ra = FrameRule::From::kSp,
          .signal = true,
          .cfa_offset = kX0 + 31 * 8,
          .fp_offset = kX0 + 29 * 8,
          .ra_offset = kX0 + 32 * 8};
}

FrameState InitialState(const Machine& machine) {
  FrameState state;
  state.rule.fp = FrameRule::From::kUnchanged;
  // x86-64 has no link register: without a rule for the return address, its place is unknown.
  state.rule.ra = machine.return_address == kAArch64.return_address ? FrameRule::From::kUnchanged
                                                                    : FrameRule::From::kUnknown;
  return state;
}

// Parses an augmentation string that begins with z (LSB Core 10.6.1.1.1).
bool ReadAugmentation(std::string_view letters, FrameBytes data, Cie& cie) {
  for (const char letter : letters.substr(1)) {
    switch (letter) {
      case 'R':
        cie.pointer_encoding = data.Read<uint8_t>();
        break;
      case 'P':
        data.ReadPointer(data.Read<uint8_t>() & kFormatMask);
        break;
      case 'L':
        data.Skip(1);
        break;
      case 'S':
        cie.signal = true;
        break;
      case 'B':  // AArch64: the B key signs return addresses
      case 'G':  // AArch64: tagged stack memory
        break;
      default:
        return false;
    }
  }
  return data.ok();
}

bool ReadCie(FrameBytes in, const Machine& machine, Cie& cie) {
  const auto version = in.Read<uint8_t>();
  const std::string_view letters = in.ReadText();
  cie.code_unit = in.ReadUleb();
  cie.data_unit = static_cast<uint64_t>(in.ReadSleb());
  const uint64_t return_address = version == 1 ? in.Read<uint8_t>() : in.ReadUleb();
  cie.has_augmentation_data = letters.starts_with('z');
  if ((version != 1 && version != 3) || return_address != machine.return_address || !in.ok())
    return false;
  if (cie.has_augmentation_data) {
    if (!ReadAugmentation(letters, in.Part(in.ReadUleb()), cie)) return false;
  } else if (!letters.empty()) {
    return false;
  }
  cie.initial = InitialState(machine);
  FrameProgram program(in, cie, machine, 0);
  const bool moved = program.Run();
  cie.initial = FrameState(program.state());
  return !moved && program.ok();
}

}  // namespace

CallFrames::CallFrames(FrameBytes eh_frame, CodeRange code, const Machine& machine)
    : section_(eh_frame), code_(code), machine_(machine) {
  FrameBytes section = section_;
  for (FrameBytes entry = NextEntry(section); !entry.empty() && section.ok();
       entry = NextEntry(section)) {
    const uint64_t here = entry.address();
    const auto back = entry.Read<uint32_t>();  // 0 in a CIE, which is read for a function
    if (back != 0) AddFunction(entry, here - back);
  }
  // Functions with equal starts are in the order of the section. A stable sort would allocate a
  // buffer.
  std::ranges::sort(functions_, {}, [](const Function& function) {
    return std::pair(function.code.low, function.program.address());
  });
  const auto same_begin = [](const Function& a, const Function& b) {
    return a.code.low == b.code.low;
  };
  functions_.erase(std::unique(functions_.begin(), functions_.end(), same_begin), functions_.end());
  for (size_t i = 0; i + 1 < functions_.size(); ++i) {
    functions_[i].code.high = std::min(functions_[i].code.high, functions_[i + 1].code.low);
  }
}

void CallFrames::AddFunction(FrameBytes entry, uint64_t cie_address) {
  const Cie* cie = CieAt(cie_address);
  if (cie == nullptr) return;
  const uint64_t low = entry.ReadPointer(cie->pointer_encoding);
  const uint64_t size = entry.ReadPointer(cie->pointer_encoding & kFormatMask);
  if (cie->has_augmentation_data) entry.Skip(entry.ReadUleb());
  const bool inside = low >= code_.low && low < code_.high && size != 0 && size <= code_.high - low;
  if (entry.ok() && inside) functions_.push_back({{low, low + size}, cie, entry});
}

const Cie* CallFrames::CieAt(uint64_t address) {
  const auto [known, is_new] = cies_.try_emplace(address);
  Cie& cie = known->second;
  if (is_new) {
    FrameBytes section = section_;
    section.Skip(address - section_.address());
    FrameBytes entry = section.ok() ? NextEntry(section) : FrameBytes();
    const bool is_cie = entry.Read<uint32_t>() == 0 && entry.ok();
    if (!is_cie || !ReadCie(entry, machine_, cie)) cie.pointer_encoding = kOmitted;
  }
  return cie.pointer_encoding == kOmitted ? nullptr : &cie;
}

void CallFrames::RowsOf(const Function& function, Rows& rows) const {
  rows.clear();
  if (function.cie->signal && machine_.kernel_signal_frame) {
    rows.emplace_back(function.code.low, KernelSignalFrame());
    return;
  }
  FrameProgram program(function.program, *function.cie, machine_, function.code.low);
  for (uint64_t from = function.code.low; from < function.code.high; from = program.address()) {
    const bool more = program.Run();
    rows.emplace_back(
        from, program.ok() ? RuleOf(program.state(), machine_, function.cie->signal) : FrameRule());
    if (!more) break;
  }
}

}  // namespace jprof::unwind
