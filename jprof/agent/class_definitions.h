// Records which class files the VM has reported. The VM reports a class file (ClassFileLoadHook)
// and then, on the same thread, the class (ClassLoad). In between it loads the super class, which
// runs the program's class loaders and can take any time. If the definition of a class began before
// ClassFileLoadHook was enabled, the VM reports only its ClassLoad.
//
// Thread safe.
#pragma once

#include <compare>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <utility>

namespace jprof::agent {

class ClassDefinitions {
 public:
  struct Name {
    int loader = 0;  // the identity hash code of the loader that defines it; 0: the boot loader
    std::string name;
    auto operator<=>(const Name&) const = default;
  };

  // The VM has reported a class file on this thread. `name`: as the class file states it.
  void AddFile(const void* thread, const Name& name);

  // The VM has reported the class. Returns whether it has reported its class file before, on any
  // thread: the VM reports a class again for each other loader that finds it.
  bool TakeFile(const void* thread, const Name& name);

  // Waits until all class files that were added have become classes, at most until `deadline` on
  // the monotonic clock in ns: a definition may also have failed, which the VM does not report.
  // Returns whether all have.
  bool AwaitClasses(int64_t deadline);

 private:
  std::mutex lock_;
  std::set<std::pair<const void*, Name>> files_;  // those that are not classes yet
  std::set<Name> names_;                          // of all
};

}  // namespace jprof::agent
