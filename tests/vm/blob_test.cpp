// Blobs own zeroed, aligned bytes, or borrow and give back.
#include "vm/blob.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "tests/support/native_test_module.hpp"
#include "tests/support/program_builder.hpp"

namespace baton::vm {
namespace {

TEST(Blob, IsZeroedAlignedAndWritable) {
  for (uint64_t size : {0u, 1u, 63u, 64u, 4096u, 1u << 20}) {
    const Ref<Blob> blob = Blob::make(size);
    ASSERT_TRUE(blob);
    EXPECT_EQ(blob->size, size);
    EXPECT_TRUE(blob->writable);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(blob->data) % 64, 0u);
    EXPECT_TRUE(std::ranges::all_of(blob->bytes(), [](std::byte byte) { return byte == std::byte{0}; }));
  }
}

TEST(Blob, IsNullWhenTheSizeCannotBeHad) {
  EXPECT_FALSE(Blob::make(std::numeric_limits<uint64_t>::max()));
  EXPECT_FALSE(Blob::make(std::numeric_limits<int64_t>::max()));
  EXPECT_FALSE(Blob::make(uint64_t{1} << 60));
}

TEST(Blob, GivesWrappedMemoryBackWithTheLastReference) {
  int releases = 0;
  std::byte memory[8]{};
  Ref<Blob> blob = Blob::wrap(
      memory, sizeof(memory), false, [](void* counter) { ++*static_cast<int*>(counter); }, &releases);
  EXPECT_EQ(blob->data, memory);
  EXPECT_FALSE(blob->writable);
  Ref<Blob> other = blob;
  blob = nullptr;
  EXPECT_EQ(releases, 0);
  other = nullptr;
  EXPECT_EQ(releases, 1);
}

TEST(Blob, WrapsMemoryThatNobodyReleases) {
  std::byte memory[1]{};
  EXPECT_TRUE(Blob::wrap(memory, 1, true, nullptr, nullptr)->writable);
}

TEST(Blob, IsToldFromOtherObjects) {
  const Ref<Blob> blob = Blob::make(1);
  const Ref<testing::Counted> other = make_ref<testing::Counted>();
  EXPECT_EQ(as_blob(blob.get()), blob.get());
  EXPECT_EQ(as_blob(other.get()), nullptr);
  EXPECT_EQ(as_blob(nullptr), nullptr);
}

// A host bounds what programs take by the allocator that it gives the context.
TEST(Blob, OfAProgramComesFromTheAllocatorOfItsContext) {
  struct Bounded {
    size_t limit;
    int living = 0;
  } bounded{1 << 20};
  const Allocator allocator{.self = &bounded,
                            .allocate_bytes = [](void* self, size_t size, size_t alignment, int zeroed) -> void* {
                              auto& bound = *static_cast<Bounded*>(self);
                              if (size > bound.limit) return nullptr;
                              ++bound.living;
                              return system_allocator().allocate_bytes(nullptr, size, alignment, zeroed);
                            },
                            .free_bytes =
                                [](void* self, void* memory) {
                                  --static_cast<Bounded*>(self)->living;
                                  system_allocator().free_bytes(nullptr, memory);
                                }};
  const Ref<Context> context = testing::make_context({testing::load_text(R"(
export func @make(%size: i64) -> blob {
  blob.alloc %r0, %size
  return
}
export func @grow() {
  const.i64 %v0, 4
  list.alloc %r0, %v0
again:
  list.push.i64 %r0, %v0
  br again
})")},
                                                     allocator);
  const int before = bounded.living;
  Ref<Object> blob =
      Ref<Object>::adopt(testing::expect_ok(testing::call(context, "make", {Value::of(int64_t{64})}))[0].ref);
  EXPECT_EQ(bounded.living, before + 1);
  blob = nullptr;
  EXPECT_EQ(bounded.living, before);
  EXPECT_EQ(testing::call_fails(context, "make", {Value::of(int64_t{1} << 21)}).code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(testing::call_fails(context, "grow").code(), StatusCode::kResourceExhausted) << "list.push must not abort";
  EXPECT_EQ(bounded.living, before);
}

}  // namespace
}  // namespace baton::vm
