#include "jprof/hookit/sled_table.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "common/fd.h"
#include "common/loaded_objects.h"

namespace jprof::hookit {
namespace {

template <class T>
std::optional<std::vector<T>> ReadAt(int file, uint64_t offset, size_t count) {
  std::vector<T> all(count);
  const auto bytes = static_cast<ssize_t>(count * sizeof(T));
  if (pread(file, all.data(), static_cast<size_t>(bytes), static_cast<off_t>(offset)) != bytes)
    return std::nullopt;
  return all;
}

// Returns the header of a section of an ELF file by its name.
std::optional<Elf64_Shdr> FindSection(const char* path, const char* wanted) {
  const Fd file(open(path, O_RDONLY | O_CLOEXEC));
  if (!file) return std::nullopt;
  const auto elf = ReadAt<Elf64_Ehdr>(file.get(), 0, 1);
  if (!elf || std::memcmp(elf->front().e_ident, ELFMAG, SELFMAG) != 0) return std::nullopt;
  const Elf64_Ehdr& header = elf->front();
  if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shstrndx >= header.e_shnum)
    return std::nullopt;
  const auto sections = ReadAt<Elf64_Shdr>(file.get(), header.e_shoff, header.e_shnum);
  if (!sections) return std::nullopt;
  const Elf64_Shdr& texts = (*sections)[header.e_shstrndx];
  if (texts.sh_size > 1 << 20) return std::nullopt;
  auto names = ReadAt<char>(file.get(), texts.sh_offset, texts.sh_size);
  if (!names || names->empty()) return std::nullopt;
  names->back() = '\0';
  for (const Elf64_Shdr& section : *sections) {
    if (section.sh_name < names->size() && std::strcmp(&(*names)[section.sh_name], wanted) == 0)
      return section;
  }
  return std::nullopt;
}

SledModule ModuleOf(const dl_phdr_info& info) {
  const bool program = info.dlpi_name == nullptr || *info.dlpi_name == '\0';
  SledModule module;
  module.path = program ? kProgram : info.dlpi_name;
  module.bias = info.dlpi_addr;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info.dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    module.begin = std::min(module.begin, module.bias + segment.p_vaddr);
    module.end = std::max(module.end, module.bias + segment.p_vaddr + segment.p_memsz);
  }
  return module;
}

}  // namespace

std::vector<SledModule> LoadedModules() {
  std::vector<SledModule> modules;
  ForEachLoadedObject([&](const dl_phdr_info& info) {
    modules.push_back(ModuleOf(info));
    return false;
  });
  return modules;
}

bool FindSleds(SledModule& module) {
  const auto section = FindSection(module.path.c_str(), "xray_instr_map");
  if (!section || module.bias + section->sh_addr + section->sh_size > module.end) return false;
  module.sleds = {reinterpret_cast<const SledEntry*>(module.bias + section->sh_addr),
                  section->sh_size / sizeof(SledEntry)};
  return true;
}

}  // namespace jprof::hookit
