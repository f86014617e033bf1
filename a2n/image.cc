#include "a2n/image.h"

#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <gelf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "a2n/demangle.h"

namespace jprof::a2n {

struct Image::Session {
  std::string debug_path;  // in the format of elfutils
  char* debug_path_pointer = nullptr;
  Dwfl_Callbacks callbacks = {};
  Dwfl* dwfl = nullptr;
  Dwfl_Module* module = nullptr;
  Elf* elf = nullptr;
  uint64_t bias = 0;  // elfutils' addresses minus those as linked

  ~Session() {
    if (dwfl != nullptr) dwfl_end(dwfl);
  }
};

namespace {

// Larger tables are treated as damage.
constexpr size_t kMostHeaders = 1 << 16;
// This many consecutive symbols without a name are a hole in a sparse file.
constexpr int kMostNameless = 1 << 20;

uint64_t SaturatedSum(uint64_t a, uint64_t b) {
  return a > ~uint64_t{0} - b ? ~uint64_t{0} : a + b;
}

uint64_t PageDown(uint64_t offset) { return offset & ~uint64_t{4095}; }

std::string DwflError() {
  const char* message = dwfl_errmsg(-1);
  return message == nullptr ? "elfutils reports no reason" : message;
}

// Returns where elfutils looks for debug files. "+" means that a debug file must match the CRC, ""
// is beside the file, and ".debug" is below it.
std::string DebugPath(const Options& options) {
  std::string path = "+:.debug";
  for (const std::string& folder : options.debug_folders) path += ":" + folder;
  return path;
}

}  // namespace

Image::Image() : session_(std::make_unique<Session>()) {}
Image::~Image() = default;

Result<std::unique_ptr<Image>> Image::Open(Fd fd, const std::string& path, const Options& options) {
  struct stat status = {};
  if (fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0) {
    return Fail("{}", status.st_size == 0 && S_ISREG(status.st_mode) ? "it is empty"
                                                                     : "it is not a regular file");
  }
  std::unique_ptr<Image> image(new Image());
  image->demangle_ = options.demangle;
  Session& session = *image->session_;
  session.debug_path = DebugPath(options);
  session.debug_path_pointer = session.debug_path.data();
  session.callbacks.find_elf = dwfl_build_id_find_elf;
  session.callbacks.find_debuginfo = dwfl_standard_find_debuginfo;
  session.callbacks.section_address = dwfl_offline_section_address;
  session.callbacks.debuginfo_path = &session.debug_path_pointer;
  session.dwfl = dwfl_begin(&session.callbacks);
  if (session.dwfl == nullptr) return Fail("{}", DwflError());
  dwfl_report_begin(session.dwfl);
  session.module = dwfl_report_elf(session.dwfl, path.c_str(), path.c_str(), fd.get(), 0, true);
  if (session.module == nullptr) return Fail("{}", DwflError());
  (void)fd.Release();  // elfutils closes it
  dwfl_report_end(session.dwfl, nullptr, nullptr);
  GElf_Addr bias = 0;
  session.elf = dwfl_module_getelf(session.module, &bias);
  if (session.elf == nullptr) return Fail("{}", DwflError());
  session.bias = bias;
  image->ReadSegments();
  image->ReadSections();
  image->ReadBuildId();
  return image;
}

void Image::ReadSegments() {
  size_t count = 0;
  if (elf_getphdrnum(session_->elf, &count) != 0) return;
  for (size_t i = 0; i < std::min(count, kMostHeaders); ++i) {
    GElf_Phdr header;
    if (gelf_getphdr(session_->elf, static_cast<int>(i), &header) == nullptr) break;
    if (header.p_type != PT_LOAD || header.p_filesz == 0) continue;
    segments_.push_back(
        {header.p_offset, header.p_filesz, header.p_vaddr, (header.p_flags & PF_X) != 0});
  }
  // If pages overlap in the file, prefer the executable segment.
  std::ranges::stable_sort(
      segments_, [](const Segment& a, const Segment& b) { return a.executable > b.executable; });
}

// Reads the ranges of code from the section headers, or else from the segments.
void Image::ReadSections() {
  Elf_Scn* section = nullptr;
  for (size_t i = 0; i < kMostHeaders && (section = elf_nextscn(session_->elf, section)) != nullptr;
       ++i) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) continue;
    if ((header.sh_flags & SHF_EXECINSTR) == 0 || (header.sh_flags & SHF_ALLOC) == 0 ||
        header.sh_size == 0)
      continue;
    code_.emplace_back(header.sh_addr, SaturatedSum(header.sh_addr, header.sh_size));
  }
  if (code_.empty()) {
    for (const Segment& segment : segments_) {
      if (segment.executable)
        code_.emplace_back(segment.address, SaturatedSum(segment.address, segment.size));
    }
  }
  std::ranges::sort(code_);
}

