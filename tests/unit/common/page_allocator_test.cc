#include "common/page_allocator.h"

#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

namespace jprof {
namespace {

constexpr size_t kLeast = PageAllocator<char>::kLeast;

bool IsMapped(const void* page) {
  unsigned char resident;
  return mincore(const_cast<void*>(page), 1, &resident) == 0 || errno != ENOMEM;
}

TEST(PageAllocator, LargeBlocksAreMappingsThatAreReturned) {
  PageAllocator<uint64_t> allocator;
  const size_t n = kLeast / sizeof(uint64_t);
  uint64_t* const block = allocator.allocate(n);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % static_cast<size_t>(getpagesize()), 0u);
  block[0] = block[n - 1] = 1;
  allocator.deallocate(block, n);
  EXPECT_FALSE(IsMapped(block));
}

// malloc's own large blocks are mappings too; its counter of these does not change.
TEST(PageAllocator, LargeBlocksAreNotThoseOfMalloc) {
  const struct mallinfo2 before = mallinfo2();
  PageString text(8 * kLeast, 'x');
  text.append(8 * kLeast, 'y');
  const struct mallinfo2 meanwhile = mallinfo2();
  EXPECT_EQ(meanwhile.hblks, before.hblks);
  EXPECT_EQ(meanwhile.uordblks, before.uordblks);
  EXPECT_EQ(text.back(), 'y');
}

TEST(PageAllocator, ContainersGrowFromSmallToLarge) {
  PageVector<uint32_t> numbers;
  for (uint32_t i = 0; i < kLeast; ++i) numbers.push_back(i);
  for (uint32_t i = 0; i < kLeast; ++i) ASSERT_EQ(numbers[i], i);
  const PageVector<uint32_t> moved = std::move(numbers);
  EXPECT_EQ(moved.size(), kLeast);
}

TEST(PageAllocator, TooLargeABlockThrows) {
  EXPECT_THROW((void)PageAllocator<uint64_t>().allocate(~size_t{0} / 2), std::bad_alloc);
  EXPECT_THROW((void)PageAllocator<char>().allocate(size_t{1} << 62), std::bad_alloc);
}

}  // namespace
}  // namespace jprof
