#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>

#include "common/errno_text.h"
#include "common/fd.h"
#include "profile/files/printable_text.h"
#include "profile/import/importer.h"

namespace jprof::profile {
namespace {

constexpr size_t kPiece = size_t{1} << 20;
constexpr int kGzip = 15 + 16;  // the largest window, and gzip's header instead of zlib's

std::unexpected<Error> TooLarge(uint64_t memory) {
  return Fail(
      "it needs more than {} MiB, half of the available memory: import it on a machine with "
      "more memory, or only a part of it",
      memory >> 20);
}

Result<std::string> ReadAll(int fd, uint64_t memory) {
  std::string bytes;
  for (;;) {
    const size_t before = bytes.size();
    if (before >= memory) return TooLarge(memory);
    bytes.resize(before + kPiece);
    const ssize_t got = read(fd, bytes.data() + before, kPiece);
    const int error = errno;
    bytes.resize(before + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0) return bytes;
    if (got < 0 && error != EINTR) return Fail("cannot read it: {}", ErrnoText(error));
  }
}

// Expands all members of gzip's format.
Result<std::string> Expanded(std::string_view bytes, uint64_t memory) {
  z_stream stream = {};
  if (inflateInit2(&stream, kGzip) != Z_OK) return Fail("cannot expand it: not enough memory");
  std::string out;
  int status = Z_OK;
  bool is_full = false;  // there may be more from bytes that were passed before
  while ((!bytes.empty() || is_full) && (status == Z_OK || status == Z_STREAM_END)) {
    if (status == Z_STREAM_END && inflateReset(&stream) != Z_OK) break;
    const std::string_view part = bytes.substr(0, kPiece);
    const size_t before = out.size();
    out.resize(before + kPiece);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(part.data()));
    stream.avail_in = static_cast<uInt>(part.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + before);
    stream.avail_out = static_cast<uInt>(kPiece);
    status = inflate(&stream, Z_NO_FLUSH);
    is_full = status == Z_OK && stream.avail_out == 0;
    out.resize(out.size() - stream.avail_out);
    bytes.remove_prefix(part.size() - stream.avail_in);
    if (out.size() > memory) break;
  }
  inflateEnd(&stream);
  if (out.size() > memory) return TooLarge(memory);
  if (status == Z_STREAM_END) return out;
  return Fail("its compressed data {}",
              status == Z_OK || status == Z_BUF_ERROR ? "end too early" : "are damaged");
}

Result<std::string> ReadAndExpand(const std::string& path, uint64_t memory) {
  const Fd opened(path == "-" ? -1 : open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const int fd = path == "-" ? STDIN_FILENO : opened.get();
  if (fd < 0) return Fail("cannot open it: {}", ErrnoText());
  auto bytes = ReadAll(fd, memory);
  if (!bytes || !bytes->starts_with("\x1f\x8b")) return bytes;
  return Expanded(*bytes, memory);
}

}  // namespace

Result<std::string> ReadForeignFile(const std::string& path, uint64_t memory) {
  auto bytes = ReadAndExpand(path, memory);
  if (bytes) return bytes;
  return Fail("{}: {}", path == "-" ? "standard input" : CleanText(path), bytes.error().message);
}

}  // namespace jprof::profile
