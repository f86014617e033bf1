#include "a2n/kallsyms.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "a2n/a2n.h"
#include "a2n/proc_maps.h"
#include "tests/unit/temporary_directory.h"

namespace jprof::a2n {
namespace {

constexpr const char* kText =
    "ffffffff81000000 T _stext\n"
    "ffffffff81000000 t local_alias\n"
    "ffffffff81000100 t second\n"
    "ffffffff81000180 D data_ends_it\n"
    "this is no line\n"
    "ffffffffc0201020 t later\t[ext4]\n"
    "ffffffffc0201000 t init_once\t[ext4]\n"
    "ffffffffc0300000 t bpf_prog_12\t[bpf]";

TEST(KallsymsTest, FunctionsOfTheKernelAndItsModules) {
  const auto kernel = KernelSymbols::Parse(kText);
  ASSERT_TRUE(kernel.has_value());
  const auto at = [&](uint64_t address) -> std::string {
    const auto* symbol = kernel->Find(address);
    return symbol == nullptr ? "-"
                             : std::string(kernel->ModuleOf(*symbol)) + " " +
                                   std::string(kernel->NameOf(*symbol));
  };
  EXPECT_EQ(at(0xffffffff80ffffff), "-");
  EXPECT_EQ(at(0xffffffff81000000), "vmlinux _stext");
  EXPECT_EQ(at(0xffffffff810000ff), "vmlinux _stext");
  EXPECT_EQ(at(0xffffffff81000100), "vmlinux second");
  EXPECT_EQ(at(0xffffffff81000180), "-");
  EXPECT_EQ(at(0xffffffffc020101f), "[ext4] init_once");
  EXPECT_EQ(at(0xffffffffc0201fff), "[ext4] later");
  EXPECT_EQ(at(0xffffffffc0202000), "-");  // not as far as the next module
  EXPECT_EQ(at(0xffffffffc0300010), "[bpf] bpf_prog_12");
}

TEST(KallsymsTest, HiddenAddressesNameTheSetting) {
  const TemporaryDirectory directory("a2n");
  const std::string path = directory.path() / "kallsyms";
  std::ofstream(path) << "0000000000000000 T _stext\n0000000000000000 t other\n";
  Resolver resolver({.kallsyms = path});
  const Place place = resolver.Resolve(kKernel, 0xffffffff81000000, 1);
  EXPECT_EQ(place.module, "vmlinux");
  EXPECT_EQ(place.outcome, Outcome::kNoSymbols);
  ASSERT_EQ(resolver.Complaints().size(), 1u);
  EXPECT_NE(resolver.Complaints()[0].text.find("kptr_restrict"), std::string::npos);
  std::ofstream(path) << kText;
  Resolver open({.kallsyms = path});
  EXPECT_EQ(open.Resolve(1, 0xffffffff81000101, 1).symbol, "second");  // in any process
  EXPECT_EQ(open.Resolve(1, 0xffffffff81000101, 1).offset, 1u);
  EXPECT_EQ(open.Resolve(kKernel, 0xffffffff91000101, 1).outcome, Outcome::kNoSymbolFound);
}

TEST(KallsymsTest, CutAnywhere) {
  const std::string text = kText;
  for (size_t size = 0; size <= text.size(); ++size) {
    const auto kernel = KernelSymbols::Parse(std::string(text, 0, size));
    if (kernel) kernel->Find(0xffffffff81000100);
  }
  EXPECT_FALSE(KernelSymbols::Parse("").has_value());
  EXPECT_FALSE(KernelSymbols::Parse("garbage\n").has_value());
  EXPECT_TRUE(KernelSymbols::Parse("ffffffffffffffff T last").has_value());
}

TEST(ProcMapsTest, ExecutableOnes) {
  const std::string text =
      "55d0a000-55d0b000 r--p 00000000 fe:01 77     /usr/bin/x\n"
      "55d0b000-55d0d000 r-xp 00001000 fe:01 77     /usr/bin/x y (deleted)\n"
      "7f000000-7f100000 rwxp 00000000 00:00 0 \n"
      "7f200000-7f201000 r-xp 00000000 00:00 0      [vdso]\n"
      "7f300000-7f2f0000 r-xp 00000000 00:00 0      backwards\n"
      "7f30";
  const auto mappings = ParseMaps(text);
  ASSERT_EQ(mappings.size(), 3u);
  EXPECT_EQ(mappings[0].path, "/usr/bin/x y (deleted)");
  EXPECT_EQ(mappings[0].start, 0x55d0b000u);
  EXPECT_EQ(mappings[0].length, 0x2000u);
  EXPECT_EQ(mappings[0].file_offset, 0x1000u);
  EXPECT_EQ(mappings[0].inode, 77u);
  EXPECT_EQ(mappings[1].path, "//anon");
  EXPECT_EQ(mappings[2].path, "[vdso]");
  for (size_t size = 0; size <= text.size(); ++size) ParseMaps(std::string(text, 0, size));
}

}  // namespace
}  // namespace jprof::a2n
