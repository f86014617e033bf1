// Whole tables of real modules, for both processors, compared with elfutils' interpretation of the
// same exception frames; and the functions of loaded modules with their symbol tables.
#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <gtest/gtest.h>
#include <link.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <random>
#include <span>
#include <string>

#include "jprof/unwind/unwind_table.h"
#include "jprof/unwind/unwinder.h"

namespace jprof::unwind {
namespace {

using From = FrameRule::From;

struct Symbol {
  std::string name;
  uint64_t value, size;
};

class ElfFile {
 public:
  explicit ElfFile(const std::string& path) : file_(open(path.c_str(), O_RDONLY)) {
    elf_version(EV_CURRENT);
    elf_ = elf_begin(file_, ELF_C_READ_MMAP, nullptr);
  }
  ~ElfFile() {
    elf_end(elf_);
    close(file_);
  }
  ElfFile(const ElfFile&) = delete;

  Elf* elf() const { return elf_; }
  const Machine& machine() const {
    GElf_Ehdr header;
    gelf_getehdr(elf_, &header);
    return header.e_machine == EM_AARCH64 ? kAArch64 : kX86;
  }
  FrameBytes EhFrame() const {
    size_t names = 0;
    elf_getshdrstrndx(elf_, &names);
    GElf_Shdr header;
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf_, section)) != nullptr;) {
      gelf_getshdr(section, &header);
      if (std::string_view(elf_strptr(elf_, names, header.sh_name)) != ".eh_frame") continue;
      const Elf_Data* data = elf_rawdata(section, nullptr);
      return {{static_cast<const uint8_t*>(data->d_buf), data->d_size}, header.sh_addr};
    }
    return {};
  }
  // Functions of .symtab, or of .dynsym where there is none.
  std::vector<Symbol> Functions() const {
    for (const GElf_Word type : {SHT_SYMTAB, SHT_DYNSYM}) {
      GElf_Shdr header;
      for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf_, section)) != nullptr;) {
        gelf_getshdr(section, &header);
        if (header.sh_type == type) return FunctionsOf(section, header);
      }
    }
    return {};
  }

 private:
  std::vector<Symbol> FunctionsOf(Elf_Scn* section, const GElf_Shdr& header) const {
    std::vector<Symbol> found;
    Elf_Data* data = elf_getdata(section, nullptr);
    GElf_Sym symbol;
    for (int i = 0; gelf_getsym(data, i, &symbol) != nullptr; ++i) {
      if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF ||
          symbol.st_size == 0)
        continue;
      found.push_back(
          {elf_strptr(elf_, header.sh_link, symbol.st_name), symbol.st_value, symbol.st_size});
    }
    return found;
  }

  int file_;
  Elf* elf_;
};

// A location in elfutils' form: operations, whose simple forms are those of FrameRule.
struct Place {
  From from = From::kUnknown;
  int64_t offset = 0;
};

Place OfRegister(uint64_t reg, int64_t offset, bool load, const Machine& machine) {
  if (reg == machine.sp) return {load ? From::kAtSp : From::kSp, offset};
  if (reg == machine.fp) return {load ? From::kAtFp : From::kFp, offset};
  return {};
}

Place PlaceOf(const Dwarf_Op* ops, size_t count, const Machine& machine) {
  // An expression starts from the CFA, which it need not use, and its result may be called a value.
  if (count > 1 && ops[0].atom == DW_OP_call_frame_cfa && ops[1].atom != DW_OP_plus_uconst)
    ++ops, --count;
  if (count > 1 && ops[count - 1].atom == DW_OP_stack_value) --count;
  const auto number = [&](size_t i) { return static_cast<int64_t>(ops[i].number); };
  if (count == 9 && ops[0].atom == DW_OP_breg7 && ops[1].atom == DW_OP_breg16)
    return {From::kPlt, ops[4].atom - DW_OP_lit0};
  const bool load = count == 2 && ops[1].atom == DW_OP_deref;
  if (count == 0 || (count == 2 && !load && ops[1].atom != DW_OP_plus_uconst) || count > 2)
    return {};
  if (ops[0].atom == DW_OP_call_frame_cfa) return {From::kCfa, count == 2 ? number(1) : 0};
  if (ops[0].atom == DW_OP_bregx)
    return OfRegister(ops[0].number, static_cast<int64_t>(ops[0].number2), load, machine);
  if (ops[0].atom < DW_OP_breg0 || ops[0].atom > DW_OP_breg31) return {};
  return OfRegister(ops[0].atom - uint64_t{DW_OP_breg0}, number(0), load, machine);
}

Place RegisterPlace(Dwarf_Frame* frame, uint64_t reg, const Machine& machine) {
  Dwarf_Op room[3], *ops = nullptr;
  size_t count = 0;
  if (dwarf_frame_register(frame, static_cast<int>(reg), room, &ops, &count) != 0) return {};
  if (count == 0) return {ops == nullptr ? From::kUnchanged : From::kUndefined, 0};
  return PlaceOf(ops, count, machine);
}

