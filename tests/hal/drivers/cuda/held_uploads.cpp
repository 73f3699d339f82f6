// Uploads on the fake GPU: nobody waits for a device that is at work, nor for its memory.
#include "hal/uploads.hpp"
#include "tests/hal/drivers/cuda/cuda_device.hpp"

namespace baton::hal::drivers::cuda {
namespace {

using testing_support::fake_cuda;

constexpr AllocationRequest kSeen{.length = 4, .memory = MemoryKind::kHostVisible};

// Behind `ready`, into memory that the host reads; `done` rises to 1.
void read_behind(hal::Device& device, hal::Buffer& source, const Fence& ready, hal::Buffer& seen,
                 hal::Semaphore& done) {
  const SemaphorePoint point(done, 1);
  EXPECT_OK(device.queue().copy_buffer({ready.points(), {&point, 1}}, {.source = source, .target = seen}));
}

TEST(UploadsTest, AreBegunBehindWorkThatIsInFlight) {
  for (const std::string_view mode : {"stream", "graph", "auto"}) {
    const auto device = open_fake(mode);
    uint32_t number = 0;
    const auto give = [&](hal::Uploads& uploads) {
      const auto made = uploads.add(std::as_bytes(std::span(&number, 1))).value();
      number = ~number;  // The host goes on with its memory.
      return made;
    };
    Uploads first(*device, 1);
    const auto warm = give(first);  // The driver is asked for memory, which is there from here on.
    EXPECT_OK(first.finish());
    fake_cuda().events_pass = false;  // What comes now is never through.
    number = 7;
    Uploads uploads(*device, 1);
    const auto made = give(uploads);
    const auto ready = uploads.begin().value();
    EXPECT_FAILS(ready->query(), StatusCode::kDeadlineExceeded, "");
    const auto seen = device->allocator().allocate(kSeen).value();
    const auto done = device->make_semaphore(0).value();
    read_behind(*device, *made, *ready, *seen, *done);
    EXPECT_FALSE(done->reached(1));
    fake_cuda().events_pass = true;
    EXPECT_OK(done->wait(1, 10'000'000'000));
    EXPECT_EQ(values_of(*seen), std::vector<uint32_t>{7}) << mode;
  }
}

// A program's calls come one behind the other: their memory comes round, uncleared, and nothing is waited for.
TEST(UploadsTest, MemoryOfOneOwnerComesRoundWithoutAWait) {
  const auto device = open_fake("stream");
  const uint64_t owner = MemoryOwner::make();
  const auto call = [&](uint32_t number) {
    Uploads uploads(*device, owner);
    const auto made = uploads.add(std::as_bytes(std::span(&number, 1))).value();
    const auto ready = uploads.begin().value();
    const auto seen = device->allocator().allocate(kSeen).value();
    const auto done = device->make_semaphore(0).value();
    read_behind(*device, *made, *ready, *seen, *done);
    EXPECT_OK(done->wait(1, 10'000'000'000));
    EXPECT_EQ(values_of(*seen), std::vector<uint32_t>{number});
  };
  for (uint32_t i = 0; i < 4; ++i) call(i);
  fake_cuda().log.clear();
  for (uint32_t i = 0; i < 20; ++i) call(100 + i);
  for (const char* slow : {"cuMemAlloc", "cuMemHostAlloc", "cuMemsetD8", "cuStreamSynchronize"}) {
    EXPECT_EQ(fake_cuda().count(slow), 0u) << slow << "\n" << fake_cuda().log_text();
  }
  EXPECT_EQ(fake_cuda().count("cuMemcpyAsync"), 40u);
}

// Another owner's memory is cleared before it is given: what a tensor does not fill says nothing of others.
TEST(UploadsTest, AnotherOwnersBlockIsCleared) {
  const auto device = open_fake("stream");
  const std::vector<uint32_t> secret(128, 0xa5a5a5a5);
  const auto upload = [&](uint64_t owner, size_t count) {
    Uploads uploads(*device, owner);
    const auto made = uploads.add(std::as_bytes(std::span(secret)).first(count)).value();
    EXPECT_OK(uploads.finish());
    EXPECT_OK(device->queue().wait_idle());
    return static_cast<Buffer&>(*made).address();
  };
  const CUdeviceptr first = upload(MemoryOwner::make(), 512);
  const CUdeviceptr second = upload(MemoryOwner::make(), 4);
  ASSERT_EQ(first, second);  // The fake's device memory is the host's.
  const auto* words = reinterpret_cast<const uint32_t*>(second);
  EXPECT_EQ(words[0], 0xa5a5a5a5);
  for (size_t i = 1; i < secret.size(); ++i) EXPECT_EQ(words[i], 0u) << i;
}

}  // namespace
}  // namespace baton::hal::drivers::cuda
