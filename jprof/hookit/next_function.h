// Finds the definition of a function that this library replaces in the library behind it.
#pragma once

#include <dlfcn.h>

namespace jprof {

// Finds it when the library is loaded, by Look, as dlsym must not be called in a signal handler, or
// by a call that comes before that. If the library is loaded as an agent only, that is the
// program's. If a function has several versions, dlsym may find the oldest one (glibc before 2.36):
// `version` is found if it exists.
template <class Function>
class NextFunction {
 public:
  explicit constexpr NextFunction(const char* name, const char* version = nullptr)
      : name_(name), version_(version) {}
  Function* Get() {
    void* const known = __atomic_load_n(&found_, __ATOMIC_RELAXED);
    return reinterpret_cast<Function*>(known != nullptr ? known : Look());
  }
  void* Look() {
    void* next = version_ != nullptr ? dlvsym(RTLD_NEXT, name_, version_) : nullptr;
    if (next == nullptr) next = dlsym(RTLD_NEXT, name_);
    void* const found = next != nullptr ? next : dlsym(RTLD_DEFAULT, name_);
    __atomic_store_n(&found_, found, __ATOMIC_RELAXED);
    return found;
  }

 private:
  const char* name_;
  const char* version_;
  void* found_ = nullptr;
};

}  // namespace jprof
