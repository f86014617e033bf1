# Writes OUTPUT, a source file with the bytes of the class files COUNTER and LOCKS (empty: no bytes).
set(functions "")
foreach(class Counter Locks)
  string(TOUPPER ${class} input)
  set(bytes "")
  if(${input})
    file(READ ${${input}} bytes HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  endif()
  string(APPEND functions "
std::span<const uint8_t> ${class}Class() {
  static constexpr uint8_t kBytes[] = {${bytes}0};  // and a byte that does not belong to it
  return {kBytes, sizeof kBytes - 1};
}
")
endforeach()
file(WRITE ${OUTPUT} "#include \"jprof/weave/counter_class.h\"

namespace jprof::weave {
${functions}
}  // namespace jprof::weave
")
