// Memory is aligned as asked and zero where promised; an app's allocator is told exactly what is wanted.
#include "base/allocator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace baton {
namespace {

constexpr size_t kAlignments[] = {1, 8, 16, 64, 4096};
constexpr size_t kSizes[] = {1, 17, 64, 100'000};

bool all_zero(const void* memory, size_t size) {
  const auto* bytes = static_cast<const unsigned char*>(memory);
  return std::all_of(bytes, bytes + size, [](unsigned char byte) { return byte == 0; });
}

TEST(SystemAllocator, AlignsAsAsked) {
  for (const size_t alignment : kAlignments) {
    for (const size_t size : kSizes) {
      void* memory = system_allocator().allocate(size, alignment);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % alignment, 0u) << size << " bytes on " << alignment;
      std::memset(memory, 0xa5, size);  // all of it is ours
      system_allocator().free(memory);
    }
  }
}

// Memory that was used before is what malloc hands out first.
TEST(SystemAllocator, ZeroesUsedMemoryToo) {
  for (const size_t alignment : kAlignments) {
    for (const size_t size : kSizes) {
      void* used = system_allocator().allocate(size, alignment);
      std::memset(used, 0xa5, size);
      system_allocator().free(used);
      void* memory = system_allocator().allocate_zeroed(size, alignment);
      EXPECT_TRUE(all_zero(memory, size)) << size << " bytes on " << alignment;
      EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % alignment, 0u);
      system_allocator().free(memory);
    }
  }
}

TEST(SystemAllocator, GivesAnAddressForNoBytes) {
  void* first = system_allocator().allocate(0);
  void* second = system_allocator().allocate_zeroed(0);
  EXPECT_NE(first, nullptr);
  EXPECT_NE(first, second);
  system_allocator().free(first);
  system_allocator().free(second);
}

// An app's allocator that remembers what it was asked and hands out `memory`.
struct Asked {
  size_t size = 0, alignment = 0;
  int zeroed = -1;
  int frees = 0;
  void* memory = nullptr;

  static void* allocate(void* self, size_t size, size_t alignment, int zeroed) {
    Asked& asked = *static_cast<Asked*>(self);
    asked.size = size;
    asked.alignment = alignment;
    asked.zeroed = zeroed;
    return asked.memory;
  }
  static void free(void* self, void*) { ++static_cast<Asked*>(self)->frees; }
  Allocator allocator() { return {this, allocate, free}; }
};

TEST(Allocator, PassesOnWhatIsWanted) {
  int storage = 0;
  Asked asked;
  asked.memory = &storage;
  EXPECT_EQ(asked.allocator().allocate(24, 64), &storage);
  EXPECT_EQ(asked.size, 24u);
  EXPECT_EQ(asked.alignment, 64u);
  EXPECT_EQ(asked.zeroed, 0);
  EXPECT_EQ(asked.allocator().allocate_zeroed(0), &storage);
  EXPECT_EQ(asked.size, 1u);
  EXPECT_EQ(asked.alignment, alignof(std::max_align_t));
  EXPECT_EQ(asked.zeroed, 1);
}

TEST(Allocator, FreesOnlyWhatIsThere) {
  Asked asked;
  int storage = 0;
  asked.allocator().free(nullptr);
  EXPECT_EQ(asked.frees, 0);
  asked.allocator().free(&storage);
  EXPECT_EQ(asked.frees, 1);
}

TEST(AllocatorDeathTest, StopsWhenThereIsNoMemory) {
  Asked asked;
  EXPECT_DEATH(asked.allocator().allocate(8), "out of host memory");
  EXPECT_DEATH(asked.allocator().allocate_zeroed(8), "out of host memory");
}

}  // namespace
}  // namespace baton