void Image::ReadBuildId() {
  const unsigned char* bits = nullptr;
  GElf_Addr address = 0;
  const int length = dwfl_module_build_id(session_->module, &bits, &address);
  for (int i = 0; i < length; ++i) build_id_ += fmt::format("{:02x}", bits[i]);
}

std::optional<uint64_t> Image::LinkAddress(uint64_t file_offset) const {
  for (const Segment& segment : segments_) {
    // A mapping begins and ends at page boundaries, so it includes some of the file around the
    // segment.
    if (file_offset < PageDown(segment.offset) ||
        file_offset >= SaturatedSum(segment.offset, segment.size))
      continue;
    return file_offset - segment.offset + segment.address;
  }
  return std::nullopt;
}

bool Image::IsCode(uint64_t address) const {
  const auto after =
      std::ranges::upper_bound(code_, address, {}, &std::pair<uint64_t, uint64_t>::first);
  return after != code_.begin() && address < std::prev(after)->second;
}

const SymbolTable& Image::ReadSymbols() {
  symbols_read_ = true;
  AddSymbolTable();
  AddProcedureLinkage();
  symbols_.Build(code_);
  shown_.resize(symbols_.symbols().size());
  return symbols_;
}

std::vector<uint64_t> Image::AddressesOf(std::string_view name) {
  std::vector<uint64_t> found;
  const int count = dwfl_module_getsymtab(session_->module);
  for (int i = 1; i < count; ++i) {
    GElf_Sym raw;
    GElf_Addr address = 0;
    GElf_Word section = SHN_UNDEF;
    const char* symbol =
        dwfl_module_getsym_info(session_->module, i, &raw, &address, &section, nullptr, nullptr);
    const int type = GELF_ST_TYPE(raw.st_info);
    if (symbol == nullptr || section == SHN_UNDEF || (type != STT_FUNC && type != STT_OBJECT))
      continue;
    const std::string_view bare(symbol, std::strcspn(symbol, "@"));
    bool same = bare == name;
    if (!same && bare.starts_with("_Z")) {
      const std::string readable = Demangle(std::string(bare).c_str());
      same = readable == name || (readable.starts_with(name) && readable[name.size()] == '(');
    }
    if (same) found.push_back(address - session_->bias);
  }
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

// Adds .symtab of the file or of its debug file, or else .dynsym together with .gnu_debugdata;
// elfutils selects them.
void Image::AddSymbolTable() {
  const int count = dwfl_module_getsymtab(session_->module);
  int nameless = 0;
  for (int i = 1; i < count; ++i) {
    GElf_Sym raw;
    GElf_Addr address = 0;
    GElf_Word section = SHN_UNDEF;
    const char* name =
        dwfl_module_getsym_info(session_->module, i, &raw, &address, &section, nullptr, nullptr);
    nameless = name == nullptr || name[0] == '\0' ? nameless + 1 : 0;
    if (nameless > kMostNameless) break;
    if (nameless > 0 || section == SHN_UNDEF) continue;
    const int type = GELF_ST_TYPE(raw.st_info), binding = GELF_ST_BIND(raw.st_info);
    address -= session_->bias;
    const bool data = type == STT_OBJECT && !IsCode(address);
    const bool function = type == STT_FUNC || type == STT_GNU_IFUNC || data;
    if (!function && type != STT_NOTYPE) continue;
    if (!function && (!IsCode(address) || name[0] == '$' || std::strncmp(name, ".L", 2) == 0))
      continue;
    const auto bound = binding == STB_LOCAL  ? SymbolTable::Binding::kLocal
                       : binding == STB_WEAK ? SymbolTable::Binding::kWeak
                                             : SymbolTable::Binding::kGlobal;
    std::string_view bare = name;
    bare = bare.substr(
        0, std::max<size_t>(bare.find('@'), 1));  // without a version: "xdr_int@GLIBC_2.2.5"
    symbols_.Add({address, raw.st_size, 0, SymbolTable::Rank(function, bound), !function}, bare);
  }
}

namespace {

struct PltShape {
  uint64_t address, first, entry;  // entries begin `first` bytes behind the address
};

// Returns where the jump to the i-th function of .rela.plt is, for the usual layouts of linkers.
// Returns nothing for other layouts.
std::optional<PltShape> ShapeOf(int machine, const GElf_Shdr* plt, const GElf_Shdr* plt_sec) {
  if (machine == EM_X86_64 && plt_sec != nullptr) return PltShape{plt_sec->sh_addr, 0, 16};
  if (machine == EM_X86_64 && plt != nullptr) return PltShape{plt->sh_addr, 16, 16};
  if (machine == EM_AARCH64 && plt != nullptr) return PltShape{plt->sh_addr, 32, 16};
  return std::nullopt;
}

}  // namespace

void Image::AddProcedureLinkage() {
  Elf* elf = session_->elf;
  size_t names = 0;
  GElf_Ehdr file;
  if (elf_getshdrstrndx(elf, &names) != 0 || gelf_getehdr(elf, &file) == nullptr) return;
  GElf_Shdr plt = {}, plt_sec = {}, relocations = {};
  Elf_Scn* relocation_section = nullptr;
  bool has_plt = false, has_plt_sec = false;
  Elf_Scn* section = nullptr;
  for (size_t i = 0; i < kMostHeaders && (section = elf_nextscn(elf, section)) != nullptr; ++i) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) continue;
    const char* name = elf_strptr(elf, names, header.sh_name);
    if (name == nullptr) continue;
    if (std::strcmp(name, ".plt") == 0) plt = header, has_plt = true;
    if (std::strcmp(name, ".plt.sec") == 0) plt_sec = header, has_plt_sec = true;
    if (std::strcmp(name, ".rela.plt") == 0 && header.sh_type == SHT_RELA)
      relocations = header, relocation_section = section;
  }
  const auto shape =
      ShapeOf(file.e_machine, has_plt ? &plt : nullptr, has_plt_sec ? &plt_sec : nullptr);
  if (!shape || relocation_section == nullptr || relocations.sh_entsize == 0) return;
  Elf_Scn* symbol_section = elf_getscn(elf, relocations.sh_link);
  GElf_Shdr symbols;
  if (symbol_section == nullptr || gelf_getshdr(symbol_section, &symbols) == nullptr) return;
  Elf_Data* rows = elf_getdata(relocation_section, nullptr);
  Elf_Data* symbol_rows = elf_getdata(symbol_section, nullptr);
  if (rows == nullptr || symbol_rows == nullptr) return;
  const uint64_t count = std::min<uint64_t>(rows->d_size / relocations.sh_entsize, kMostHeaders);
  for (uint64_t i = 0; i < count; ++i) {
    GElf_Rela row;
    GElf_Sym symbol;
    if (gelf_getrela(rows, static_cast<int>(i), &row) == nullptr) break;
    if (gelf_getsym(symbol_rows, static_cast<int>(GELF_R_SYM(row.r_info)), &symbol) == nullptr)
      continue;
    const char* name = elf_strptr(elf, symbols.sh_link, symbol.st_name);
    const uint64_t address = shape->address + shape->first + i * shape->entry;
    if (name == nullptr || name[0] == '\0' || !IsCode(address)) continue;
    symbols_.Add({address, shape->entry, 0, SymbolTable::Rank(true, SymbolTable::Binding::kLocal)},
                 std::string(name) + "@plt");
  }
}

