// The program and its libraries.
#pragma once

#include <link.h>
#include <stdint.h>

namespace jprof::cpo {

struct Module {
  const link_map* map;
  uint64_t begin, end;
  const char* path;
  const char* name;  // the last part of the path
};

// Finds the module around an address. Takes no lock, and may be called while the dynamic linker
// loads a library. Returns false if there is none.
bool FindModule(uint64_t address, Module* module);

// Returns whether callers in this module are not what allocates: the C library, libstdc++, the
// unwinder and this library.
bool IsTransparent(const Module& module);

// Logs a module once, and its static data. Advises these if a directive says so.
void LogModule(const Module& module);
// The same for all that are loaded.
void LogAllModules();

}  // namespace jprof::cpo
