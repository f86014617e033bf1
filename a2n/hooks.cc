#include "a2n/hooks.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>

#include <memory>
#include <string_view>

#include "common/fd.h"

namespace jprof::a2n {
namespace {

struct EndElf {
  void operator()(Elf* elf) const { elf_end(elf); }
};

void LookAtSymbols(Elf* elf, Elf_Scn* section, const GElf_Shdr& header, Hooks& hooks) {
  Elf_Data* data = elf_getdata(section, nullptr);
  if (data == nullptr || header.sh_entsize == 0) return;
  const auto count = static_cast<int>(header.sh_size / header.sh_entsize);
  for (int i = 0; i < count; ++i) {
    GElf_Sym symbol;
    if (gelf_getsym(data, i, &symbol) == nullptr) return;
    const char* text = elf_strptr(elf, header.sh_link, symbol.st_name);
    if (text == nullptr) continue;
    const std::string_view name = text;
    if (name == "__cyg_profile_func_enter") hooks.functions = true;
    if (name == "__sanitizer_cov_trace_pc_guard") hooks.blocks = true;
  }
}

}  // namespace

Hooks HooksOf(const std::string& path) {
  Hooks hooks;
  const Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file || elf_version(EV_CURRENT) == EV_NONE) return hooks;
  const std::unique_ptr<Elf, EndElf> elf(elf_begin(file.get(), ELF_C_READ, nullptr));
  size_t names = 0;
  if (!elf || elf_kind(elf.get()) != ELF_K_ELF || elf_getshdrstrndx(elf.get(), &names) != 0)
    return hooks;
  Elf_Scn* section = nullptr;
  while ((section = elf_nextscn(elf.get(), section)) != nullptr) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) continue;
    const char* name = elf_strptr(elf.get(), names, header.sh_name);
    if (name != nullptr && std::string_view(name) == "xray_instr_map") hooks.sleds = true;
    if (header.sh_type == SHT_DYNSYM) LookAtSymbols(elf.get(), section, header, hooks);
  }
  return hooks;
}

}  // namespace jprof::a2n
