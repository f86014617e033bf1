#include "calibrate/train/machine_store.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "calibrate/store/table_store.h"

namespace jprof::calibrate {

namespace fs = std::filesystem;
using nlohmann::json;

fs::path MachinePath(const Fingerprint& machine) {
  return DataDirectory() / fmt::format("{:016x}.machine", Hash(machine));
}

std::optional<uint64_t> FindInterruptNanos(const Fingerprint& machine) {
  std::ifstream file(MachinePath(machine), std::ios::binary);
  const json stored = json::parse(file, nullptr, false);
  if (!stored.is_object() || stored.value("fingerprint", json()) != json(machine))
    return std::nullopt;
  const auto found = stored.find("interrupt_ns");
  if (found == stored.end() || !found->is_number_unsigned()) return std::nullopt;
  return found->get<uint64_t>();
}

Result<fs::path> SaveInterruptNanos(const Fingerprint& machine, uint64_t ns) {
  const json stored = {{"fingerprint", machine}, {"interrupt_ns", ns}};
  return WriteWhole(MachinePath(machine), stored.dump(1) + "\n");
}

}  // namespace jprof::calibrate
