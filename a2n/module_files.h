// Finds the files that processes have mapped: their identity, where they can still be read, and
// their contents. A file is opened on first use, and only once for all processes.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "a2n/a2n.h"
#include "a2n/image.h"

namespace jprof::a2n {

struct ModuleFile {
  std::string path;  // from the kernel
  std::string build_id;
  uint64_t inode = 0;
  std::string root;  // of the process, a prefix of the path; empty if it is jprof's own root
  Pid pid = 0;       // one process that mapped it, and the address
  uint64_t start = 0, end = 0;
  bool anonymous = false;   // anonymous memory
  bool jit_memory = false;  // JIT compilers put code there

  bool tried = false;
  bool missing = false;    // it does not exist any more
  Image* image = nullptr;  // null until Open, or if it cannot be read
  bool has_symbols = false;
};

class ModuleFiles {
 public:
  explicit ModuleFiles(const Options& options) : options_(options) {}

  // Returns the file of the mapping, which is the same object for the same file.
  ModuleFile& Intern(Pid pid, const Mapping& mapping, const std::string& root);
  // Opens the file on the first call. Failures become complaints.
  void Open(ModuleFile& file) {
    if (!file.tried) TryOpen(file);
  }
  ModuleFile& ByPath(const std::string& path);

  std::vector<Complaint> complaints;
  Statistics statistics;

 private:
  using Identity =
      std::tuple<uint64_t, uint64_t, uint64_t, int64_t, int64_t>;  // device, inode, size, changed

  void TryOpen(ModuleFile& file);
  Result<Image*> Find(ModuleFile& file);
  Result<Image*> FindVdso();
  Result<Image*> Load(Fd fd, const std::string& path);

  Options options_;
  std::deque<ModuleFile> files_;
  std::unordered_map<std::string, ModuleFile*> by_key_;
  std::unordered_map<std::string, ModuleFile*> by_path_;
  std::map<Identity, Image*> by_identity_;
  std::vector<std::unique_ptr<Image>> images_;
};

}  // namespace jprof::a2n
