#include "record/run/musl.h"

#include <elf.h>

#include <fstream>
#include <string>

namespace jprof::record {
namespace {

template <typename T>
bool ReadAt(std::ifstream& file, uint64_t offset, T& value) {
  file.seekg(static_cast<std::streamoff>(offset));
  return !file.read(reinterpret_cast<char*>(&value), sizeof value).fail();
}

// Returns the dynamic linker of a program, or an empty text if it has none or is not a 64-bit ELF
// file.
std::string Interpreter(std::ifstream& file) {
  constexpr uint64_t kLongest = 4096;
  Elf64_Ehdr header = {};
  if (!ReadAt(file, 0, header) ||
      std::string_view(reinterpret_cast<char*>(header.e_ident), SELFMAG) != ELFMAG ||
      header.e_ident[EI_CLASS] != ELFCLASS64)
    return "";
  Elf64_Phdr part = {};
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    if (!ReadAt(file, header.e_phoff + i * sizeof part, part)) return "";
    if (part.p_type != PT_INTERP || part.p_filesz > kLongest) continue;
    std::string name(part.p_filesz, '\0');
    file.seekg(static_cast<std::streamoff>(part.p_offset));
    file.read(name.data(), static_cast<std::streamsize>(name.size()));
    return name.substr(0, name.find('\0'));
  }
  return "";
}

}  // namespace

bool IsMusl(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name.starts_with("ld-musl-") || name.starts_with("libc.musl-");
}

bool NeedsMusl(const std::filesystem::path& program) {
  std::ifstream file(program, std::ios::binary);
  return file && IsMusl(Interpreter(file));
}

}  // namespace jprof::record
