#include "record/run/temporary_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstring>
#include <system_error>

namespace jprof::record {
namespace {

constexpr int kEndingSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
constexpr int kDeepestFolder = 8;

// The folders that exist. A program has few at a time; more are not removed by a signal.
std::atomic<const char*> existing_folders[16];
// The process that made them. A forked child does not remove them.
std::atomic<pid_t> folder_owner = 0;

// What the system call getdents64 returns.
struct FolderEntry {
  ino64_t inode;
  off64_t offset;
  unsigned short size;
  unsigned char type;
  char name[];
};

// Removes a folder by system calls only. Async-signal-safe.
void RemoveTree(int parent, const char* name, int depth) {
  const int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return;
  alignas(FolderEntry) char buffer[2048];
  bool any = depth < kDeepestFolder;
  while (any) {
    const long size = syscall(SYS_getdents64, folder, buffer, sizeof buffer);
    any = size > 0;
    for (long at = 0; at < size;) {
      const auto* entry = reinterpret_cast<const FolderEntry*>(buffer + at);
      at += entry->size;
      const bool is_link =
          std::strcmp(entry->name, ".") == 0 || std::strcmp(entry->name, "..") == 0;
      if (is_link || unlinkat(folder, entry->name, 0) == 0) continue;
      RemoveTree(folder, entry->name, depth + 1);
    }
  }
  close(folder);
  unlinkat(parent, name, AT_REMOVEDIR);
}

// The action was reset to the default when this was called: the program ends when it returns.
void RemoveAndEnd(int signal) {
  if (getpid() == folder_owner) {
    for (auto& folder : existing_folders) {
      if (const char* path = folder.load()) RemoveTree(AT_FDCWD, path, 0);
    }
  }
  raise(signal);
}

void HandleEndingSignals() {
  folder_owner = getpid();
  for (const int signal : kEndingSignals) {
    struct sigaction action = {};
    sigaction(signal, nullptr, &action);
    if (action.sa_handler != SIG_DFL) continue;
    action.sa_handler = RemoveAndEnd;
    action.sa_flags = SA_RESETHAND;
    sigaction(signal, &action, nullptr);
  }
}

void ReplaceFolder(const char* from, const char* to) {
  for (auto& folder : existing_folders) {
    const char* expected = from;
    if (folder.compare_exchange_strong(expected, to)) return;
  }
}

}  // namespace

TemporaryFolder::TemporaryFolder(const std::string& name) {
  std::error_code failed;
  std::string made =
      (std::filesystem::absolute(std::filesystem::temp_directory_path(failed), failed) /
       (name + "-XXXXXX"))
          .string();
  HandleEndingSignals();
  if (mkdtemp(made.data()) == nullptr) return;
  path_ = made;
  ReplaceFolder(nullptr, path_.c_str());
}

TemporaryFolder::~TemporaryFolder() {
  if (path_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
  ReplaceFolder(path_.c_str(), nullptr);
}

}  // namespace jprof::record
