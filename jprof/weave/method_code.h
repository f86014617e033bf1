// Writes the Code attribute of a method, with instructions inserted.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "jprof/weave/calls_before.h"
#include "jprof/weave/class_file.h"
#include "jprof/weave/constants.h"
#include "jprof/weave/frames.h"
#include "jprof/weave/layout.h"
#include "jprof/weave/weave.h"

namespace jprof::weave {

// One object serves all methods of a class.
class MethodCode {
 public:
  MethodCode(const ClassFile& file, Constants& constants, const Ids& ids)
      : file_(file),
        constants_(constants),
        calls_before_(file.pool, constants, ids),
        frames_(file, constants) {}

  // Appends the changed attribute. The result states why the method is skipped; then, and after
  // an error, the output is incomplete.
  Result<std::optional<SkipReason>> Write(const MethodInfo& method, const CodeAttribute& code,
                                          const Decision& decision, Output& out);

 private:
  // Adds the calls before instructions. Returns false if their constants do not fit.
  bool AddCallsBefore(const CodeAttribute& code, const Decision& decision, Insertions& insertions);
  struct Handler {
    uint16_t start;
    bool of_any;  // whether it catches any exception
  };

  void FindHandlers(const CodeAttribute& code);
  std::optional<SkipReason> CheckSize(const CodeAttribute& code,
                                      const Insertions& insertions) const;
  uint32_t NewStack(const CodeAttribute& code, const Insertions& insertions) const;
  uint32_t WriteGuards(const Insertions& insertions, Output& out);
  Result<std::optional<SkipReason>> WriteExceptions(const CodeAttribute& code,
                                                    const Insertions& insertions, Output& out);
  Result<std::optional<SkipReason>> WriteAttributes(const MethodInfo& method,
                                                    const CodeAttribute& code,
                                                    const Insertions& insertions, Output& out);
  bool NeedsFrames(const Insertions& insertions) const;
  // Appends the frames. An `attribute` without a name means that the method has no frames yet.
  Result<std::optional<SkipReason>> WriteFrames(const Attribute& attribute,
                                                const MethodInfo& method,
                                                const Insertions& insertions, Output& out);

  const ClassFile& file_;
  Constants& constants_;
  CallsBefore calls_before_;
  Layout layout_;
  Frames frames_;
  std::vector<Handler> handlers_;  // each once, in ascending order
  std::vector<uint16_t> starts_;   // their offsets
  uint32_t guards_ = 0;            // entries of the exception table before the method's own
};

}  // namespace jprof::weave
