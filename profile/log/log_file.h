// Provides what the logs `samples` and `branches` share: their header, a writer that keeps errors,
// and how a file is opened. All their times are nanoseconds of CLOCK_MONOTONIC.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/bytes.h"
#include "common/result.h"
#include "profile/files/out_file.h"
#include "profile/read/reader_file.h"

namespace jprof::profile {

// Begins each log.
struct LogHeader {
  char magic[8] = {};
  uint32_t version = 0;
  uint32_t cpus = 0;  // processors of the machine; 0 if the log does not need them
  uint64_t start_unix_ns = 0;
  uint64_t start_ns = 0;
};
static_assert(sizeof(LogHeader) == 32);

// Describes a kind of log, in its header and in messages.
struct LogFormat {
  std::string_view magic;  // 8 bytes
  uint32_t version = 1;
  std::string_view name;   // "a recording of jprof tprof"
  std::string_view again;  // what to do with another version: "record again"
};

// Writes a log from its beginning to its end. Keeps the first error, which Close returns, so that
// callers need not check each write.
class LogWriter {
 public:
  // Makes the file and writes the header, whose magic and version are those of the format. Fails if
  // either is not possible.
  Result<void> Open(const std::string& path, const LogFormat& format, LogHeader header);
  bool is_open() const { return file_.has_value(); }
  // Appends bytes. Does nothing if the file is not open, or if there was an error.
  void Write(const void* bytes, size_t count);
  // Closes the file. Fails if something could not be written.
  Result<void> Close();

 private:
  std::optional<OutFile> file_;
  std::string path_;
};

// Opens a file to read it. Fails if it does not exist or is no regular file.
Result<ReaderFile> OpenLogFile(const std::string& path);

// Takes the header from the content of a file. Fails if it is not of this format and version;
// `name` is for the message.
Result<LogHeader> TakeLogHeader(ByteCursor& content, const LogFormat& format,
                                const std::string& name);

}  // namespace jprof::profile
