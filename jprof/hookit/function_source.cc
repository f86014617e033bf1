#include "jprof/hookit/function_source.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <climits>
#include <cstring>
#include <iterator>
#include <new>

#include "common/spin_lock.h"
#include "common/uninterrupted_lock.h"
#include "jprof/engine/events.h"
#include "jprof/hookit/sleds.h"

namespace jprof::hookit {
namespace {

struct Module {
  uint64_t bias = 0;
  const char* path = nullptr;  // as the dynamic linker has it; empty: the program
};

// glibc 2.35 and later: takes no lock.
extern "C" int _dl_find_object(void* address, dl_find_object* result) noexcept
    __attribute__((weak));

struct Search {
  uint64_t address;
  Module found;
};
int VisitModule(dl_phdr_info* info, size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    const uint64_t begin = info->dlpi_addr + segment.p_vaddr;
    if (search.address < begin || search.address >= begin + segment.p_memsz) continue;
    search.found = {info->dlpi_addr, info->dlpi_name};
    return 1;
  }
  return 0;
}

Module ModuleOf(uint64_t address) {
  if (&_dl_find_object != nullptr) {
    dl_find_object object;
    if (_dl_find_object(reinterpret_cast<void*>(address), &object) == 0)
      return {object.dlfo_link_map->l_addr, object.dlfo_link_map->l_name};
  }
  Search search = {address, {}};
  dl_iterate_phdr(VisitModule, &search);
  return search.found;
}

// Paths that the dynamic linker does not have in full: the program's, and relative ones. A few.
class KnownPaths {
 public:
  void Unlock() { new (&lock_) SpinLock; }

  // The full path; empty: there is no space left.
  std::string_view Of(const char* path) {
    const std::string_view text = path;
    if (text.starts_with('/')) return text;
    const UninterruptedLock guard(lock_);
    for (size_t i = 0; i < count_; ++i) {
      if (text == known_[i].text) return known_[i].path;
    }
    char full[2 * PATH_MAX];
    const std::string_view made = Make(text, full);
    const size_t bytes = text.size() + made.size();
    if (count_ == std::size(known_) || bytes > static_cast<size_t>(std::end(space_) - next_))
      return {};
    Known& known = known_[count_++];
    known = {Keep(text), Keep(made)};
    return known.path;
  }

 private:
  struct Known {
    std::string_view text, path;
  };

  static std::string_view Make(std::string_view text, char (&full)[2 * PATH_MAX]) {
    if (text.empty()) {
      const ssize_t length = readlink("/proc/self/exe", full, PATH_MAX);
      if (length > 0) return {full, static_cast<size_t>(length)};
      // As the program was started, where /proc is not mounted.
      text = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
      if (text.starts_with('/')) return text;
    }
    if (text.size() >= PATH_MAX || getcwd(full, PATH_MAX - 1) == nullptr) return text;
    const size_t directory = std::strlen(full);
    full[directory] = '/';
    std::memcpy(full + directory + 1, text.data(), text.size());
    return {full, directory + 1 + text.size()};
  }

  std::string_view Keep(std::string_view text) {
    char* const kept = next_;
    next_ = std::copy(text.begin(), text.end(), next_);
    return {kept, text.size()};
  }

  SpinLock lock_;
  Known known_[64];
  size_t count_ = 0;
  char space_[32 << 10];
  char* next_ = space_;
};
KnownPaths known_paths;

}  // namespace

void ResetPathsInChild() { known_paths.Unlock(); }

bool FunctionSource::Describe(uint64_t method, engine::MethodText* text) {
  uint64_t address = method & ~engine::kFunctionBit;
  if (address <= engine::kMostFunctionNumbers) address = SledFunction(address);
  const Module module = ModuleOf(address);
  text->flags = profile::kMethodCode;
  if (module.path != nullptr) text->class_name = known_paths.Of(module.path);
  std::memcpy(text->scratch, "0x", 2);
  const auto end =
      std::to_chars(text->scratch + 2, std::end(text->scratch), address - module.bias, 16).ptr;
  text->name = {text->scratch, static_cast<size_t>(end - text->scratch)};
  return true;
}

}  // namespace jprof::hookit
