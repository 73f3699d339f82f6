// Memory of page_allocator() is aligned and zero; what is large costs nothing before it is touched.
#include "hal/drivers/common/page_allocator.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/sanitizers.hpp"

namespace baton::hal {
namespace {

constexpr size_t kSizes[] = {1, 4096, kFreshPagesFrom - 1, kFreshPagesFrom, kFreshPagesFrom + 1};

void* allocate(size_t size) {
  return page_allocator().allocate_bytes(page_allocator().self, size, alignof(std::max_align_t), /*zeroed=*/1);
}

TEST(PageAllocatorTest, ZeroesWhatWasUsedBefore) {
  for (const size_t size : kSizes) {
    for (int round = 0; round < 2; ++round) {
      auto* memory = static_cast<unsigned char*>(allocate(size));
      ASSERT_NE(memory, nullptr);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % alignof(std::max_align_t), 0u);
      EXPECT_TRUE(std::all_of(memory, memory + size, [](unsigned char byte) { return byte == 0; })) << size;
      std::memset(memory, 0xa5, size);
      page_allocator().free(memory);
    }
  }
}

TEST(PageAllocatorTest, LargeMemoryIsNotTouched) {
  if (BATON_ADDRESS_SANITIZER) GTEST_SKIP() << "AddressSanitizer brings its own memory";
  constexpr size_t kBytes = size_t{1} << 30;
  void* const memory = allocate(kBytes);
  ASSERT_NE(memory, nullptr);
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> residence((kBytes + page - 1) / page);
  const uintptr_t begin = reinterpret_cast<uintptr_t>(memory) / page * page;
  ASSERT_EQ(mincore(reinterpret_cast<void*>(begin), kBytes, residence.data()), 0);
  const auto touched = std::count_if(residence.begin(), residence.end(), [](unsigned char each) { return each & 1; });
  EXPECT_LE(touched, 1);  // What stands before it.
  page_allocator().free(memory);
}

TEST(PageAllocatorTest, MoreThanThereIsIsNull) { EXPECT_EQ(allocate(SIZE_MAX - 64), nullptr); }

}  // namespace
}  // namespace baton::hal
