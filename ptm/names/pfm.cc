#include "ptm/names/pfm.h"

#include <perfmon/pfmlib_perf_event.h>

#include <cstdlib>
#include <functional>

namespace jprof::ptm::pfm {
namespace {

bool Start() {
  static const bool started = pfm_initialize() == PFM_SUCCESS;
  return started;
}

uint32_t ExcludeBits(const perf_event_attr& attr) {
  return attr.exclude_user * kExcludeUser | attr.exclude_kernel * kExcludeKernel |
         attr.exclude_hv * kExcludeHypervisor | attr.exclude_host * kExcludeHost |
         attr.exclude_guest * kExcludeGuest;
}

Answer Meaning(int error) {
  switch (error) {
    case PFM_SUCCESS:
      return Answer::kFound;
    case PFM_ERR_NOTFOUND:
      return Answer::kUnknown;
    case PFM_ERR_UMASK:
    case PFM_ERR_ATTR:
    case PFM_ERR_ATTR_VAL:
    case PFM_ERR_ATTR_SET:
    case PFM_ERR_FEATCOMB:
      return Answer::kBadModifier;
    default:
      return Answer::kFailed;
  }
}

Encoded EncodeAt(const std::string& name, int privilege_levels) {
  perf_event_attr attr = {};
  attr.size = sizeof(attr);
  char* full = nullptr;
  pfm_perf_encode_arg_t arg = {};
  arg.attr = &attr;
  arg.fstr = &full;
  arg.size = sizeof(arg);
  const int error =
      pfm_get_os_event_encoding(name.c_str(), privilege_levels, PFM_OS_PERF_EVENT, &arg);
  Encoded encoded;
  encoded.answer = Meaning(error);
  if (error != PFM_SUCCESS) {
    encoded.reason = pfm_strerror(error);
    return encoded;
  }
  encoded.spec = {"", attr.type, attr.config, attr.config1, attr.config2, ExcludeBits(attr)};
  encoded.native = full != nullptr ? full : name;
  std::free(full);
  return encoded;
}

// Returns the name without modifiers: the part before the first ':' that is not the '::' after the
// PMU.
std::string WithoutModifiers(const std::string& name) {
  const size_t pmu = name.find("::");
  return name.substr(0, name.find(':', pmu == std::string::npos ? 0 : pmu + 2));
}

void ForEachAttribute(int event, const std::function<void(const pfm_event_attr_info_t&)>& visit) {
  pfm_event_info_t info = {};
  info.size = sizeof(info);
  if (pfm_get_event_info(event, PFM_OS_PERF_EVENT, &info) != PFM_SUCCESS) return;
  for (int i = 0; i < info.nattrs; ++i) {
    pfm_event_attr_info_t attribute = {};
    attribute.size = sizeof(attribute);
    if (pfm_get_event_attr_info(event, i, PFM_OS_PERF_EVENT, &attribute) == PFM_SUCCESS)
      visit(attribute);
  }
}

// Adds the event itself if it needs no unit mask, and the event with each unit mask.
void AddEvent(const std::string& pmu, int event, std::vector<std::string>& names) {
  pfm_event_info_t info = {};
  info.size = sizeof(info);
  if (pfm_get_event_info(event, PFM_OS_PERF_EVENT, &info) != PFM_SUCCESS) return;
  const std::string name = fmt::format("{}::{}", pmu, info.name);
  if (EncodeAt(name, PFM_PLM3).answer == Answer::kFound) names.push_back(name);
  ForEachAttribute(event, [&](const pfm_event_attr_info_t& attribute) {
    if (attribute.type == PFM_ATTR_UMASK)
      names.push_back(fmt::format("{}:{}", name, attribute.name));
  });
}

}  // namespace

Encoded Encode(const std::string& name) {
  if (!Start()) return {.reason = "libpfm4 cannot start"};
  const Encoded user = EncodeAt(name, PFM_PLM3);
  if (user.answer == Answer::kFound && IsSoftware(user.spec))
    return EncodeAt(name, PFM_PLM0 | PFM_PLM3);
  return user;
}

std::vector<std::string> Modifiers(const std::string& name) {
  std::vector<std::string> modifiers;
  if (!Start()) return modifiers;
  const int event = pfm_find_event(WithoutModifiers(name).c_str());
  if (event < 0) return modifiers;
  ForEachAttribute(
      event, [&](const pfm_event_attr_info_t& attribute) { modifiers.push_back(attribute.name); });
  return modifiers;
}

// Describes the kernel's software events, for which libpfm4 has no descriptions.
std::string_view SoftwareDescription(uint64_t config) {
  switch (config) {
    case PERF_COUNT_SW_CPU_CLOCK:
      return "Time by the CPU's clock, ns";
    case PERF_COUNT_SW_TASK_CLOCK:
      return "On-CPU time of the thread, ns";
    case PERF_COUNT_SW_PAGE_FAULTS:
      return "Page faults";
    case PERF_COUNT_SW_CONTEXT_SWITCHES:
      return "Times the thread left a CPU";
    case PERF_COUNT_SW_CPU_MIGRATIONS:
      return "Times the thread came to another CPU";
    case PERF_COUNT_SW_PAGE_FAULTS_MIN:
      return "Page faults without a disk access";
    case PERF_COUNT_SW_PAGE_FAULTS_MAJ:
      return "Page faults with a disk access";
    default:
      return "";
  }
}

// Returns the description of the event and of the unit masks in the name.
std::string Description(const std::string& name) {
  if (!Start()) return "";
  const std::string event_name = WithoutModifiers(name);
  const int event = pfm_find_event(event_name.c_str());
  pfm_event_info_t info = {};
  info.size = sizeof(info);
  if (event < 0 || pfm_get_event_info(event, PFM_OS_PERF_EVENT, &info) != PFM_SUCCESS) return "";
  std::string words = info.desc != nullptr ? info.desc : "";
  const Encoded encoded = Encode(event_name);
  if (encoded.answer == Answer::kFound && encoded.spec.type == PERF_TYPE_SOFTWARE &&
      !SoftwareDescription(encoded.spec.config).empty())
    return std::string(SoftwareDescription(encoded.spec.config));
  ForEachAttribute(event, [&](const pfm_event_attr_info_t& attribute) {
    const bool named = (name + ":").find(fmt::format(":{}:", attribute.name), event_name.size()) !=
                       std::string::npos;
    if (attribute.type == PFM_ATTR_UMASK && named && attribute.desc != nullptr)
      words += fmt::format("; {}", attribute.desc);
  });
  return words;
}

std::vector<std::string> EventNames() {
  std::vector<std::string> names;
  if (!Start()) return names;
  for (int pmu = 0; pmu < PFM_PMU_MAX; ++pmu) {
    pfm_pmu_info_t info = {};
    info.size = sizeof(info);
    if (pfm_get_pmu_info(static_cast<pfm_pmu_t>(pmu), &info) != PFM_SUCCESS || !info.is_present)
      continue;
    if (pmu == PFM_PMU_PERF_EVENT_RAW) continue;  // rNNNN: any number
    for (int event = info.first_event; event != -1; event = pfm_get_event_next(event)) {
      AddEvent(info.name, event, names);
    }
  }
  return names;
}

}  // namespace jprof::ptm::pfm
