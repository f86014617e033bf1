#include "reports/export/gzip_stream.h"

#include <algorithm>

namespace jprof::reports {
namespace {

constexpr int kGzipFormat = 15 + 16;  // the largest window, and gzip's header instead of zlib's
constexpr int kMemoryLevel = 9;
constexpr int kCompressionLevel = 3;  // level 6 takes twice as long for 6 to 10 % less
constexpr size_t kMostAtOnce = 1u << 30;

}  // namespace

GzipStream::GzipStream(Output& out) : out_(out) {
  failed_ = deflateInit2(&stream_, kCompressionLevel, Z_DEFLATED, kGzipFormat, kMemoryLevel,
                         Z_DEFAULT_STRATEGY) != Z_OK;
}

GzipStream::~GzipStream() { deflateEnd(&stream_); }

void GzipStream::Deflate(std::string_view bytes, int flush) {
  char buffer[64 * 1024];
  while (!failed_) {
    const std::string_view part = bytes.substr(0, kMostAtOnce);
    bytes.remove_prefix(part.size());
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(part.data()));
    stream_.avail_in = static_cast<uInt>(part.size());
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(buffer);
      stream_.avail_out = sizeof(buffer);
      failed_ = deflate(&stream_, bytes.empty() ? flush : Z_NO_FLUSH) == Z_STREAM_ERROR;
      out_.Text({buffer, sizeof(buffer) - stream_.avail_out});
    } while (!failed_ && stream_.avail_out == 0);
    if (bytes.empty()) return;
  }
}

Result<void> GzipStream::Finish() {
  Deflate({}, Z_FINISH);
  if (failed_) return Fail("zlib could not compress the output: not enough memory; free some");
  return {};
}

}  // namespace jprof::reports
