// Memory on the fake GPU: blocks come round, too much is a sentence with numbers, and what is cached is given back
// first.
#include "hal/drivers/cuda/memory.hpp"

#include "tests/hal/drivers/cuda/cuda_device.hpp"

namespace baton::hal::drivers::cuda {
namespace {

using testing_support::fail_next;
using testing_support::fake_cuda;

constexpr AllocationRequest kPage{.length = 5000, .memory = MemoryKind::kDeviceLocal, .usage = BufferUsage::kDispatch};

TEST(MemoryTest, SizeClassesWasteAnEighthAtMost) {
  for (uint64_t length = 1; length < (uint64_t{1} << 36); length += length / 7 + 1) {
    const uint64_t bytes = BlockCache::class_bytes(length);
    EXPECT_GE(bytes, length);
    if (length > 512) {
      EXPECT_LE(bytes, length + length / 8 + (uint64_t{2} << 20) * (length >= (uint64_t{64} << 20)));
    }
    EXPECT_EQ(BlockCache::class_bytes(bytes), bytes);
  }
}

TEST(MemoryTest, AFreedBlockIsTheNextOne) {
  const auto device = open_fake("stream");
  CUdeviceptr first = 0;
  for (int i = 0; i < 10; ++i) {
    const auto buffer = device->queue().allocate({}, kPage).value();
    const CUdeviceptr address = static_cast<Buffer&>(*buffer).address();
    if (i == 0) first = address;
    EXPECT_EQ(address, first);
    EXPECT_OK(device->queue().free({}, *buffer));
  }
  EXPECT_EQ(fake_cuda().count("cuMemAllocFromPoolAsync"), 1u);
  EXPECT_EQ(device->allocator().memory_use().live_bytes, 0u);
  EXPECT_EQ(device->allocator().memory_use().peak_bytes, 5000u);
}

TEST(MemoryTest, WhatIsCachedIsGivenBackBeforeNoIsSaid) {
  const auto device = open_fake("stream");
  EXPECT_OK(device->allocator().allocate(kPage));
  fail_next("cuMemAllocFromPoolAsync", CUDA_ERROR_OUT_OF_MEMORY);
  AllocationRequest large = kPage;
  large.length = 1 << 20;
  EXPECT_OK(device->allocator().allocate(large));
  EXPECT_GE(fake_cuda().count("cuMemFreeAsync"), 1u);
  EXPECT_GE(fake_cuda().count("cuMemPoolTrimTo"), 1u);
  large.length = uint64_t{2} << 30;
  EXPECT_FAILS(
      device->allocator().allocate(large), StatusCode::kResourceExhausted,
      "No device memory for a buffer of 2147483648 bytes: 1073741824 of the device's 1073741824 are free, 0 are "
      "in buffers.");
}

TEST(MemoryTest, AMappingThatDiscardsFetchesNothing) {
  const auto device = open_fake("stream");
  const auto buffer = device->allocator().allocate({.length = 64}).value();
  { const auto mapping = buffer->map(Access::kDiscardWrite); }
  EXPECT_EQ(fake_cuda().count("cuMemcpyAsync"), 1u);  // It is put back.
  { const auto mapping = buffer->map(Access::kWrite); }
  EXPECT_EQ(fake_cuda().count("cuMemcpyAsync"), 3u);
}

TEST(MemoryTest, ImportsDevicePointers) {
  const auto device = open_fake("stream");
  const auto owner = device->allocator().allocate(kPage).value();
  auto& allocator = static_cast<Allocator&>(device->allocator());
  int released = 0;
  {
    const ImportRelease release{[](void* count) { ++*static_cast<int*>(count); }, &released};
    const auto imported =
        allocator.import_device(static_cast<Buffer&>(*owner).address(), 64, BufferUsage::kTransfer, release).value();
    EXPECT_OK(device->queue().fill_buffer({}, {.target = imported, .pattern = 9}));
    EXPECT_OK(device->queue().wait_idle());
    EXPECT_EQ(released, 0);
  }
  EXPECT_EQ(released, 1);
  EXPECT_FAILS(allocator.import_device(64, 64, BufferUsage::kTransfer), StatusCode::kInvalidArgument,
               "Imported memory at 0x40 is no memory of a CUDA device.");
}

}  // namespace
}  // namespace baton::hal::drivers::cuda
