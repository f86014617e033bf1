#include "ptm/names/papi.h"

#include <papi.h>

#include <utility>

namespace jprof::ptm::papi {
namespace {

// Returns 0 or PAPI's error. Debian's PAPI starts without a PMU but then offers no preset.
int Start() {
  static const int result = PAPI_library_init(PAPI_VER_CURRENT);
  return result == PAPI_VER_CURRENT ? 0 : (result < 0 ? result : PAPI_EINVAL);
}

constexpr std::pair<std::string_view, std::string_view> kGeneric[] = {
    {"PAPI_TOT_INS", "perf::INSTRUCTIONS"},
    {"PAPI_TOT_CYC", "perf::CYCLES"},
    {"PAPI_REF_CYC", "perf::REF-CYCLES"},
    {"PAPI_BR_INS", "perf::BRANCH-INSTRUCTIONS"},
    {"PAPI_BR_MSP", "perf::BRANCH-MISSES"},
    {"PAPI_L1_DCM", "perf::L1-DCACHE-LOAD-MISSES"},
    {"PAPI_L1_DCA", "perf::L1-DCACHE-LOADS"},
    {"PAPI_L1_ICM", "perf::L1-ICACHE-LOAD-MISSES"},
    {"PAPI_L3_TCM", "perf::CACHE-MISSES"},
    {"PAPI_L3_TCA", "perf::CACHE-REFERENCES"},
    {"PAPI_TLB_DM", "perf::DTLB-LOAD-MISSES"},
    {"PAPI_TLB_IM", "perf::ITLB-LOAD-MISSES"},
    {"PAPI_RES_STL", "perf::STALLED-CYCLES-BACKEND"},
};

}  // namespace

Result<Preset> FindPreset(const std::string& name) {
  if (const int error = Start()) return WrongUse("PAPI cannot start: {}", PAPI_strerror(error));
  int code = 0;
  PAPI_event_info_t info = {};
  if (PAPI_event_name_to_code(name.c_str(), &code) != PAPI_OK ||
      PAPI_get_event_info(code, &info) != PAPI_OK) {
    return WrongUse("PAPI has no event '{}'", name);
  }
  Preset preset;
  for (unsigned i = 0; i < info.count; ++i) preset.natives.emplace_back(info.name[i]);
  return preset;
}

std::string_view GenericEvent(std::string_view name) {
  for (const auto& [preset, event] : kGeneric) {
    if (preset == name) return event;
  }
  return "";
}

std::string Description(const std::string& name) {
  const std::string preset = name.substr(0, name.find(':'));
  int code = 0;
  PAPI_event_info_t info = {};
  if (Start() != 0 || PAPI_event_name_to_code(preset.c_str(), &code) != PAPI_OK ||
      PAPI_get_event_info(code, &info) != PAPI_OK)
    return "";
  return info.long_descr;
}

std::vector<std::string> PresetNames() {
  std::vector<std::string> names;
  if (Start() != 0) {
    for (const auto& [preset, event] : kGeneric) names.emplace_back(preset);
    return names;
  }
  int code = static_cast<int>(PAPI_PRESET_MASK);
  if (PAPI_enum_event(&code, PAPI_ENUM_FIRST) != PAPI_OK) return names;
  do {
    char name[PAPI_MAX_STR_LEN];
    if (PAPI_event_code_to_name(code, name) == PAPI_OK) names.emplace_back(name);
  } while (PAPI_enum_event(&code, PAPI_ENUM_EVENTS) == PAPI_OK);
  return names;
}

std::string Version() {
  if (const int error = Start()) return fmt::format("cannot start: {}", PAPI_strerror(error));
  constexpr int kVersion = PAPI_VERSION;
  return fmt::format("{}.{}.{}", PAPI_VERSION_MAJOR(kVersion), PAPI_VERSION_MINOR(kVersion),
                     PAPI_VERSION_REVISION(kVersion));
}

}  // namespace jprof::ptm::papi
