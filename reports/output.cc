#include "reports/output.h"

#include <cerrno>
#include <cmath>
#include <system_error>

#include "common/errno_text.h"
#include "profile/reader_text.h"

namespace jprof::reports {

int64_t Rounded(double value) {
  if (std::isnan(value)) return 0;
  if (value >= 9.2e18) return INT64_MAX;
  if (value <= -9.2e18) return INT64_MIN;
  return std::llround(value);
}

void Output::JsonString(std::string_view text) {
  buffer_.push_back('"');
  for (const char c : profile::CleanText(text)) {
    if (c == '"' || c == '\\') buffer_.push_back('\\');
    buffer_.push_back(c);
  }
  buffer_.push_back('"');
}

void Output::CsvField(std::string_view text) {
  const std::string clean = profile::CleanText(text);
  if (clean.find_first_of(",\"") == std::string_view::npos) return Text(clean);
  buffer_.push_back('"');
  for (const char c : clean) {
    if (c == '"') buffer_.push_back('"');
    buffer_.push_back(c);
  }
  buffer_.push_back('"');
}

void Output::Number(double value) {
  const int64_t tenths = Rounded(value * 10);
  if (tenths == INT64_MIN) return Text("-922337203685477580.8");
  if (tenths < 0) buffer_.push_back('-');
  const uint64_t size = static_cast<uint64_t>(tenths < 0 ? -tenths : tenths);
  Integer(size / 10);
  if (size % 10 == 0) return;
  buffer_.push_back('.');
  buffer_.push_back(static_cast<char>('0' + size % 10));
}

void Output::Styled(std::string_view style, std::string_view text) {
  if (colour_) Text(style);
  Text(text);
  if (colour_) Text("\033[0m");
}

void Output::Flush() {
  if (error_ == 0 && buffer_.size() > 0 &&
      std::fwrite(buffer_.data(), 1, buffer_.size(), file_) != buffer_.size()) {
    error_ = errno;
  }
  buffer_.clear();
}

Result<void> Output::Finish() {
  Flush();
  if (error_ == 0 && std::fflush(file_) != 0) error_ = errno;
  if (error_ == 0 || error_ == EPIPE) return {};
  return Fail("the report could not be written: {}; free some space or write it elsewhere",
              ErrnoText(error_));
}

}  // namespace jprof::reports
