#include "model/ticks/disassembler.h"

#include <capstone/capstone.h>

#include "profile/files/printable_text.h"

namespace jprof::model {
namespace {

#if defined(__x86_64__)
constexpr cs_arch kArchitecture = CS_ARCH_X86;
constexpr cs_mode kMode = CS_MODE_64;
#else
constexpr cs_arch kArchitecture = CS_ARCH_ARM64;
constexpr cs_mode kMode = CS_MODE_ARM;
#endif

static_assert(sizeof(csh) == sizeof(size_t));

}  // namespace

Disassembler::Disassembler() {
  usable_ = cs_open(kArchitecture, kMode, &handle_) == CS_ERR_OK;
  if (usable_) cs_option(handle_, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
}

Disassembler::~Disassembler() {
  if (usable_) cs_close(&handle_);
}

Result<void> Disassembler::Check() const {
  if (usable_) return {};
  return Fail("Capstone cannot read this architecture's code");
}

void Disassembler::Visit(std::span<const uint8_t> code, uint64_t address,
                         const std::function<void(const Instruction&)>& use) const {
  cs_insn* instruction = cs_malloc(handle_);
  const uint8_t* bytes = code.data();
  size_t left = code.size();
  while (cs_disasm_iter(handle_, &bytes, &left, &address, instruction)) {
    use({instruction->address, instruction->size, instruction->mnemonic, instruction->op_str});
  }
  cs_free(instruction, 1);
}

std::string SourceLines::At(uint64_t address) {
  const auto frames = recording_.resolver->Frames(pid_, address, time_);
  if (frames.empty() || frames[0].line == 0) return {};
  const std::string& file = frames[0].file;
  std::string line =
      file.empty() ? fmt::format("line {}", frames[0].line)
                   : fmt::format("{}:{}", profile::CleanText(file.substr(file.rfind('/') + 1)),
                                 frames[0].line);
  if (line == last_) return {};
  last_ = line;
  return line;
}

}  // namespace jprof::model
