#include "jprof/hotspot/vm/spare_word.h"

#include <cstring>

#include "jprof/hotspot/vm/load.h"
#include "jprof/hotspot/vm/vm.h"

namespace jprof::hotspot {
namespace {

constexpr char kType[] = "JavaThread", kField[] = "_jvmci_reserved0";
constexpr uint64_t kMostBytes = 1 << 14;  // of a JavaThread: 1 to 2 KiB so far

// Compares strings in libjvm's constants by their addresses.
class Constants {
 public:
  explicit Constants(const LibjvmImage& image) : ranges_(image.Loaded(".rodata")) {}

  bool Has(uint64_t address, std::string_view text) const {
    for (const Function& range : ranges_) {
      if (address - range.begin < range.bytes && range.begin + range.bytes - address > text.size())
        return std::memcmp(reinterpret_cast<const char*>(address), text.data(), text.size() + 1) ==
               0;
    }
    return false;
  }

 private:
  std::vector<Function> ranges_;
};

}  // namespace

// Finds the offset of the word. libjvm.so does not export the table of JVMCI's fields. Its entries
// are as those of the table that is exported, so they are found by the addresses of their two
// names.
Result<uint64_t> SpareWordOfThread(const LibjvmImage& image, const VmStructs& structs) {
  for (const char* name : {"UseJVMCICompiler", "EnableJVMCI"}) {
    if (Vm::IsOn(structs, name))
      return Fail(
          "with -XX:+{} compilers that are written in Java use the word of each thread that woven "
          "counting requires",
          name);
  }
  const VmStructs::Tables& tables = structs.tables();
  const Constants constants(image);
  for (const Function& data : image.Loaded(".data")) {
    for (uint64_t entry = (data.begin + 7) & ~uint64_t{7};
         entry + tables.stride <= data.begin + data.bytes; entry += sizeof(uint64_t)) {
      if (!constants.Has(LoadAt<uint64_t>(entry + tables.name_at), {kField}) ||
          !constants.Has(LoadAt<uint64_t>(entry + tables.type_at), {kType}))
        continue;
      const auto offset = LoadAt<uint64_t>(entry + tables.offset_at);
      if (offset != 0 && offset < kMostBytes && offset % sizeof(uint64_t) == 0) return offset;
    }
  }
  return Fail("this JVM has no unused word in its threads (it was built without JVMCI)");
}

}  // namespace jprof::hotspot
