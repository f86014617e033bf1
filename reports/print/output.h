// Writes the output of a report to a FILE*, buffered in large pieces. Finish returns the
// first failure.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/result.h"
#include "model/values/amount.h"

namespace jprof::reports {

// A number with at most one decimal, which is omitted if it is 0; NaN is 0.
class Tenths {
 public:
  explicit Tenths(double value);
  std::string_view text() const { return {digits_, size_}; }

 private:
  char digits_[24];
  size_t size_ = 0;
};

class Output {
 public:
  // `colour` states whether the receiver shows terminal colours.
  explicit Output(std::FILE* file, bool colour = false) : file_(file), colour_(colour) {}
  // Calls `open` for the file when the first bytes are written.
  Output(std::function<std::FILE*()> open, bool colour) : open_(std::move(open)), colour_(colour) {}
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  template <typename... Args>
  void Print(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(fmt::appender(buffer_), format, std::forward<Args>(args)...);
    FlushIfFull();
  }
  void Text(std::string_view text) {
    buffer_.append(text);
    FlushIfFull();
  }
  void Number(double value);  // as Tenths
  void Integer(uint64_t value) {
    const fmt::format_int digits(value);
    buffer_.append(digits.data(), digits.data() + digits.size());
  }

  void Bold(std::string_view text) { Styled("\033[1m", text); }
  void Warning(std::string_view text) { Styled("\033[33m", text); }

  // Keeps a text that the format has no place for; Finish prints it on standard error. Ignores
  // an empty text.
  void Remark(const std::string& text) {
    if (!text.empty()) remarks_.push_back(text);
  }

  // Returns false once a write has failed: a long report may then stop.
  bool ok() const { return error_ == 0; }

  // Writes the remaining bytes. Fails with the system's error; a closed pipe (| head) is
  // not an error.
  Result<void> Finish();

 private:
  void Styled(std::string_view style, std::string_view text);
  void FlushIfFull() {
    if (buffer_.size() >= kFlushBytes) Flush();
  }
  void Flush();

  static constexpr size_t kFlushBytes = 256 * 1024;
  std::function<std::FILE*()> open_;
  std::FILE* file_ = nullptr;
  bool colour_;
  int error_ = 0;
  fmt::memory_buffer buffer_;
  std::vector<std::string> remarks_;
};

// Returns the text as reports for people show it: a text longer than kShownText bytes is reduced to
// its two ends and its length. JSON, CSV and collapsed stacks contain the whole text.
inline constexpr size_t kShownText = 1000;
std::string Shortened(std::string_view text);

// Returns what `print` prints, as text. Fails with its error, or if there is not enough memory.
Result<std::string> PrintedText(const std::function<Result<void>(Output&)>& print);

// Returns whether `file` is a terminal and NO_COLOR is not set or empty (https://no-color.org).
bool ShowsColour(std::FILE* file);

}  // namespace jprof::reports
