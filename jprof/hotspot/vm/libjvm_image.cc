#include "jprof/hotspot/vm/libjvm_image.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cstring>

#include "common/errno_text.h"
#include "common/fd.h"

namespace jprof::hotspot {
namespace {

// Reads a T at `offset`. Bytes past the end are zero.
template <typename T>
T Read(std::string_view bytes, uint64_t offset) {
  T value = {};
  if (offset <= bytes.size() && sizeof(T) <= bytes.size() - offset) {
    std::memcpy(&value, bytes.data() + offset, sizeof value);
  }
  return value;
}

std::string_view Text(std::string_view bytes, uint64_t offset) {
  if (offset >= bytes.size()) return {};
  bytes.remove_prefix(offset);
  return bytes.substr(0, bytes.find('\0'));
}

std::string_view Part(std::string_view bytes, uint64_t offset, uint64_t size) {
  return offset <= bytes.size() && size <= bytes.size() - offset ? bytes.substr(offset, size)
                                                                 : std::string_view();
}

// Calls f(type, owner, payload) for each note.
template <typename F>
void ForEachNote(std::string_view notes, F f) {
  uint64_t at = 0;
  while (at + sizeof(Elf64_Nhdr) <= notes.size()) {
    const auto header = Read<Elf64_Nhdr>(notes, at);
    at += sizeof header;
    const std::string_view owner = Text(Part(notes, at, header.n_namesz), 0);
    at += (uint64_t{header.n_namesz} + 3) & ~3ull;
    f(header.n_type, owner, Part(notes, at, header.n_descsz));
    at += (uint64_t{header.n_descsz} + 3) & ~3ull;
  }
}

}  // namespace

Result<LibjvmImage> LibjvmImage::Open() {
  // Any symbol that libjvm.so exports locates it.
  void* symbol = dlsym(RTLD_DEFAULT, "JNI_GetCreatedJavaVMs");
  if (symbol == nullptr) {
    if (void* library = dlopen("libjvm.so", RTLD_LAZY | RTLD_NOLOAD)) {
      symbol = dlsym(library, "JNI_GetCreatedJavaVMs");
    }
  }
  Dl_info info;
  if (symbol == nullptr || dladdr(symbol, &info) == 0) return Fail("cannot find libjvm.so");
  LibjvmImage image;
  image.path_ = info.dli_fname;
  image.bias_ = reinterpret_cast<uint64_t>(info.dli_fbase);  // libraries are linked at 0
  if (auto mapped = image.Map(); !mapped) return std::unexpected(mapped.error());

  const std::string_view file = image.file();
  const auto header = Read<Elf64_Ehdr>(file, 0);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64) {
    return Fail("{} is not a 64-bit ELF file", image.path_);
  }
  const auto section_at = [&](uint64_t i) {
    return Read<Elf64_Shdr>(file, header.e_shoff + i * sizeof(Elf64_Shdr));
  };
  const auto names = section_at(header.e_shstrndx);
  const std::string_view name_bytes = Part(file, names.sh_offset, names.sh_size);
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    const auto s = section_at(i);
    image.sections_.push_back(
        {Text(name_bytes, s.sh_name), s.sh_addr, s.sh_offset, s.sh_size, s.sh_link, s.sh_entsize});
  }
  return image;
}

void UnmapFile::operator()(const char* file) const { munmap(const_cast<char*>(file), size); }

Result<void> LibjvmImage::Map() {
  const Fd in(open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status = {};
  if (!in || fstat(in.get(), &status) != 0) return Fail("cannot read {}: {}", path_, ErrnoText());
  const auto size = static_cast<size_t>(status.st_size);
  void* const mapped = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, in.get(), 0);
  if (mapped == MAP_FAILED) return Fail("cannot map {}: {}", path_, ErrnoText());
  file_ = {static_cast<const char*>(mapped), UnmapFile{size}};
  return {};
}

const LibjvmImage::Section* LibjvmImage::Find(std::string_view name) const {
  for (const Section& section : sections_) {
    if (section.name == name) return &section;
  }
  return nullptr;
}

