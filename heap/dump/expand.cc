#include "heap/dump/expand.h"

#include <zlib.h>

#include <algorithm>
#include <vector>

#include "common/errno_text.h"
#include "common/write_all.h"

namespace jprof::heap {
namespace {

constexpr int kGzipFormat = 15 + 16;  // the largest window, and gzip's header instead of zlib's
constexpr size_t kPart = size_t{1} << 20;

class Inflater {
 public:
  explicit Inflater(std::string_view bytes) : bytes_(bytes), out_(kPart) {
    ok_ = inflateInit2(&stream_, kGzipFormat) == Z_OK;
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  bool ok() const { return ok_; }
  size_t left() const { return bytes_.size(); }

  // Returns the next expanded bytes, or none at the end of the file or at damage.
  std::string_view Next() {
    size_t made = 0;
    while (made == 0 && (!bytes_.empty() || is_full_) && damage_.empty()) made = Step();
    if (made == 0 && bytes_.empty() && !at_end_ && damage_.empty())
      damage_ = "the compressed file ends inside its data";
    return {out_.data(), made};
  }
  const std::string& damage() const { return damage_; }

 private:
  size_t Step() {
    const std::string_view part = bytes_.substr(0, kPart);
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(part.data()));
    stream_.avail_in = static_cast<uInt>(part.size());
    stream_.next_out = reinterpret_cast<Bytef*>(out_.data());
    stream_.avail_out = static_cast<uInt>(out_.size());
    const int status = inflate(&stream_, Z_NO_FLUSH);
    bytes_.remove_prefix(part.size() - stream_.avail_in);
    at_end_ = status == Z_STREAM_END;
    if (at_end_) {
      inflateReset(&stream_);
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      damage_ = fmt::format("its compressed data are damaged: {}",
                            stream_.msg != nullptr ? stream_.msg : "not enough memory");
    }
    is_full_ = !at_end_ && stream_.avail_out == 0;
    return out_.size() - stream_.avail_out;
  }

  std::string_view bytes_;
  std::vector<char> out_;
  z_stream stream_ = {};
  bool ok_ = false, at_end_ = false, is_full_ = false;
  std::string damage_;
};

}  // namespace

Result<std::string> Expand(std::string_view compressed, int fd,
                           const std::function<void(double)>& progress) {
  Inflater inflater(compressed);
  if (!inflater.ok()) return Fail("not enough memory to expand the dump");
  for (std::string_view part; !(part = inflater.Next()).empty();) {
    if (const int error = WriteAll(fd, part); error != 0) {
      return Fail("cannot expand the dump: {}; set TMPDIR to a directory with space",
                  ErrnoText(error));
    }
    if (progress)
      progress(1 - static_cast<double>(inflater.left()) / static_cast<double>(compressed.size()));
  }
  return inflater.damage();
}

}  // namespace jprof::heap
