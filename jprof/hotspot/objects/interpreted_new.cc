#include "jprof/hotspot/objects/interpreted_new.h"

#include "jprof/hotspot/vm/interpreter_entries.h"
#include "jprof/hotspot/vm/libjvm_image.h"
#include "jprof/hotspot/vm/memory_reader.h"

namespace jprof::hotspot {
namespace {

// The second byte of jne and of jno, which have a distance of four bytes. A test clears the
// overflow flag, so that a jno behind it always jumps.
constexpr uint8_t kJumpIfSet = 0x85, kJumpAlways = 0x81;

#if defined(__x86_64__)
using namespace std::string_view_literals;
// test edx, 1 or test dl, 1, with the beginning of the jump.
constexpr std::string_view kTests[] = {"\xf7\xc2\x01\0\0\0\x0f"sv, "\xf6\xc2\x01\x0f"sv};
#else
constexpr std::string_view kTests[] = {};
#endif

bool IsCondition(char byte) {
  const auto condition = static_cast<uint8_t>(byte);
  return condition == kJumpIfSet || condition == kJumpAlways;
}

}  // namespace

std::optional<size_t> ConditionOfNew(std::string_view code) {
  std::optional<size_t> found;
  for (const std::string_view test : kTests) {
    for (size_t at = 0; (at = code.find(test, at)) != code.npos; ++at) {
      const size_t condition = at + test.size();
      if (condition >= code.size() || !IsCondition(code[condition])) continue;
      if (found) return std::nullopt;
      found = condition;
    }
  }
  return found;
}

Result<InterpretedNew> InterpretedNew::Find(const VmStructs& structs) {
  Fields field(structs);
  const InterpreterEntries interpreter(field);
  if (auto fields = field.Check(); !fields) return std::unexpected(fields.error());
  const auto image = LibjvmImage::Open();
  if (!image) return std::unexpected(image.error());
  const MemoryReader memory(MemoryReader::FetchOf(*image));
  const auto [begin, end] = interpreter.CodeOf(memory, "new");
  const auto condition =
      ConditionOfNew({reinterpret_cast<const char*>(begin), static_cast<size_t>(end - begin)});
  if (!condition) return Fail("the interpreter's code for `new` is not known");
  return InterpretedNew(begin + *condition);
}

void InterpretedNew::Write(uint8_t condition) const {
  __atomic_store_n(reinterpret_cast<uint8_t*>(condition_), condition, __ATOMIC_SEQ_CST);
}

void InterpretedNew::LeaveFastPath() const { Write(kJumpAlways); }
void InterpretedNew::Restore() const { Write(kJumpIfSet); }

}  // namespace jprof::hotspot
