// The Code attribute of a method, with instructions inserted.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "jprof/weave/class_file.h"
#include "jprof/weave/constants.h"
#include "jprof/weave/frames.h"
#include "jprof/weave/layout.h"
#include "jprof/weave/weave.h"

namespace jprof::weave {

// One object serves all methods of a class.
class MethodCode {
 public:
  MethodCode(const ClassFile& file, Constants& constants)
      : file_(file), constants_(constants), frames_(file, constants) {}

  // Appends the changed attribute. The result says why the method has to be left; then, and after
  // an error, the output is incomplete.
  Result<std::optional<Left>> Write(const MethodInfo& method, const CodeAttribute& code,
                                    const Decision& decision, Output& out);

 private:
  // An exception handler and where the call for it is inserted.
  struct Handler {
    uint16_t start;
    uint16_t call;
  };

  static uint32_t PlaceOfCall(const CodeAttribute& code, const ExceptionEntry& entry);
  void FindHandlers(const CodeAttribute& code);
  const Handler* FindHandler(uint16_t start) const;
  std::optional<Left> CheckSize(const CodeAttribute& code, const Insertions& insertions) const;
  uint32_t NewStack(const CodeAttribute& code, const Insertions& insertions) const;
  Result<std::optional<Left>> WriteExceptions(const CodeAttribute& code,
                                              const Insertions& insertions, Output& out);
  Result<std::optional<Left>> WriteAttributes(const MethodInfo& method, const CodeAttribute& code,
                                              const Insertions& insertions, Output& out);
  Result<std::optional<Left>> WriteFrames(const Attribute& attribute, const MethodInfo& method,
                                          const Insertions& insertions, Output& out);

  const ClassFile& file_;
  Constants& constants_;
  Layout layout_;
  Frames frames_;
  std::vector<Handler> handlers_;         // each once, in ascending order
  std::vector<uint16_t> calls_;           // likewise
  bool moves_calls_ = false;              // some of them are not where their handler begins
  std::vector<uint16_t> new_exceptions_;  // the new index of each entry of the exception table
};

}  // namespace jprof::weave
