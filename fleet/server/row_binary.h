// Rows as ClickHouse's format RowBinary has them: values one after the other, little endian.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace jprof::fleet {

// Appends values to a text.
class RowWriter {
 public:
  explicit RowWriter(std::string& out) : out_(out) {}

  // Writes a number of the same type in the table: UInt8 to UInt64, Int64, Float64.
  template <typename Number>
  requires std::is_arithmetic_v<Number>
  void Put(Number number) {
    char bytes[sizeof number];
    std::memcpy(bytes, &number, sizeof number);
    out_.append(bytes, sizeof bytes);
  }
  void Length(uint64_t length) {
    for (; length >= 0x80; length >>= 7) out_ += static_cast<char>(length | 0x80);
    out_ += static_cast<char>(length);
  }
  void Text(std::string_view text) {  // String
    Length(text.size());
    out_ += text;
  }
  void Bytes(std::string_view bytes) { out_ += bytes; }  // FixedString

 private:
  std::string& out_;
};

// Takes values from a text. Nothing is trusted: at its end every value is 0 or empty, and ok() is
// false.
class RowReader {
 public:
  explicit RowReader(std::string_view text) : rest_(text) {}

  bool AtEnd() const { return rest_.empty(); }
  bool ok() const { return ok_; }
  size_t left() const { return rest_.size(); }

  template <typename Number>
  Number Get() {
    Number number{};
    const std::string_view bytes = Bytes(sizeof number);
    if (!bytes.empty()) std::memcpy(&number, bytes.data(), sizeof number);
    return number;
  }
  uint64_t Length() {
    uint64_t length = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = Get<uint8_t>();
      length |= uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80) == 0) break;
    }
    return length;
  }
  std::string_view Text() { return Bytes(Length()); }
  std::string_view Bytes(uint64_t count) {
    if (count > rest_.size()) {
      ok_ = false;
      rest_ = {};
      return {};
    }
    const std::string_view bytes = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return bytes;
  }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace jprof::fleet
