#include "cli/shared/json_output.h"

#include <cmath>
#include <cstdio>

namespace jprof::cli {
namespace {

// Appends the document to `text`.
class Indenter {
 public:
  explicit Indenter(std::string& text) : text_(text) {}

  void Add(std::string_view json) {
    for (size_t i = 0; i < json.size(); ++i) {
      if (json[i] == '"') {
        const size_t length = StringLength(json.substr(i));
        text_ += json.substr(i, length);
        i += length - 1;
      } else if (json.substr(i).starts_with("{}") || json.substr(i).starts_with("[]")) {
        text_ += json.substr(i++, 2);
      } else {
        Add(json[i]);
      }
    }
  }

 private:
  // Returns the length of the string that begins the text, with its quotes.
  static size_t StringLength(std::string_view text) {
    size_t i = 1;
    while (i < text.size() && text[i] != '"') i += text[i] == '\\' ? 2 : 1;
    return i + 1;
  }

  void Add(char c) {
    if (c == '}' || c == ']') NewLine(--depth_);
    text_ += c;
    if (c == '{' || c == '[') NewLine(++depth_);
    if (c == ',') NewLine(depth_);
    if (c == ':') text_ += ' ';
  }

  void NewLine(size_t depth) { text_.append("\n").append(2 * depth, ' '); }

  std::string& text_;
  size_t depth_ = 0;
};

}  // namespace

std::string Indented(std::string_view json) {
  std::string text;
  Indenter(text).Add(json);
  return text;
}

Result<std::string> CompactJson(const std::function<void(reports::JsonWriter&)>& write) {
  return reports::PrintedText([&](reports::Output& out) -> Result<void> {
    reports::JsonWriter json(out);
    write(json);
    json.Finish();
    return {};
  });
}

Result<void> PrintIndentedJson(const std::function<void(reports::JsonWriter&)>& write) {
  const auto compact = CompactJson(write);
  if (!compact) return std::unexpected(compact.error());
  reports::Output out(stdout);
  out.Text(Indented(*compact));
  return out.Finish();
}

void DecimalMember(std::string_view key, double value, reports::JsonWriter& json) {
  json.Key(key);
  if (value == std::trunc(value)) {
    json.Fixed(value, 1);
  } else {
    json.Shortest(value);
  }
}

}  // namespace jprof::cli