std::string_view LibjvmImage::Bytes(const Section& section) const {
  return Part(file(), section.offset, section.size);
}

Function LibjvmImage::Symbol(std::string_view prefix) const {
  const std::vector<NamedFunction> found = Symbols(prefix);
  return found.empty() ? Function{} : found.front().code;
}

std::vector<LibjvmImage::NamedFunction> LibjvmImage::Symbols(std::string_view prefix) const {
  std::vector<NamedFunction> found;
  const Section* table = Find(".symtab");
  if (table == nullptr || table->link >= sections_.size()) return found;
  const std::string_view names = Bytes(sections_[table->link]);
  const std::string_view symbols = Bytes(*table);
  for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= symbols.size(); at += sizeof(Elf64_Sym)) {
    const auto symbol = Read<Elf64_Sym>(symbols, at);
    if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_value == 0) continue;
    const std::string_view name = Text(names, symbol.st_name);
    if (name.starts_with(prefix) && !name.ends_with(".cold"))
      found.push_back({name, {bias_ + symbol.st_value, symbol.st_size}});
  }
  return found;
}

std::vector<Function> LibjvmImage::Loaded(std::string_view prefix) const {
  std::vector<Function> loaded;
  for (const Section& section : sections_) {
    if (section.name.starts_with(prefix) && section.address != 0)
      loaded.push_back({bias_ + section.address, section.size});
  }
  return loaded;
}

uint64_t LibjvmImage::FunctionWithProbe(std::string_view wanted) const {
  constexpr uint32_t kStapNote = 3;
  const Section* notes = Find(".note.stapsdt");
  const Section* base_section = Find(".stapsdt.base");
  if (notes == nullptr || base_section == nullptr) return 0;
  uint64_t found = 0;
  ForEachNote(Bytes(*notes), [&](uint32_t type, std::string_view owner, std::string_view payload) {
    if (type != kStapNote || owner != "stapsdt") return;
    const auto address = Read<uint64_t>(payload, 0);
    const auto base =
        Read<uint64_t>(payload, 8);  // prelink changes it; the section gives the difference
    const std::string_view provider = Text(payload, 24);
    const std::string_view name = Text(payload, 24 + provider.size() + 1);
    if (provider == "hotspot" && name == wanted) found = address + base_section->address - base;
  });
  return found == 0 ? 0 : FunctionStart(bias_ + found);
}

// Finds the start of the function that contains an address. .eh_frame_hdr contains a sorted table
// of (function start, its FDE), both relative to the header.
uint64_t LibjvmImage::FunctionStart(uint64_t address) const {
  constexpr uint8_t kDataRelativeSdata4 = 0x3b;
  const Section* section = Find(".eh_frame_hdr");
  if (section == nullptr) return 0;
  const std::string_view bytes = Bytes(*section);
  const auto pointer_encoding = Read<uint8_t>(bytes, 1);
  const auto count_encoding = Read<uint8_t>(bytes, 2);
  if (Read<uint8_t>(bytes, 3) != kDataRelativeSdata4 || (pointer_encoding & 0x0f) != 0x0b ||
      count_encoding != 0x03) {
    return 0;
  }
  const auto count = Read<uint32_t>(bytes, 8);
  const uint64_t header = bias_ + section->address;
  uint64_t start = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t function = header + int64_t{Read<int32_t>(bytes, 12 + uint64_t{i} * 8)};
    if (function > address) break;
    start = function;
  }
  return start;
}

std::string LibjvmImage::BuildId() const {
  std::string hex;
  const Section* notes = Find(".note.gnu.build-id");
  if (notes == nullptr) return hex;
  ForEachNote(Bytes(*notes), [&](uint32_t type, std::string_view, std::string_view payload) {
    if (type != NT_GNU_BUILD_ID) return;
    for (const char c : payload) hex += fmt::format("{:02x}", static_cast<uint8_t>(c));
  });
  return hex;
}

}  // namespace jprof::hotspot
