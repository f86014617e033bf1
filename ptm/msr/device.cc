#include "ptm/msr/device.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>

#include "common/errno_text.h"
#include "common/fd.h"

namespace jprof::ptm {
namespace {

Result<Fd> Open(const std::string& path) {
  Fd device(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!device) return Fail("{}", ExplainMsr(path, errno));
  return device;
}

// The number of the register is the position in the file.
Result<uint64_t> ReadRegister(int device, const MsrRegister& of, uint32_t processor) {
  uint64_t value = 0;
  const ssize_t bytes = pread(device, &value, sizeof value, static_cast<off_t>(of.number));
  if (bytes == sizeof value) return value;
  if (bytes >= 0 || errno == EIO)
    return Fail(
        "register {} (0x{:x}) is refused by processor {}: it has none, or a hypervisor hides it",
        of.name, of.number, processor);
  return Fail("register {} (0x{:x}) of processor {}: {}", of.name, of.number, processor,
              ErrnoText());
}

}  // namespace

std::vector<uint32_t> MsrProcessors(const std::string& folder) {
  std::vector<uint32_t> processors;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed)) {
    const std::string name = entry.path().filename();
    uint32_t number = 0;
    const char* end = name.data() + name.size();
    const auto [at, error] = std::from_chars(name.data(), end, number);
    if (error == std::errc() && at == end) processors.push_back(number);
  }
  std::ranges::sort(processors);
  return processors;
}

Result<std::vector<MsrReading>> ReadRegisters(const std::string& folder,
                                              std::span<const uint32_t> processors,
                                              std::span<const MsrRegister> registers) {
  std::vector<MsrReading> readings;
  for (const uint32_t processor : processors) {
    const auto device = Open(fmt::format("{}/{}/msr", folder, processor));
    if (!device) return std::unexpected(device.error());
    for (const MsrRegister& of : registers)
      readings.push_back({processor, of, ReadRegister(device->get(), of, processor)});
  }
  return readings;
}

std::string ExplainMsr(const std::string& path, int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return fmt::format(
          "there is no {}: run `sudo modprobe msr`; containers and many virtual machines have no "
          "such device, processors other than x86 no such registers",
          path);
    case ENXIO:
      return fmt::format(
          "{}: this processor is offline, or the module msr is not loaded (`sudo "
          "modprobe msr`)",
          path);
    case EACCES:
    case EPERM:
      return fmt::format("{}: {}; run jprof as root (CAP_SYS_RAWIO is required)", path,
                         ErrnoText(error));
    default:
      return fmt::format("{} cannot be opened: {}", path, ErrnoText(error));
  }
}

}  // namespace jprof::ptm
