// The process context: what a program publishes in its memory, and what is read of it.
#include "model/tree/process_attributes.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <random>

#include "common/procfs.h"
#include "profile/files/process_context.h"

namespace jprof::model {
namespace {

std::string Field(int number, const std::string& bytes) {
  return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(bytes.size())} + bytes;
}
std::string Attribute(const std::string& key, const std::string& any_value) {
  return Field(1, key) + Field(2, any_value);
}

const std::string kMessage =
    Field(1, Field(1, Attribute("service.name", Field(1, "shop"))) +
                 Field(1, Attribute("n", "\x18\x07")) + Field(1, Attribute("b", "\x10\x01")) +
                 Field(1, Attribute("list", Field(5, ""))) +
                 Field(1, Attribute("service.name", Field(1, "second")))) +
    Field(2, Attribute("more", Field(1, "a\x1b")));

TEST(ProcessAttributes, OfAMessage) {
  EXPECT_EQ(
      DecodeProcessContext(kMessage),
      (ProcessAttributes{{"service.name", "shop"}, {"n", "7"}, {"b", "true"}, {"more", "a?"}}));
  EXPECT_TRUE(DecodeProcessContext("").empty());
}

TEST(ProcessAttributes, DamageIsNoError) {
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = kMessage.substr(0, random() % (kMessage.size() + 1));
    for (unsigned changes = random() % 4; changes > 0 && !bytes.empty(); --changes)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    for (const auto& [name, value] : DecodeProcessContext(bytes)) EXPECT_FALSE(name.empty());
  }
}

struct Header {
  char signature[8];
  uint32_t version, payload_size;
  uint64_t published_at_ns;
  const char* payload;
};

TEST(ProcessContext, IsReadFromMemory) {
  EXPECT_EQ(profile::PublishedContext(procfs::kSelf), "");
  const int file = memfd_create("OTEL_CTX", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(file, 4096), 0);
  auto* header =
      static_cast<Header*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
  close(file);
  *header = {.version = 2,
             .payload_size = static_cast<uint32_t>(kMessage.size()),
             .published_at_ns = 1,
             .payload = kMessage.data()};
  EXPECT_EQ(profile::PublishedContext(procfs::kSelf), "");  // the signature is written last
  std::memcpy(header->signature, "OTEL_CTX", 8);
  EXPECT_EQ(profile::PublishedContext(procfs::kSelf), kMessage);
  header->version = 3;
  EXPECT_EQ(profile::PublishedContext(procfs::kSelf), "");
  header->version = 2;
  header->published_at_ns = 0;  // it is being changed
  EXPECT_EQ(profile::PublishedContext(procfs::kSelf), "");
  header->published_at_ns = 2;
  header->payload = nullptr;
  EXPECT_EQ(profile::PublishedContext(procfs::kSelf), "");
  header->payload_size = 1u << 31;
  EXPECT_EQ(profile::PublishedContext(procfs::kSelf), "");
  munmap(header, 4096);
}

}  // namespace
}  // namespace jprof::model
