// Records which class files the VM has reported. The VM reports a class file (ClassFileLoadHook)
// and then, on the same thread, the class (ClassLoad). In between it loads the super class, which
// runs the program's class loaders and can take any time. If the definition of a class began before
// ClassFileLoadHook was enabled, the VM reports only its ClassLoad.
//
// This class is thread-safe.
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
    int loader = 0;  // identity hash code of the loader that defines it; 0 is the boot loader
    std::string name;
    auto operator<=>(const Name&) const = default;
  };

  // Records that the VM has reported a class file on this thread. `name` is as in the class file.
  void AddFile(const void* thread, const Name& name);

  // Records that the VM has reported the class. Returns whether it has reported the class file
  // before, on any thread: the VM reports a class again for each other loader that finds it.
  bool TakeFile(const void* thread, const Name& name);

  // Waits until all class files that were added have become classes, at most until `deadline`
  // (monotonic clock, in ns): a definition may also have failed, which the VM does not report.
  // Returns whether all have become classes.
  bool AwaitClasses(int64_t deadline);

 private:
  std::mutex lock_;
  std::set<std::pair<const void*, Name>> files_;  // not classes yet
  std::set<Name> names_;                          // all that were reported
};

}  // namespace jprof::agent