std::string_view Image::NameOf(const Symbol& symbol) {
  const size_t index = symbols_.IndexOf(symbol);
  std::string_view& shown = shown_[index];
  if (shown.data() != nullptr) return shown;
  const char* name = symbols_.NameOf(symbol);
  if (!demangle_ || name[0] != '_' || (name[1] != 'Z' && name[1] != 'R')) return shown = name;
  std::string bare = name;
  const bool plt = bare.ends_with("@plt");
  if (plt) bare.resize(bare.size() - 4);
  return shown =
             demangled_.emplace(index, Demangle(bare.c_str()) + (plt ? "@plt" : "")).first->second;
}

SourceLines::Found Image::FramesAt(uint64_t address) {
  if (lines_ == nullptr) {
    Dwarf_Addr bias = 0;
    Dwarf* dwarf = dwfl_module_getdwarf(session_->module, &bias);
    lines_ = std::make_unique<SourceLines>(dwarf, bias - session_->bias, demangle_);
  }
  return lines_->FramesAt(address);
}

std::vector<uint8_t> Image::CodeAt(uint64_t file_offset, uint64_t length) const {
  for (const Segment& segment : segments_) {
    const uint64_t end = SaturatedSum(segment.offset, segment.size);
    if (file_offset < segment.offset || file_offset >= end) continue;
    size_t file_size = 0;
    if (elf_rawfile(session_->elf, &file_size) == nullptr || file_offset >= file_size) return {};
    length = std::min({length, end - file_offset, file_size - file_offset});
    const Elf_Data* data =
        elf_getdata_rawchunk(session_->elf, static_cast<int64_t>(file_offset), length, ELF_T_BYTE);
    if (data == nullptr || data->d_buf == nullptr) return {};
    const auto* bytes = static_cast<const uint8_t*>(data->d_buf);
    return {bytes, bytes + std::min<size_t>(data->d_size, length)};
  }
  return {};
}

std::string BuildIdOf(const std::string& path) {
  Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return "";
  const auto image = Image::Open(std::move(fd), path, {});
  return image ? (*image)->build_id() : "";
}

}  // namespace jprof::a2n