FrameRule OracleRule(Dwarf_CFI* cfi, uint64_t pc, const Machine& machine) {
  Dwarf_Frame* frame = nullptr;
  if (dwarf_cfi_addrframe(cfi, pc, &frame) != 0) return {};
  FrameRule rule;
  Dwarf_Addr start, end;
  const int ra = dwarf_frame_info(frame, &start, &end, &rule.signal);
  Dwarf_Op* ops = nullptr;
  size_t count = 0;
  const Place cfa =
      dwarf_frame_cfa(frame, &ops, &count) == 0 ? PlaceOf(ops, count, machine) : Place();
  const Place fp = RegisterPlace(frame, machine.fp, machine);
  const Place address = RegisterPlace(frame, static_cast<uint64_t>(ra), machine);
  free(frame);
  rule.cfa = cfa.from, rule.cfa_offset = static_cast<int32_t>(cfa.offset);
  rule.fp = fp.from, rule.fp_offset = static_cast<int32_t>(fp.offset);
  rule.ra = address.from, rule.ra_offset = static_cast<int32_t>(address.offset);
  if (rule.ra == From::kUndefined) return {.ra = From::kUndefined};
  return rule.cfa == From::kUnknown || rule.ra == From::kUnknown ? FrameRule() : rule;
}

class TableOracle : public testing::TestWithParam<const char*> {};

TEST_P(TableOracle, SameRulesAsElfutils) {
  if (!std::filesystem::exists(GetParam())) GTEST_SKIP() << "not installed here";
  const ElfFile file(GetParam());
  const Machine& machine = file.machine();
  const UnwindTable table(file.EhFrame(), {0, uint64_t{1} << 31}, machine);
  Dwarf_CFI* cfi = dwarf_getcfi_elf(file.elf());
  ASSERT_NE(cfi, nullptr);
  size_t compared = 0, different = 0, unknown = 0, functions = 0;
  const auto& rows = table.rows();
  const size_t stride = rows.size() / 60000 + 1;
  for (size_t i = 0; i + 1 < rows.size(); ++i) {
    functions += rows[i].starts_function;
    if (i % stride != 0) continue;
    const FrameRule& rule = table.RuleOf(rows[i]);
    unknown += rows[i].rule == 0;
    if (rule.signal && machine.kernel_signal_frame) continue;
    for (const uint64_t pc : {uint64_t{rows[i].pc}, uint64_t{rows[i + 1].pc} - 1}) {
      const bool same = rule == OracleRule(cfi, pc, machine);
      ++compared;
      different += !same;
      if (!same && different < 5)
        ADD_FAILURE() << std::hex << pc << " " << testing::PrintToString(rule)
                      << testing::PrintToString(OracleRule(cfi, pc, machine));
    }
  }
  std::printf(
      "%s: %zu functions, %zu rows, %zu rules, %.0f KiB; %zu places compared, %zu different, %zu "
      "rows unknown\n",
      GetParam(), functions, rows.size(), table.rules().size(),
      static_cast<double>(table.Bytes()) / 1024, compared, different, unknown);
  EXPECT_EQ(different, 0u);
  EXPECT_GT(compared, 100u);
  EXPECT_LT(unknown * 100, rows.size() / stride);
  dwarf_cfi_end(cfi);
}

constexpr const char* kX86Libc = "/lib/x86_64-linux-gnu/libc.so.6";
constexpr const char* kJvm17 = "/usr/lib/jvm/java-17-openjdk-amd64/lib/server/libjvm.so";
constexpr const char* kJvm25 = "/usr/lib/jvm/temurin-25-jdk-amd64/lib/server/libjvm.so";

INSTANTIATE_TEST_SUITE_P(Modules, TableOracle,
                         testing::Values("/proc/self/exe", kX86Libc, "/lib64/ld-linux-x86-64.so.2",
                                         "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
                                         "/usr/lib/x86_64-linux-gnu/libm.so.6",
                                         "/usr/lib/x86_64-linux-gnu/libcrypto.so.3", kJvm17, kJvm25,
                                         "/usr/aarch64-linux-gnu/lib/libc.so.6",
                                         "/usr/aarch64-linux-gnu/lib/ld-linux-aarch64.so.1",
                                         "/usr/aarch64-linux-gnu/lib/libstdc++.so.6"));

class LoadedFunctions : public testing::TestWithParam<const char*> {};

TEST_P(LoadedFunctions, BeginAtTheirSymbols) {
  void* library = dlopen(GetParam(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) GTEST_SKIP() << dlerror();
  Unwinder unwinder;
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_TRUE(unwinder.Refresh().has_value());
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
  link_map* map = nullptr;
  ASSERT_EQ(dlinfo(library, RTLD_DI_LINKMAP, &map), 0);
  const std::vector<Symbol> symbols = ElfFile(GetParam()).Functions();
  ASSERT_GT(symbols.size(), 500u);
  std::mt19937 random(7);
  size_t right = 0;
  constexpr size_t kAsked = 1000;
  for (size_t i = 0; i < kAsked; ++i) {
    const Symbol& symbol = symbols[random() % symbols.size()];
    const uint64_t pc = map->l_addr + symbol.value + random() % symbol.size;
    Function function;
    const bool found = unwinder.FunctionAt(pc, &function);
    right += found && function.link_address == symbol.value &&
             function.start == map->l_addr + symbol.value;
    EXPECT_TRUE(std::filesystem::equivalent(function.module, GetParam()));
    EXPECT_TRUE(!found || function.start <= pc);
  }
  std::printf("%s: %zu of %zu functions begin at their symbol; refresh %.1f ms, tables %.1f MiB\n",
              GetParam(), right, kAsked, time.count(),
              static_cast<double>(unwinder.TableBytes()) / (1 << 20));
  EXPECT_GT(right * 100, kAsked * 97);
  EXPECT_LT(unwinder.TableBytes(), 16u << 20);
}

INSTANTIATE_TEST_SUITE_P(Modules, LoadedFunctions, testing::Values(kX86Libc, kJvm17, kJvm25));

}  // namespace
}  // namespace jprof::unwind
