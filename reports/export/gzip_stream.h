// Compresses what is written and passes it on to an Output, in the format of gzip.
#pragma once

#include <zlib.h>

#include <string>
#include <string_view>

#include "common/result.h"
#include "reports/print/output.h"

namespace jprof::reports {

class GzipStream {
 public:
  explicit GzipStream(Output& out);
  ~GzipStream();
  GzipStream(const GzipStream&) = delete;
  GzipStream& operator=(const GzipStream&) = delete;

  void Write(std::string_view bytes) { Deflate(bytes, Z_NO_FLUSH); }
  // Ends the stream. Fails if there was not enough memory.
  Result<void> Finish();

 private:
  void Deflate(std::string_view bytes, int flush);

  Output& out_;
  z_stream stream_ = {};
  bool failed_ = false;
};

}  // namespace jprof::reports
