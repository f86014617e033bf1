# Writes OUTPUT, a source file that contains the bytes of INPUT (empty: no bytes).
set(bytes "")
if(INPUT)
  file(READ ${INPUT} bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
endif()
file(WRITE ${OUTPUT} "#include \"jprof/weave/counter_class.h\"

namespace jprof::weave {

std::span<const uint8_t> CounterClass() {
  static constexpr uint8_t kBytes[] = {${bytes}0};  // and a byte that does not belong to it
  return {kBytes, sizeof kBytes - 1};
}

}  // namespace jprof::weave
")
