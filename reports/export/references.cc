#include <filesystem>

#include "profile/log/memory_log.h"
#include "reports/export/export_list.h"

namespace jprof::reports {

Result<void> WriteReferences(ExportInput& input, Output& out) {
  namespace fs = std::filesystem;
  const fs::path path = fs::path(input.directory()) / profile::kMemoryFile;
  if (std::error_code error; !fs::exists(path, error)) {
    return WrongUse(
        "{} has no references to memory; record them with: jprof itrace --memory -- "
        "CMD...",
        input.shown());
  }
  const auto log = profile::MemoryLog::Read(path.string());
  if (!log) return std::unexpected(log.error());
  log->ForEach([&](const profile::MemoryReference& reference) {
    constexpr char kLetters[] = {'L', 'S', 'M'};
    out.Print(" {} {:08x},{}\n", kLetters[static_cast<size_t>(reference.access)], reference.address,
              reference.bytes);
  });
  for (const std::string& damage : log->damages()) out.Remark(damage);
  return {};
}

}  // namespace jprof::reports
