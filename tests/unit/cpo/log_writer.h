// Writes logs as libjprof-pages.so does, for tests of the reader.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "cpo/allocations/log_format.h"

namespace jprof::cpo {

class LogWriter {
 public:
  LogWriter() {
    LogHeader header = {};
    std::memcpy(header.magic, kLogMagic, sizeof kLogMagic);
    header.pid = 7;
    header.large_page = 2 << 20;
    header.threshold = 128 << 10;
    header.began = 100;
    bytes_.assign(reinterpret_cast<const char*>(&header), sizeof header);
  }

  LogWriter& Add(SlotKind kind, uint32_t number, uint64_t a, uint64_t b, uint64_t c) {
    LogSlot slot = {};
    slot.a = a;
    slot.b = b;
    slot.c = c;
    return Add(kind, number, slot);
  }
  LogWriter& Text(SlotKind kind, uint32_t number, std::string_view text) {
    for (size_t part = 0; part * kTextBytes <= text.size(); ++part) {
      LogSlot slot = {};
      slot.part = static_cast<uint8_t>(part);
      const std::string_view bytes = text.substr(part * kTextBytes, kTextBytes);
      std::memcpy(slot.text, bytes.data(), bytes.size());
      Add(kind, number, slot);
    }
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  LogWriter& Add(SlotKind kind, uint32_t number, LogSlot slot) {
    slot.kind = static_cast<uint8_t>(kind);
    slot.number = number;
    bytes_.append(reinterpret_cast<const char*>(&slot), sizeof slot);
    return *this;
  }

  std::string bytes_;
};

}  // namespace jprof::cpo
