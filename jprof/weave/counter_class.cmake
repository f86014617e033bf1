# Writes OUTPUT, a source file with the bytes of the class files Jprof<NAME>.class of FOLDER, for each
# of NAMES, a list with commas. Without FOLDER there are no bytes.
set(functions "")
string(REPLACE "," ";" names "${NAMES}")
foreach(name ${names})
  set(bytes "")
  if(FOLDER)
    file(READ ${FOLDER}/Jprof${name}.class bytes HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  endif()
  string(APPEND functions "
std::span<const uint8_t> ${name}Class() {
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
