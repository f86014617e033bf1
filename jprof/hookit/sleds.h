// Patches the sleds of programs compiled with clang's -fxray-instrument: places at the begin and
// the end of each function that have no effect until they are patched. The compiler inlines and
// optimises as without them. The program needs no XRay runtime.
//
// The table of sleds is in the section xray_instr_map of the program and of each library
// (https://llvm.org/docs/XRay.html; llvm/lib/Target/X86/X86MCInstLower.cpp has the code of a sled,
// compiler-rt/lib/xray/xray_interface_internal.h the entry).
#pragma once

#include <cstdint>

#include "profile/files/layout.h"

namespace jprof::hookit {

// Patches the sleds of all modules that are loaded and were not patched yet, and from then on those
// of modules as they are loaded. Returns whether a module has sleds. Calls `late` each time that a
// library with sleds is loaded afterwards, before its constructors run. Call this once, before
// threads run code with sleds.
bool PatchSleds(void (*late)());

// Returns the modules whose sleds could not be patched; a message has given the reason for each.
// Where libraries that are loaded later are not seen (the dynamic linker's code cannot be changed),
// those that are loaded now are among them.
const profile::UncountedRecord& UnpatchedModules();

// Returns the number of sleds that were not patched because a conditional jump follows. (Such a
// function has no exit of its own where it ends by that jump: the next event ends its frame.)
uint32_t SledsLeft();

// Returns the address of a function by its number, or 0 if there is no such number.
uint64_t SledFunction(uint64_t number);

}  // namespace jprof::hookit
