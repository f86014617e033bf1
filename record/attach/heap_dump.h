// Has a running JVM write its heap to a file, by its own command of the attach protocol. Nothing is
// loaded into the JVM, which is paused meanwhile.
#pragma once

#include <cstdint>
#include <string>

#include "common/fd.h"
#include "common/result.h"
#include "record/attach/attach_target.h"

namespace jprof::record {

// The file of a dump. Its destructor removes it unless it is kept.
class HeapDumpFile {
 public:
  // Names a new file in the JVM's directory for temporary files; it does not exist yet.
  explicit HeapDumpFile(const AttachTarget& target);
  HeapDumpFile(const HeapDumpFile&) = delete;
  HeapDumpFile& operator=(const HeapDumpFile&) = delete;
  ~HeapDumpFile();

  // Has the JVM write its live objects; with `all`, also garbage. Fails if it does not, or after a
  // signal to this process (record/run/interruption.h).
  Result<void> Write(bool all) const;

  // Moves the file to `place`. Fails if there is a file already, or if it cannot be written; what
  // was written of it is removed.
  Result<void> Keep(const std::string& place);

  // Opens the file and removes its name, so that nothing is left of it however this process ends.
  Result<Fd> OpenUnnamed();

 private:
  // Returns a path that is valid in this process.
  std::string path() const;

  const AttachTarget& target_;
  std::string name_;  // empty once the file has another name, or none
};

// Fails if HeapDumpFile::Keep could not make a file at `place`.
Result<void> CheckPlace(const std::string& place);

// Returns nothing if the reply says that the dump was written. Fails with the JVM's reason.
Result<void> ParseDumpAnswer(std::string_view answer, uint32_t pid);

}  // namespace jprof::record
