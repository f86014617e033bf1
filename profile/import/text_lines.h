// Divides a text into lines, for readers of formats of text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "profile/files/printable_text.h"

namespace jprof::profile {

class TextLines {
 public:
  explicit TextLines(std::string_view text) : text_(text) {}

  // Sets *line to the next one, without its end. Returns false if there is none.
  bool Next(std::string_view* line) {
    if (text_.empty()) return false;
    const size_t end = text_.find('\n');
    *line = text_.substr(0, end);
    text_.remove_prefix(end == std::string_view::npos ? text_.size() : end + 1);
    if (line->ends_with('\r')) line->remove_suffix(1);
    ++number_;
    return true;
  }
  uint64_t number() const { return number_; }  // of the last line, from 1

 private:
  std::string_view text_;
  uint64_t number_ = 0;
};

// Returns the begin of a line, for an error.
inline std::string Excerpt(std::string_view line) {
  constexpr size_t kShown = 80;
  return CleanText(BeginningOf(line, kShown)) + (line.size() > kShown ? "..." : "");
}

}  // namespace jprof::profile
