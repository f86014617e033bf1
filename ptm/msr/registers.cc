#include "ptm/msr/registers.h"

#include <charconv>
#include <optional>
#include <vector>

#include "common/nearest.h"

namespace jprof::ptm {
namespace {

// In "Intel" the table has the names of Intel's manual (volume 4, chapter 2), in "APM" those of
// AMD's manual (volume 2, appendix A), in "PPR" those of AMD's processor references (family 17h and
// later).
constexpr NamedRegister kRegisters[] = {
    {"TSC", 0x10, "Intel IA32_TIME_STAMP_COUNTER, APM TSC", "the time stamp counter"},
    {"SMI_COUNT", 0x34, "Intel MSR_SMI_COUNT", "system management interrupts since reset"},
    {"MICROCODE", 0x8B, "Intel IA32_BIOS_SIGN_ID, APM PATCH_LEVEL", "microcode revision"},
    {"PLATFORM_INFO", 0xCE, "Intel MSR_PLATFORM_INFO", "bits 15:8: base frequency in 100 MHz"},
    {"MPERF", 0xE7, "Intel IA32_MPERF, APM MPERF", "cycles at the base frequency while not idle"},
    {"APERF", 0xE8, "Intel IA32_APERF, APM APERF", "cycles at the actual frequency while not idle"},
    {"PERF_STATUS", 0x198, "Intel IA32_PERF_STATUS", "bits 15:0: performance state now"},
    {"THERM_STATUS", 0x19C, "Intel IA32_THERM_STATUS", "bits 22:16: degrees below the limit"},
    {"MISC_ENABLE", 0x1A0, "Intel IA32_MISC_ENABLE", "which features are enabled"},
    {"TEMPERATURE_TARGET", 0x1A2, "Intel MSR_TEMPERATURE_TARGET", "bits 23:16: the limit, degrees"},
    {"TURBO_RATIO_LIMIT", 0x1AD, "Intel MSR_TURBO_RATIO_LIMIT", "most frequency by active cores"},
    {"ENERGY_PERF_BIAS", 0x1B0, "Intel IA32_ENERGY_PERF_BIAS", "0: performance, 15: energy"},
    {"PACKAGE_THERM_STATUS", 0x1B1, "Intel IA32_PACKAGE_THERM_STATUS", "THERM_STATUS of a package"},
    {"PKG_C6_RESIDENCY", 0x3F9, "Intel MSR_PKG_C6_RESIDENCY", "TSC ticks of the package in C6"},
    {"CORE_C6_RESIDENCY", 0x3FD, "Intel MSR_CORE_C6_RESIDENCY", "TSC ticks of the core in C6"},
    {"RAPL_POWER_UNIT", 0x606, "Intel MSR_RAPL_POWER_UNIT",
     "an energy unit is 1 J / 2^(bits 12:8)"},
    {"PKG_POWER_LIMIT", 0x610, "Intel MSR_PKG_POWER_LIMIT", "power limits of the package"},
    {"PKG_ENERGY_STATUS", 0x611, "Intel MSR_PKG_ENERGY_STATUS", "energy units of the package"},
    {"DRAM_ENERGY_STATUS", 0x619, "Intel MSR_DRAM_ENERGY_STATUS", "energy units of the memory"},
    {"PP0_ENERGY_STATUS", 0x639, "Intel MSR_PP0_ENERGY_STATUS", "energy units of the cores"},
    {"PP1_ENERGY_STATUS", 0x641, "Intel MSR_PP1_ENERGY_STATUS", "energy units of graphics"},
    {"HWP_CAPABILITIES", 0x771, "Intel IA32_HWP_CAPABILITIES", "performance levels of the CPU"},
    {"HWP_REQUEST", 0x774, "Intel IA32_HWP_REQUEST", "performance levels that are requested"},
    {"EFER", 0xC0000080, "Intel IA32_EFER, APM EFER", "extended features: 64-bit mode, NX"},
    {"IRPERF", 0xC00000E9, "PPR IRPerfCount", "instructions retired, if HWCR bit 30 is set"},
    {"TSC_AUX", 0xC0000103, "Intel IA32_TSC_AUX, APM TSC_AUX", "what rdpid returns"},
    {"HWCR", 0xC0010015, "APM HWCR", "hardware configuration"},
    {"PSTATE_STATUS", 0xC0010063, "APM P-State Status", "bits 2:0: the P-state now"},
    {"AMD_RAPL_POWER_UNIT", 0xC0010299, "PPR RAPL_PWR_UNIT",
     "an energy unit is 1 J / 2^(bits 12:8)"},
    {"AMD_CORE_ENERGY", 0xC001029A, "PPR CORE_ENERGY_STAT", "energy units of the core"},
    {"AMD_PKG_ENERGY", 0xC001029B, "PPR PKG_ENERGY_STAT", "energy units of the package"},
};

// Returns nothing for what does not begin with a digit.
std::optional<Result<uint32_t>> ParseNumber(std::string_view text) {
  if (text.empty() || text[0] < '0' || text[0] > '9') return std::nullopt;
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  const std::string_view digits = hex ? text.substr(2) : text;
  uint32_t number = 0;
  const char* end = digits.data() + digits.size();
  const auto [at, error] = std::from_chars(digits.data(), end, number, hex ? 16 : 10);
  if (error == std::errc() && at == end) return number;
  return WrongUse("'{}' is no number of a register: give 0 to 4294967295, or 0x0 to 0xffffffff",
                  text);
}

}  // namespace

std::span<const NamedRegister> NamedRegisters() { return kRegisters; }

Result<MsrRegister> ParseRegister(std::string_view text) {
  if (const auto number = ParseNumber(text)) {
    if (!*number) return std::unexpected(number->error());
    for (const NamedRegister& one : kRegisters) {
      if (one.number == **number) return MsrRegister{std::string(one.name), one.number};
    }
    return MsrRegister{fmt::format("0x{:x}", **number), **number};
  }
  std::vector<std::string_view> names;
  for (const NamedRegister& one : kRegisters) {
    if (EditDistance(one.name, text) == 0) return MsrRegister{std::string(one.name), one.number};
    names.push_back(one.name);
  }
  const auto nearest = Nearest(text, names);
  return WrongUse(
      "register '{}' is unknown; {}`jprof msr --list` names those with a name; others "
      "have a number, such as 0x{:x}",
      text, nearest ? fmt::format("did you mean '{}'? ", *nearest) : "", kRegisters[0].number);
}

}  // namespace jprof::ptm
