// Finds the tables of sleds in the program and in the libraries that are loaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace jprof::hookit {

// Describes an entry of a table, version 2. Its addresses are relative to their own place.
struct SledEntry {
  int64_t address;
  int64_t function;
  uint8_t kind;
  uint8_t always;
  uint8_t version;
  uint8_t padding[13];

  uint64_t SledAddress() const { return reinterpret_cast<uint64_t>(&address) + address; }
  uint64_t FunctionAddress() const { return reinterpret_cast<uint64_t>(&function) + function; }
};
static_assert(sizeof(SledEntry) == 32);
inline constexpr uint8_t kSledVersion = 2;
enum SledKind : uint8_t { kEntry = 0, kExit = 1, kTail = 2, kEntryWithArguments = 3 };

// Stands for the path of the program.
inline constexpr const char* kProgram = "/proc/self/exe";

// Describes the program or a loaded library, and its table.
struct SledModule {
  std::string path;  // kProgram for the program
  uint64_t bias = 0;
  uint64_t begin = ~uint64_t{0}, end = 0;
  std::span<const SledEntry> sleds;

  // Returns whether the bytes at this address belong to the module.
  bool Contains(uint64_t at, size_t bytes) const { return at >= begin && at + bytes <= end; }
};

// Returns the modules that are loaded now, without their sleds. Can be called on any thread, but
// not in a signal handler or a probe, because it allocates and takes the lock of the dynamic
// linker.
std::vector<SledModule> LoadedModules();

// Sets `sleds` of the module to its table. Returns false if it has none.
bool FindSleds(SledModule& module);

}  // namespace jprof::hookit
