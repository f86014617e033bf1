#include "reports/print/output.h"

#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <system_error>

#include "common/errno_text.h"
#include "common/write_all.h"
#include "profile/files/printable_text.h"

namespace jprof::reports {
namespace {

// Writes all bytes also if signals interrupt it, which stdio takes for an error. Returns false and
// sets errno if they cannot be written.
bool WriteWhole(std::FILE* file, std::string_view bytes) {
  const int fd = fileno(file);
  if (fd < 0) return std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();  // in memory
  if (std::fflush(file) != 0) return false;
  errno = WriteAll(fd, bytes);
  return errno == 0;
}

}  // namespace

bool ShowsColour(std::FILE* file) {
  const char* no_colour = std::getenv("NO_COLOR");
  return isatty(fileno(file)) != 0 && (no_colour == nullptr || *no_colour == '\0');
}

Tenths::Tenths(double value) {
  const int64_t tenths = model::Rounded(value * 10);
  const bool negative = tenths < 0;
  const uint64_t size =
      negative ? 0 - static_cast<uint64_t>(tenths) : static_cast<uint64_t>(tenths);
  const fmt::format_int whole(size / 10);
  if (negative) digits_[size_++] = '-';
  std::memcpy(digits_ + size_, whole.data(), whole.size());
  size_ += whole.size();
  if (size % 10 == 0) return;
  digits_[size_++] = '.';
  digits_[size_++] = static_cast<char>('0' + size % 10);
}

void Output::Number(double value) { Text(Tenths(value).text()); }

void Output::Styled(std::string_view style, std::string_view text) {
  if (colour_) Text(style);
  Text(text);
  if (colour_) Text("\033[0m");
}

void Output::Flush() {
  if (open_) file_ = std::exchange(open_, nullptr)();
  const std::string_view bytes(buffer_.data(), buffer_.size());
  if (error_ == 0 && !bytes.empty() && !WriteWhole(file_, bytes)) error_ = errno;
  buffer_.clear();
}

Result<void> Output::Finish() {
  Flush();
  if (error_ == 0 && std::fflush(file_) != 0) error_ = errno;
  for (const std::string& remark : std::exchange(remarks_, {}))
    fmt::print(stderr, "jprof: {}\n", remark);
  if (error_ == 0 || error_ == EPIPE) return {};
  return Fail("the report could not be written: {}; free some space or write it elsewhere",
              ErrnoText(error_));
}

std::string Shortened(std::string_view text) {
  if (text.size() <= kShownText) return std::string(text);
  return fmt::format("{}... ({} bytes) ...{}", profile::BeginningOf(text, 2 * kShownText / 3),
                     text.size(), profile::EndOf(text, kShownText / 4));
}

Result<std::string> PrintedText(const std::function<Result<void>(Output&)>& print) {
  char* text = nullptr;
  size_t size = 0;
  std::FILE* file = open_memstream(&text, &size);
  if (file == nullptr) return Fail("not enough memory for a text");
  Output out(file);
  auto written = print(out);
  if (written) written = out.Finish();
  std::fclose(file);
  const std::unique_ptr<char, decltype(&std::free)> owner(text, std::free);
  if (!written) return std::unexpected(written.error());
  return std::string(text, size);
}

}  // namespace jprof::reports
