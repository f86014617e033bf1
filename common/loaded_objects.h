// Lists the program and its libraries. The dynamic linker holds a lock meanwhile, and an
// exception that passes through it ends the program.
#pragma once

#include <link.h>

#include <new>
#include <type_traits>

namespace jprof {

// Calls visit(info) for each loaded object until it returns true. Throws std::bad_alloc if `visit`
// does, after the list has been left.
template <typename Visit>
void ForEachLoadedObject(Visit&& visit) {
  struct State {
    std::remove_reference_t<Visit>& visit;
    bool no_memory = false;
  } state = {visit};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) -> int {
        auto& now = *static_cast<State*>(data);
        try {
          return now.visit(static_cast<const dl_phdr_info&>(*info));
        } catch (const std::bad_alloc&) {
          now.no_memory = true;
          return 1;
        }
      },
      &state);
  if (state.no_memory) throw std::bad_alloc();
}

}  // namespace jprof
