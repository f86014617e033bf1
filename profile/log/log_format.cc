#include "profile/log/log_format.h"

#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "common/no_file_size_signal.h"

namespace jprof::profile {
namespace {

// Computes a check of bytes that come in pieces of any length. Only the bytes determine the result.
class Check {
 public:
  void Add(std::string_view bytes) {
    if (filled_ > 0) Fill(bytes);
    uint64_t hash = hash_, word;  // in registers: a word takes half the time
    for (; bytes.size() >= sizeof(word); bytes.remove_prefix(sizeof(word))) {
      std::memcpy(&word, bytes.data(), sizeof(word));
      hash = Mix(hash, word);
    }
    hash_ = hash;
    Fill(bytes);
  }
  uint64_t value() const { return hash_; }  // of the whole words

 private:
  static uint64_t Mix(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
  }

  // Moves bytes to the incomplete word until it is complete.
  void Fill(std::string_view& bytes) {
    if (bytes.empty()) return;  // its address may be null
    const size_t count = std::min(bytes.size(), sizeof(word_) - filled_);
    std::memcpy(reinterpret_cast<char*>(&word_) + filled_, bytes.data(), count);
    bytes.remove_prefix(count);
    filled_ += count;
    if (filled_ < sizeof(word_)) return;
    hash_ = Mix(hash_, word_);
    filled_ = 0;
  }

  uint64_t hash_ = 1;  // not 0: a packet of zeros is damaged
  uint64_t word_ = 0;
  size_t filled_ = 0;
};

iovec Part(std::string_view bytes) { return {const_cast<char*>(bytes.data()), bytes.size()}; }

// Returns false and sets errno unless all bytes of the parts were written.
bool WriteParts(int fd, std::span<const iovec> parts, size_t bytes) {
  const NoFileSizeSignal in_silence;
  ssize_t written;
  do {
    written = writev(fd, parts.data(), static_cast<int>(parts.size()));
  } while (written < 0 && errno == EINTR);
  if (written >= 0) errno = ENOSPC;  // a write is short if there is no more space
  return written == static_cast<ssize_t>(bytes);
}

// Returns the check of the fields of a packet, to which its content is to be added.
Check CheckOfFields(const LogPacket& packet) {
  Check check;
  check.Add(BytesOf(packet).substr(0, offsetof(LogPacket, check)));
  return check;
}

}  // namespace

LogHeader HeaderOf(const LogFormat& format, LogHeader header) {
  std::memcpy(header.magic, format.magic.data(), sizeof(header.magic));
  header.version = format.version;
  return header;
}

std::string_view SealPacket(LogPacket& packet, std::span<const std::string_view> parts) {
  size_t bytes = 0;
  for (const std::string_view part : parts) bytes += part.size();
  const std::string_view padding = LogPadding(bytes);
  packet.bytes = static_cast<uint32_t>(bytes + padding.size());
  Check check = CheckOfFields(packet);
  for (const std::string_view part : parts) check.Add(part);
  check.Add(padding);
  packet.check = check.value();
  return padding;
}

bool WriteHeader(int fd, const LogFormat& format, const LogHeader& header) {
  const LogHeader whole = HeaderOf(format, header);
  const iovec part = Part(BytesOf(whole));
  return WriteParts(fd, {&part, 1}, sizeof(whole));
}

bool WritePacket(int fd, LogPacket& packet, std::span<const std::string_view> parts) {
  const std::string_view padding = SealPacket(packet, parts);
  iovec all[kMostParts + 2] = {Part(BytesOf(packet))};
  size_t count = 1;
  for (const std::string_view part : parts) all[count++] = Part(part);
  all[count++] = Part(padding);
  return WriteParts(fd, std::span(all, count), sizeof(packet) + packet.bytes);
}

bool IsIntact(const LogPacket& packet, std::string_view content) {
  Check check = CheckOfFields(packet);
  check.Add(content);
  return packet.check == check.value();
}

}  // namespace jprof::profile
