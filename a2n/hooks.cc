#include "a2n/hooks.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>

#include <cerrno>
#include <memory>
#include <string_view>

#include "common/errno_text.h"
#include "common/fd.h"

namespace jprof::a2n {
namespace {

struct EndElf {
  void operator()(Elf* elf) const { elf_end(elf); }
};

// Returns whether a program has no interpreter, so that nothing is loaded into it. (Libraries have
// none either.)
bool IsStatic(Elf* elf) {
  size_t segments = 0;
  if (elf_getphdrnum(elf, &segments) != 0) return false;
  for (size_t i = 0; i < segments; ++i) {
    GElf_Phdr segment;
    if (gelf_getphdr(elf, static_cast<int>(i), &segment) == nullptr || segment.p_type == PT_INTERP)
      return false;
  }
  return segments != 0;
}

// Calls visit(name, symbol) for the symbols of .dynsym until it returns true.
template <class Visit>
void ForEachSymbol(Elf* elf, Elf_Scn* section, const GElf_Shdr& header, const Visit& visit) {
  Elf_Data* data = elf_getdata(section, nullptr);
  if (data == nullptr || header.sh_entsize == 0) return;
  const auto count = static_cast<int>(header.sh_size / header.sh_entsize);
  for (int i = 0; i < count; ++i) {
    GElf_Sym symbol;
    if (gelf_getsym(data, i, &symbol) == nullptr) return;
    const char* name = elf_strptr(elf, header.sh_link, symbol.st_name);
    if (name != nullptr && visit(std::string_view(name), symbol)) return;
  }
}

// Calls visit(elf, section, header, name of the section) for the sections of a file. Returns why it
// could not be read, or nothing.
template <class Visit>
std::string ForEachSection(const std::string& path, const Visit& visit) {
  const Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return ErrnoText();
  if (elf_version(EV_CURRENT) == EV_NONE) return elf_errmsg(-1);
  errno = 0;
  const std::unique_ptr<Elf, EndElf> elf(elf_begin(file.get(), ELF_C_READ, nullptr));
  if (!elf) return errno != 0 ? ErrnoText() : elf_errmsg(-1);
  size_t names = 0;
  if (elf_kind(elf.get()) != ELF_K_ELF || elf_getshdrstrndx(elf.get(), &names) != 0) return "";
  Elf_Scn* section = nullptr;
  while ((section = elf_nextscn(elf.get(), section)) != nullptr) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) continue;
    const char* name = elf_strptr(elf.get(), names, header.sh_name);
    visit(elf.get(), section, header, std::string_view(name != nullptr ? name : ""));
  }
  return "";
}

}  // namespace

std::optional<uint64_t> ExportedSymbol(const std::string& path, std::string_view name) {
  std::optional<uint64_t> found;
  ForEachSection(path, [&](Elf* elf, Elf_Scn* section, const GElf_Shdr& header, std::string_view) {
    if (header.sh_type != SHT_DYNSYM || found) return;
    ForEachSymbol(elf, section, header, [&](std::string_view symbol_name, const GElf_Sym& symbol) {
      if (symbol_name == name && symbol.st_shndx != SHN_UNDEF) found = symbol.st_value;
      return found.has_value();
    });
  });
  return found;
}

Hooks HooksOf(const std::string& path) {
  Hooks hooks;
  hooks.error = ForEachSection(path, [&](Elf* elf, Elf_Scn* section, const GElf_Shdr& header,
                                         std::string_view section_name) {
    hooks.is_static = IsStatic(elf);
    if (section_name == "xray_instr_map") hooks.sleds = true;
    if (header.sh_type != SHT_DYNSYM) return;
    ForEachSymbol(elf, section, header, [&](std::string_view name, const GElf_Sym&) {
      if (name == "__cyg_profile_func_enter") hooks.functions = true;
      if (name == "pthread_mutex_lock" || name == "pthread_rwlock_rdlock") hooks.locks = true;
      return hooks.functions && hooks.locks;
    });
  });
  return hooks;
}

}  // namespace jprof::a2n
