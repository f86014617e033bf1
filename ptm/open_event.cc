#include "ptm/open_event.h"

#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace jprof::ptm {
namespace {

// Returns whether the kernel generates the event itself: counted in user mode only, it would always
// be 0.
bool HappensInKernelOnly(const EventSpec& event) {
  return IsSoftware(event) && (event.config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
                               event.config == PERF_COUNT_SW_CPU_MIGRATIONS);
}

int OpenEvent(perf_event_attr& attr, const Target& target, int leader) {
  return static_cast<int>(
      syscall(SYS_perf_event_open, &attr, target.tid, target.cpu, leader, PERF_FLAG_FD_CLOEXEC));
}

}  // namespace

perf_event_attr AttributesOf(const EventSpec& event) {
  perf_event_attr attr = {};
  attr.size = sizeof(attr);
  attr.type = event.type;
  attr.config = event.config;
  attr.config1 = event.config1;
  attr.config2 = event.config2;
  attr.exclude_user = (event.exclude & kExcludeUser) != 0;
  attr.exclude_kernel = (event.exclude & kExcludeKernel) != 0;
  attr.exclude_hv = (event.exclude & kExcludeHypervisor) != 0;
  attr.exclude_host = (event.exclude & kExcludeHost) != 0;
  attr.exclude_guest = (event.exclude & kExcludeGuest) != 0;
  return attr;
}

int OpenAllowed(const EventSpec& event, perf_event_attr& attr, const Target& target, int leader) {
  int fd = OpenEvent(attr, target, leader);
  if (fd >= 0 || (errno != EACCES && errno != EPERM)) return fd;
  if (attr.exclude_kernel || attr.exclude_user || HappensInKernelOnly(event)) return fd;
  const int error = errno;
  attr.exclude_kernel = 1;
  attr.exclude_hv = 1;
  fd = OpenEvent(attr, target, leader);
  if (fd < 0) errno = error;
  return fd;
}

uint64_t EventId(int fd) {
  uint64_t id = 0;
  return fd >= 0 && ioctl(fd, PERF_EVENT_IOC_ID, &id) == 0 ? id : 0;
}

std::vector<int> OnlineCpus() {
  std::vector<int> cpus;
  const long configured = sysconf(_SC_NPROCESSORS_CONF);
  for (int cpu = 0; cpu < configured; ++cpu) {
    char path[64];
    std::snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
    std::FILE* file = std::fopen(path, "re");
    int online = 1;  // the first CPU has no such file
    if (file != nullptr) {
      if (std::fscanf(file, "%d", &online) != 1) online = 1;
      std::fclose(file);
    }
    if (online) cpus.push_back(cpu);
  }
  return cpus;
}

}  // namespace jprof::ptm
