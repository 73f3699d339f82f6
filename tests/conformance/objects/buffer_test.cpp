// Buffers, views and imports: ranges are kept, memory comes and goes as promised.
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "hal/buffer_view.hpp"
#include "hal/drivers/common/host_allocator.hpp"
#include "hal/memory_owner.hpp"
#include "tests/conformance/suite.hpp"

namespace baton::hal::conformance {
namespace {

class BufferTest : public DeviceTest {};

TEST_P(BufferTest, MapsItsRange) {
  const auto whole = buffer_of<uint32_t>({1, 2, 3, 4});
  auto mapping = whole->map(Access::kRead, 4, 8);
  ASSERT_OK(mapping);
  EXPECT_EQ(mapping->as<uint32_t>()[1], 3u);
  EXPECT_FAILS(whole->map(Access::kRead, 8, 16), StatusCode::kOutOfRange,
               "Mapping [8, 24) ends beyond the buffer length (16).");
  EXPECT_FAILS(whole->map(Access::kRead, 17), StatusCode::kOutOfRange, "Mapping [17, 17)");
  EXPECT_FAILS(buffer(16, BufferUsage::kDispatch)->map(Access::kRead), StatusCode::kPermissionDenied,
               "Mapping needs usage mapping");
  // No bytes are everywhere.
  for (const MemoryKind memory : {MemoryKind::kDeviceLocal, MemoryKind::kDeviceLocal | MemoryKind::kHostVisible}) {
    const auto empty = device().allocator().allocate({.length = 0, .memory = memory, .usage = BufferUsage::kDispatch});
    ASSERT_OK(empty);
    auto nothing = (*empty)->map(Access::kReadWrite);
    ASSERT_OK(nothing);
    EXPECT_TRUE(nothing->as<std::byte>().empty());
  }
  auto end = buffer(16, BufferUsage::kDispatch)->map(Access::kRead, 16);
  ASSERT_OK(end);
  EXPECT_TRUE(end->as<std::byte>().empty());
}

TEST_P(BufferTest, SubspansShareMemoryAndKeepItAlive) {
  auto whole = buffer_of<uint32_t>({1, 2, 3, 4});
  const auto part = whole->subspan(4, 12).value();
  const auto part_of_part = part->subspan(4, 4).value();
  EXPECT_EQ(&part_of_part->root(), whole.get());
  EXPECT_EQ(part_of_part->root_offset(), 8u);
  EXPECT_FAILS(part->subspan(8, 8), StatusCode::kOutOfRange, "Subspan [8, 16) ends beyond the buffer length (12).");
  whole = nullptr;
  EXPECT_EQ(part_of_part->map(Access::kRead)->as<uint32_t>()[0], 3u);
}

TEST_P(BufferTest, TooMuchIsASentence) {
  EXPECT_FAILS(device().allocator().allocate({.length = ~uint64_t{0}}), StatusCode::kResourceExhausted,
               "A buffer of 18446744073709551615 bytes exceeds the limit of the device");
  EXPECT_FAILS(device().allocator().allocate({.length = 4, .memory = MemoryKind::kDeviceLocal}),
               StatusCode::kInvalidArgument, "Usage mapping needs memory host_visible; the request says device_local.");
}

TEST_P(BufferTest, ImportsHostMemory) {
  std::atomic<int> released = 0;
  std::vector<uint32_t> memory = {1, 2, 3};
  {
    const ImportRelease release{[](void* count) { ++*static_cast<std::atomic<int>*>(count); }, &released};
    const auto imported =
        device().allocator().import_host(std::as_writable_bytes(std::span(memory)), BufferUsage::kAll, release).value();
    const auto part = imported->subspan(4, 4).value();
    EXPECT_OK(queue().fill_buffer({}, {.target = part, .pattern = 9}));
    EXPECT_OK(queue().wait_idle());
    if (computes()) {
      EXPECT_EQ(memory, (std::vector<uint32_t>{1, 9, 3}));
    }
    EXPECT_EQ(released, 0);
  }
  // A device may hold what its work used for a little longer than somebody waits for the work.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (released == 0 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  EXPECT_EQ(released, 1);
  EXPECT_FAILS(device().allocator().import_host({static_cast<std::byte*>(nullptr), 4}, BufferUsage::kAll),
               StatusCode::kInvalidArgument, "Imported memory of 4 bytes is at a null pointer.");
}

// What a program can read was written by it, by who called it, or is zero: also where another's buffer was before.
TEST_P(BufferTest, MemoryIsGivenOutZero) {
  if (!computes()) GTEST_SKIP() << "the device computes nothing";
  for (uint64_t length : {1u, 63u, 64u, 4096u, 65536u, 1u << 20, 40u << 20}) {
    for (int round = 0; round < 3; ++round) {
      Ref<Buffer> made;
      if (round == 1) {
        made = queue().allocate({}, {.length = length}).value();
        ASSERT_OK(queue().wait_idle());
      } else {
        made = device().allocator().allocate({.length = length}).value();
      }
      const auto mapping = made->map(Access::kReadWrite);
      ASSERT_OK(mapping);
      const std::span<std::byte> bytes = mapping->bytes();
      if (device().allocator().uses_host_memory()) {
        EXPECT_EQ(reinterpret_cast<uintptr_t>(bytes.data()) % 64, 0u);
      }
      const auto is_zero = [](std::byte byte) { return byte == std::byte{0}; };
      EXPECT_TRUE(std::all_of(bytes.begin(), bytes.end(), is_zero)) << length << " bytes, round " << round;
      std::fill(bytes.begin(), bytes.end(), std::byte{0xa5});
    }
  }
  EXPECT_FAILS(device().allocator().allocate({.length = ~uint64_t{0} - 5}), StatusCode::kResourceExhausted, "");
}

// A block that goes from one owner to another says nothing of the first, whatever its kind and whoever freed it: also
// where the second asks for less than the first had, and then for more.
TEST_P(BufferTest, AnotherOwnerReadsZeros) {
  if (!computes()) GTEST_SKIP() << "the device computes nothing";
  constexpr MemoryKind kKinds[] = {MemoryKind::kDeviceLocal | MemoryKind::kHostVisible, MemoryKind::kHostVisible};
  uint64_t owner = 100;
  const auto secrets = [&](Buffer& buffer) {
    const auto mapping = buffer.map(Access::kRead);
    return std::count_if(mapping->bytes().begin(), mapping->bytes().end(),
                         [](std::byte b) { return b != std::byte{0}; });
  };
  const auto write_secret = [&](const AllocationRequest& request, bool frees) {
    const MemoryOwner first(++owner);
    const auto buffer = queue().allocate({}, request).value();
    ASSERT_OK(queue().fill_buffer({}, {.target = buffer, .pattern = 0xa5, .pattern_bytes = 1}));
    ASSERT_OK(queue().wait_idle());
    if (frees) {
      ASSERT_OK(queue().free({}, *buffer));
    }
  };
  for (const MemoryKind memory : kKinds) {
    for (const uint64_t length : {uint64_t{64}, uint64_t{4000}, uint64_t{600'000}, uint64_t{5'000'000}}) {
      for (const bool frees : {false, true}) {
        write_secret({.length = length, .memory = memory}, frees);
        const MemoryOwner second(++owner);
        {
          const auto less = queue().allocate({}, {.length = length - length / 16, .memory = memory}).value();
          EXPECT_EQ(secrets(*less), 0) << length;
        }
        const auto more = queue().allocate({}, {.length = length, .memory = memory}).value();
        EXPECT_EQ(secrets(*more), 0) << length;
        write_secret({.length = length, .memory = memory}, frees);
        const MemoryOwner nobody(MemoryOwner::kNobody);
        EXPECT_EQ(secrets(*queue().allocate({}, {.length = length, .memory = memory}).value()), 0) << length;
      }
    }
  }
}

// What a mapping shows that discards what was there, and what it leaves there where nothing is written, is nobody's.
TEST_P(BufferTest, ADiscardingMappingShowsNothingOfOthers) {
  if (!computes()) GTEST_SKIP() << "the device computes nothing";
  const auto is_secret = [](std::byte byte) { return byte == std::byte{0xa5}; };
  {
    const MemoryOwner first(1001);
    const auto buffer = queue().allocate({}, {.length = 4096}).value();
    const auto mapping = buffer->map(Access::kDiscardWrite);
    std::fill(mapping->bytes().begin(), mapping->bytes().end(), std::byte{0xa5});
  }
  const MemoryOwner second(1002);
  const auto buffer = queue().allocate({}, {.length = 4096}).value();
  {
    const auto mapping = buffer->map(Access::kDiscardWrite);
    EXPECT_TRUE(std::none_of(mapping->bytes().begin(), mapping->bytes().end(), is_secret));
    mapping->bytes()[0] = std::byte{1};
  }
  const auto mapping = buffer->map(Access::kRead);
  EXPECT_TRUE(std::none_of(mapping->bytes().begin(), mapping->bytes().end(), is_secret));
  EXPECT_EQ(mapping->bytes()[0], std::byte{1});
}

TEST_P(BufferTest, AMappingMayDiscardWhatWasThere) {
  const auto whole = buffer_of<uint32_t>({1, 2, 3, 4});
  {
    const auto mapping = whole->map(Access::kDiscardWrite, 4, 8);
    ASSERT_OK(mapping);
    mapping->as<uint32_t>()[0] = 5;
    mapping->as<uint32_t>()[1] = 6;
  }
  const auto mapping = whole->map(Access::kRead);
  EXPECT_THAT(mapping->as<uint32_t>(), testing::ElementsAre(1, 5, 6, 4));
}

// What a buffer of the host's is a buffer of, too, on a device that can reach it.
TEST_P(BufferTest, APeerIsTheMemoryOfAnotherDevice) {
  HostAllocator other(system_allocator(), 1 << 20);
  auto values = other.allocate({.length = 16}).value();
  const auto bytes = std::as_writable_bytes(std::span(host_data(*values), 16));
  std::fill(bytes.begin(), bytes.end(), std::byte{1});
  const auto target = buffer(4);
  EXPECT_FAILS(queue().copy_buffer({}, {.source = BufferRange(values.get(), 8, 4), .target = target}),
               StatusCode::kInvalidArgument, "is a buffer of another device, in the memory of the host.");
  const auto part = values->subspan(4, 12).value();
  const auto peer = device().allocator().import_peer(*part).value();
  EXPECT_EQ(peer->allocator(), &device().allocator());
  EXPECT_EQ(&peer->owner(), values.get());
  EXPECT_EQ(peer->owner_offset(), 4u);
  EXPECT_EQ(device().allocator().import_peer(*peer).value().get(), peer.get());
  const auto middle = peer->subspan(4, 4).value();
  EXPECT_OK(queue().fill_buffer({}, {.target = middle, .pattern = 9}));
  EXPECT_OK(queue().wait_idle());
  if (computes()) {
    const auto mapping = values->map(Access::kRead);
    EXPECT_THAT(mapping->as<uint32_t>(), testing::ElementsAre(0x01010101, 0x01010101, 9, 0x01010101));
  }
  // One memory, whatever it is called.
  const auto again = device().allocator().import_peer(*values).value();
  EXPECT_FAILS(queue().copy_buffer({}, {.source = BufferRange(again.get(), 8, 4), .target = middle}),
               StatusCode::kInvalidArgument, "overlap in the same memory");
  values->mark_freed();
  EXPECT_TRUE(middle->freed());
  EXPECT_FAILS(device().allocator().import_peer(*part), StatusCode::kFailedPrecondition, "a buffer that was freed");
}

TEST_P(BufferTest, ViewsKnowTheirShape) {
  const int64_t shape[] = {2, 3};
  const auto view = BufferView::make(buffer(24), shape, ElementType::kF32).value();
  EXPECT_EQ(view->type_text(), "2x3xf32");
  EXPECT_EQ(view->element_count(), 6u);
  EXPECT_EQ(BufferView::make(buffer(4), {}, ElementType::kI32).value()->type_text(), "i32");
  EXPECT_FAILS(BufferView::make(buffer(20), shape, ElementType::kF32), StatusCode::kOutOfRange,
               "A view of 2x3xf32 needs 24 bytes; the buffer has 20.");
  const int64_t negative[] = {2, -1}, huge[] = {int64_t{1} << 40, int64_t{1} << 40};
  EXPECT_FAILS(BufferView::make(buffer(4), negative, ElementType::kI8), StatusCode::kInvalidArgument, "Shape 2x-1xi8");
  EXPECT_FAILS(BufferView::make(buffer(4), huge, ElementType::kI8), StatusCode::kInvalidArgument, "more elements than");
}

BATON_CONFORMANCE(BufferTest);

}  // namespace
}  // namespace baton::hal::conformance
