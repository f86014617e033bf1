#include "jprof/hookit/function_source.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <climits>
#include <cstring>
#include <iterator>
#include <new>
#include <span>
#include <string_view>

#include "common/spin_lock.h"
#include "common/uninterrupted_lock.h"
#include "jprof/engine/function_events.h"
#include "jprof/hookit/sleds.h"

namespace jprof::hookit {
namespace {

struct Module {
  uint64_t bias = 0;
  const char* path = nullptr;  // as the dynamic linker has it; empty: the program
};

// Takes no lock (glibc 2.35 and later).
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

// Stores paths that the dynamic linker does not have in full: the program's, and relative ones.
// Needs little stack, because a handler of signals may have no more than 8 KiB.
class KnownPaths {
 public:
  void Unlock() { new (&lock_) SpinLock; }

  // Forgets that the paths are current. A library was unloaded, so a relative path may lead to
  // another file from now on.
  void Forget() {
    const UninterruptedLock guard(lock_);
    for (Known& known : std::span(known_, count_)) known.is_current = false;
  }

  // Returns the full path, or `path` itself if there is no space left.
  std::string_view Of(const char* path) {
    const std::string_view text = path;
    if (text.starts_with('/') && !text.starts_with(kOwnProcess)) return text;
    const UninterruptedLock guard(lock_);
    const std::span all(known_, count_);
    for (const Known& known : all) {
      if (known.is_current && known.text == text) return known.path;
    }
    const std::string_view made = Make(text);
    for (Known& known : all) {
      if (known.text != text || known.path != made) continue;
      known.is_current = true;
      return known.path;
    }
    if (count_ == std::size(known_) ||
        text.size() + made.size() > static_cast<size_t>(std::end(space_) - next_))
      return text;
    Known& known = known_[count_++];
    known = {Keep(text), Keep(made), true};
    return known.path;
  }

 private:
  static constexpr std::string_view kOwnProcess = "/proc/self/";
  static constexpr const char* kProgram = "/proc/self/exe";

  struct Known {
    std::string_view text, path;
    bool is_current = false;  // no library has been unloaded since
  };

  // Returns a full path. That of a link in /proc is its target, because another process has other
  // files there.
  std::string_view Make(std::string_view text) {
    if (text.empty() || text.starts_with(kOwnProcess)) {
      const char* const link = text.empty() ? kProgram : text.data();
      const ssize_t length = readlink(link, full_, PATH_MAX);
      if (length > 0) return {full_, static_cast<size_t>(length)};
      if (!text.empty()) return text;
      // Where /proc is not mounted, the path is that by which the program was started.
      text = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
      if (text.starts_with('/')) return text;
    }
    if (text.size() >= PATH_MAX || getcwd(full_, PATH_MAX - 1) == nullptr) return text;
    const size_t directory = std::strlen(full_);
    full_[directory] = '/';
    std::memcpy(full_ + directory + 1, text.data(), text.size());
    return {full_, directory + 1 + text.size()};
  }

  std::string_view Keep(std::string_view text) {
    char* const kept = next_;
    next_ = std::copy(text.begin(), text.end(), next_);
    return {kept, text.size()};
  }

  SpinLock lock_;
  Known known_[1024];
  size_t count_ = 0;
  char space_[256 << 10];
  char* next_ = space_;
  char full_[2 * PATH_MAX];
};
KnownPaths known_paths;

}  // namespace

void ForgetPaths() { known_paths.Forget(); }

void ResetPathsInChild() { known_paths.Unlock(); }

namespace {

constexpr uint64_t kAddressBits = (uint64_t{1} << 56) - 1;
constexpr uint64_t kLocks = LockMethod(0, LockKind{});  // the bits of all locks

// Remembers the locks outside of all modules, of which only so many have a row of their own.
// Lock-free.
class KnownLocks {
 public:
  bool Has(uint64_t address) {
    for (std::atomic<uint64_t>& known : known_) {
      uint64_t free = 0;
      if (known.compare_exchange_strong(free, address) || free == address) return true;
    }
    return false;
  }

 private:
  std::array<std::atomic<uint64_t>, 1000> known_ = {};
};
KnownLocks known_locks;

std::string_view Hexadecimal(uint64_t number, engine::MethodText* text) {
  std::memcpy(text->scratch, "0x", 2);
  const auto end = std::to_chars(text->scratch + 2, std::end(text->scratch), number, 16).ptr;
  return {text->scratch, static_cast<size_t>(end - text->scratch)};
}

void DescribeInModule(uint64_t address, const Module& module, engine::MethodText* text) {
  text->flags = profile::kMethodCode;
  if (module.path != nullptr) text->class_name = known_paths.Of(module.path);
  text->name = Hexadecimal(address - module.bias, text);
}

void DescribeLock(uint64_t method, engine::MethodText* text) {
  const uint64_t address = method & kAddressBits;
  const auto kind = static_cast<LockKind>((method & ~kLocks) >> 56);
  if (const Module module = ModuleOf(address); module.path != nullptr) {
    DescribeInModule(address, module, text);
  } else if (known_locks.Has(address)) {
    text->class_name = Hexadecimal(address, text);
  } else {
    text->class_name = "(others)";
  }
  text->flags |= profile::kMethodClass;
  text->signature = EntryOf(kind).name;
}

}  // namespace

bool FunctionSource::Describe(uint64_t method, engine::MethodText* text) {
  if ((method & kLocks) == kLocks) {
    DescribeLock(method, text);
    return true;
  }
  uint64_t address = method & ~engine::kFunctionBit;
  if (address <= engine::kMostFunctionNumbers) address = SledFunction(address);
  DescribeInModule(address, ModuleOf(address), text);
  return true;
}

}  // namespace jprof::hookit
