// Reads files of the kernel and of the launcher without allocating.
#pragma once

#include <stddef.h>

#include "cpo/shim/system.h"

namespace jprof::cpo {

// Reads a file from its beginning into `text`, which ends with a zero byte. Returns the bytes read,
// 0 if it cannot be read.
inline size_t ReadFile(const char* path, char* text, size_t bytes) {
  size_t done = 0;
  const int file = OpenFile(path, O_RDONLY);
  while (file >= 0 && done + 1 < bytes) {
    const ssize_t more = ReadBytes(file, text + done, bytes - 1 - done);
    if (more <= 0) break;
    done += static_cast<size_t>(more);
  }
  if (file >= 0) CloseFile(file);
  text[done] = '\0';
  return done;
}

// The text of a file of at most `most` bytes, in memory of its own.
class MappedText {
 public:
  MappedText(const char* path, size_t most)
      : bytes_(static_cast<char*>(MapZeros(most))), most_(most) {
    if (bytes_ != nullptr) ReadFile(path, bytes_, most);
  }
  ~MappedText() {
    if (bytes_ != nullptr) Unmap(bytes_, most_);
  }
  MappedText(const MappedText&) = delete;
  MappedText& operator=(const MappedText&) = delete;
  char* bytes() const { return bytes_; }

 private:
  char* bytes_;
  size_t most_;
};

// Calls visit(line) for each line of a file of proc until it returns false. Lines are cut after a
// few thousand bytes.
template <class Visit>
void ForEachLine(const char* path, Visit visit) {
  const int file = OpenFile(path, O_RDONLY);
  if (file < 0) return;
  char text[4096];
  size_t held = 0;
  bool cuts = false, goes_on = true;
  while (goes_on) {
    const ssize_t more = ReadBytes(file, text + held, sizeof text - 1 - held);
    if (more <= 0) break;
    held += static_cast<size_t>(more);
    size_t line = 0;
    for (size_t at = 0; at < held && goes_on; ++at) {
      if (text[at] != '\n') continue;
      text[at] = '\0';
      if (!cuts) goes_on = visit(static_cast<const char*>(text + line));
      cuts = false;
      line = at + 1;
    }
    if (line == 0 && held == sizeof text - 1) {  // a line that does not fit
      text[held] = '\0';
      if (!cuts) goes_on = visit(static_cast<const char*>(text));
      cuts = true;
      line = held;
    }
    for (size_t at = line; at < held; ++at) text[at - line] = text[at];
    held -= line;
  }
  CloseFile(file);
}

}  // namespace jprof::cpo
