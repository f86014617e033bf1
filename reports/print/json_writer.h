// Writes one JSON document to an Output piece by piece; nothing is collected. RapidJSON keeps the
// nesting and places the commas. Strings and keys take any bytes and are cleaned (CleanText).
// Finish ends the document; without it the last bytes are missing.
#pragma once

// RapidJSON's stack adds to a null pointer before its first allocation: undefined, but harmless.
#ifdef __clang__
#pragma clang attribute push(__attribute__((no_sanitize("pointer-overflow"))), apply_to = function)
#endif
#include <rapidjson/writer.h>
#ifdef __clang__
#pragma clang attribute pop
#endif

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstring>
#include <string_view>

#include "profile/files/printable_text.h"
#include "reports/print/output.h"

namespace jprof::reports {

// RapidJSON's output stream: it writes byte by byte, so the bytes are collected here first.
class JsonStream {
 public:
  using Ch = char;

  explicit JsonStream(Output& out) : out_(out) {}
  void Put(char c) {
    if (used_ == sizeof(buffer_)) Flush();
    buffer_[used_++] = c;
  }
  void Append(std::string_view text) {
    if (text.empty()) return;  // it may have no data
    if (text.size() > sizeof(buffer_) - used_) Flush();
    if (text.size() > sizeof(buffer_)) return out_.Text(text);
    std::memcpy(buffer_ + used_, text.data(), text.size());
    used_ += text.size();
  }
  void Flush() {
    out_.Text({buffer_, used_});
    used_ = 0;
  }

 private:
  Output& out_;
  size_t used_ = 0;
  char buffer_[8192];
};

class JsonWriter : private rapidjson::Writer<JsonStream> {
  using Base = rapidjson::Writer<JsonStream>;

 public:
  explicit JsonWriter(Output& out) : Base(), stream_(out) { Reset(stream_); }
  JsonWriter(const JsonWriter&) = delete;
  JsonWriter& operator=(const JsonWriter&) = delete;

  using Base::EndArray;
  using Base::EndObject;
  using Base::Null;
  using Base::StartArray;
  using Base::StartObject;

  // Starts an object on a new line.
  void StartRow() {
    Prefix(rapidjson::kObjectType);
    stream_.Put('\n');
    new (level_stack_.template Push<Level>()) Level(false);
    WriteStartObject();
  }
  // Writes a line break between two values.
  void NewLine() { stream_.Put('\n'); }

  void Key(std::string_view key) { String(key); }
  void String(std::string_view text) {
    if (!std::ranges::all_of(text, IsPlain)) {
      const std::string clean = profile::CleanText(text);
      Base::String(clean.data(), static_cast<rapidjson::SizeType>(clean.size()));
      return;
    }
    Prefix(rapidjson::kStringType);
    stream_.Put('"');
    stream_.Append(text);
    stream_.Put('"');
    EndValue(true);
  }
  template <std::integral Integer>
  void Value(Integer value) {
    if constexpr (std::same_as<Integer, bool>) {
      Base::Bool(value);
    } else if constexpr (std::signed_integral<Integer>) {
      Base::Int64(value);
    } else {
      Base::Uint64(value);
    }
  }
  void Value(std::string_view text) { String(text); }
  void Value(double) = delete;  // name its format: Number, Fixed or Precise

  // Writes at most one decimal (Tenths).
  void Number(double value) { Raw(Tenths(value).text()); }
  // Writes `digits` decimals, or null if the value is not finite.
  void Fixed(double value, int digits) { Finite(value, "{:.{}f}", digits); }
  // Writes `digits` significant digits, or null if the value is not finite.
  void Precise(double value, int digits) { Finite(value, "{:.{}g}", digits); }

  // Writes as many digits as it takes to read the same value back, or null if it is not finite.
  void Shortest(double value) {
    if (!std::isfinite(value)) {
      Null();
      return;
    }
    Raw(fmt::format("{}", value));
  }

  template <typename T>
  void Member(std::string_view key, const T& value) {
    Key(key);
    Value(value);
  }
  void NumberMember(std::string_view key, double value) {
    Key(key);
    Number(value);
  }
  void FixedMember(std::string_view key, double value, int digits) {
    Key(key);
    Fixed(value, digits);
  }
  template <typename Strings>
  void StringsMember(std::string_view key, const Strings& strings) {
    Key(key);
    StartArray();
    for (const auto& text : strings) String(text);
    EndArray();
  }

  void Finish() {
    stream_.Put('\n');
    stream_.Flush();
  }

 private:
  static bool IsPlain(char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; }

  void Raw(std::string_view number) {
    Prefix(rapidjson::kNumberType);
    stream_.Append(number);
    EndValue(true);
  }
  void Finite(double value, fmt::string_view format, int digits) {
    if (!std::isfinite(value)) {
      Null();
      return;
    }
    Raw(fmt::format(fmt::runtime(format), value, digits));
  }

  JsonStream stream_;
};

}  // namespace jprof::reports
