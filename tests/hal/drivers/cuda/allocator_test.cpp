// Memory of one GPU used by another of the process: through a peer of its buffer, in the order that semaphores give. On
// two fake GPUs everywhere, on two real ones where there are two.
#include <chrono>
#include <thread>

#include "hal/drivers/common/host_allocator.hpp"
#include "hal/drivers/local/driver.hpp"
#include "hal/transfer.hpp"
#include "tests/hal/drivers/cuda/cuda_device.hpp"

namespace baton::hal::drivers::cuda {
namespace {

using testing_support::fake_cuda;

struct Pair {
  Ref<hal::Device> first;
  Ref<hal::Device> second;
};

Result<Pair> open_pair(Driver& driver, std::string_view mode) {
  const DeviceParameter parameters[] = {{"cuda_mode", mode}};
  Pair pair;
  BATON_TRY_ASSIGN(pair.first, driver.open("0", parameters));
  BATON_TRY_ASSIGN(pair.second, driver.open("1", parameters));
  return pair;
}

Pair open_fake_pair(std::string_view mode) {
  Options options{testing_support::make_fake_cuda()};
  fake_cuda().kernels = testing_support::fake_conformance_kernels();
  fake_cuda().device_count = 2;
  return open_pair(*make_driver(std::move(options)), mode).value();
}

// The first GPU scales, the second copies and scales what it sees of the first, in the first's memory; then the first
// again: three operations, submitted at once, in the order of one semaphore.
void pass_to_and_fro(
    const Pair& pair, std::string_view code, void (*submitted)() = [] {}) {
  const auto shared = buffer_of(*pair.first, {1, 2, 3, 4});
  const auto kept = buffer_of(*pair.second, {0, 0, 0, 0});
  const auto peer = pair.second->allocator().import_peer(*shared);
  ASSERT_OK(peer);
  const auto turn = pair.first->make_semaphore(0).value();
  const auto scale = [&](hal::Device& device, const Ref<hal::Buffer>& values, uint32_t factor) {
    auto commands = device.make_command_buffer({.name = "scale", .slot_count = 1}).value();
    const uint32_t constants[] = {4, factor};
    const Binding bindings[] = {values};
    const auto kernels = load_kernels(device, code);
    EXPECT_OK(commands->dispatch(
        {.executable = kernels.get(), .entry_point = 0, .constants = constants, .bindings = bindings}));
    return std::pair(std::move(commands), kernels);
  };
  auto [first, first_kernels] = scale(*pair.first, shared, 2);
  auto [second, second_kernels] = scale(*pair.second, *peer, 5);
  EXPECT_OK(second->barrier({}));
  EXPECT_OK(second->copy_buffer({.source = *peer, .target = kept}));
  auto [third, third_kernels] = scale(*pair.first, shared, 3);
  const Ref<hal::Recording> recordings[] = {first->finish().value(), second->finish().value(), third->finish().value()};
  // In graph mode each is a graph; run twice, the second time on instances that exist.
  for (uint64_t round = 0; round < 2; ++round) {
    for (uint64_t i = 0; i < 3; ++i) {
      hal::Device& device = i == 1 ? *pair.second : *pair.first;
      const SemaphorePoint wait(turn, 3 * round + i), signal(turn, 3 * round + i + 1);
      EXPECT_OK(device.queue().execute({{&wait, 1}, {&signal, 1}}, *recordings[i]));
    }
  }
  submitted();
  ASSERT_OK(turn->wait(6, 10'000'000'000));
  EXPECT_EQ(values_of(*kept), (std::vector<uint32_t>{300, 600, 900, 1200}));
  EXPECT_EQ(values_of(*shared), (std::vector<uint32_t>{900, 1800, 2700, 3600}));
  EXPECT_EQ(values_of(**peer), values_of(*shared));
}

TEST(PeerTest, OneDeviceUsesTheMemoryOfAnother) {
  for (const std::string_view mode : {"stream", "graph"}) {
    const Pair pair = open_fake_pair(mode);
    fake_cuda().events_pass = false;
    pass_to_and_fro(pair, kFakeCode, [] { fake_cuda().events_pass = true; });
    EXPECT_EQ(fake_cuda().count("cuCtxEnablePeerAccess 1 to 0"), 1u);
    EXPECT_EQ(fake_cuda().count("cuMemPoolSetAccess 0 to 1"), 1u);
    // The devices wait for each other, and the host for neither.
    EXPECT_EQ(fake_cuda().count("cuStreamWaitEvent"), 4u) << fake_cuda().log_text();
  }
}

TEST(PeerTest, RealOneDeviceUsesTheMemoryOfAnother) {
  for (const std::string_view mode : {"stream", "graph"}) {
    const auto pair = open_pair(*make_driver(), mode);
    if (!pair.has_value()) GTEST_SKIP() << "skipped: no two CUDA devices (" << pair.error().message() << ")";
    if (testing_support::conformance_ptx().empty()) GTEST_SKIP() << "skipped: built without nvcc";
    pass_to_and_fro(*pair, testing_support::conformance_ptx());
  }
}

TEST(PeerTest, WithoutPeerAccessBothAreNamed) {
  const Pair pair = open_fake_pair("stream");
  fake_cuda().peer_access = false;
  const auto buffer = buffer_of(*pair.first, {1, 2});
  EXPECT_FAILS(pair.second->allocator().import_peer(*buffer), StatusCode::kUnimplemented,
               "Device 'cuda://1' cannot use 8 bytes in the memory of CUDA device 0 (usage transfer_source|"
               "transfer_target|dispatch_read|dispatch_write|indirect_grid|mapping): CUDA device 1 has no peer access "
               "to it.");
  // Nor can it be named by itself.
  const auto target = buffer_of(*pair.second, {0, 0});
  EXPECT_FAILS(pair.second->queue().copy_buffer({}, {.source = buffer, .target = target}), StatusCode::kInvalidArgument,
               "Copy source is a buffer of another device, in the memory of CUDA device 0.");
  EXPECT_EQ(fake_cuda().count("cuMemPoolSetAccess"), 0u);
}

TEST(PeerTest, APeerKeepsItsBufferAndIsFreedWithIt) {
  for (const std::string_view mode : {"stream", "graph"}) {
    const Pair pair = open_fake_pair(mode);
    auto buffer = buffer_of(*pair.first, {1, 2, 3, 4});
    const auto part = buffer->subspan(4, 12).value();
    const auto peer = pair.second->allocator().import_peer(*part).value();
    const auto end = peer->subspan(8, 4).value();
    EXPECT_EQ(&end->owner(), buffer.get());
    EXPECT_EQ(end->owner_offset(), 12u);
    EXPECT_EQ(pair.first->allocator().import_peer(*end).value()->root_offset(), 12u);  // Home again.
    EXPECT_EQ(values_of(*end), std::vector<uint32_t>{4});

    const auto target = buffer_of(*pair.second, {0});
    auto commands = pair.second->make_command_buffer({.name = "take", .slot_count = 1}).value();
    EXPECT_OK(commands->copy_buffer({.source = Binding(Slot{0}, 0, 4), .target = target}));
    const auto recording = commands->finish().value();
    const BufferRange table[] = {end};
    EXPECT_OK(run(*pair.second, *recording, {table, {}}));
    EXPECT_EQ(values_of(*target), std::vector<uint32_t>{4});
    EXPECT_FAILS(pair.second->queue().free({}, *peer), StatusCode::kInvalidArgument,
                 "A peer cannot be freed; only the buffer of the other device, in the memory of CUDA device 0, that it "
                 "is a view of.");
    // The other device gives the memory back: the same table is refused from here on.
    EXPECT_OK(pair.first->queue().free({}, *buffer));
    EXPECT_TRUE(end->freed());
    EXPECT_FAILS(run(*pair.second, *recording, {table, {}}), StatusCode::kFailedPrecondition,
                 "Slot 0 is a buffer that was freed.");
  }
}

// A block that the other device still uses is not the next one: nobody stands behind that.
TEST(PeerTest, MemoryThatAnotherDeviceUsesIsNotGivenOut) {
  const Pair pair = open_fake_pair("stream");
  constexpr AllocationRequest kRequest{
      .length = 64, .memory = MemoryKind::kDeviceLocal, .usage = BufferUsage::kDispatch};
  const auto used = pair.first->allocator().allocate(kRequest).value();
  const CUdeviceptr address = static_cast<Buffer&>(*used).address();
  const auto turn = pair.second->make_semaphore(0).value();
  fake_cuda().events_pass = false;  // The second GPU is at work.
  auto commands = pair.second->make_command_buffer({.name = "work"}).value();
  EXPECT_OK(commands->fill_buffer({.target = buffer_of(*pair.second, {1}), .pattern = 2}));
  const auto work = commands->finish().value();
  const SemaphorePoint point(turn, 1);
  EXPECT_OK(pair.second->queue().execute({{}, {&point, 1}}, *work));
  EXPECT_OK(pair.first->queue().free({{&point, 1}, {}}, *used));
  EXPECT_NE(static_cast<Buffer&>(*pair.first->allocator().allocate(kRequest).value()).address(), address);
  fake_cuda().events_pass = true;
  EXPECT_OK(turn->wait(1, 10'000'000'000));
}

TEST(PeerTest, TheHostsMemoryIsUsedInPlace) {
  const auto device = open_fake("stream");
  HostAllocator host(system_allocator(), 1 << 20);
  const auto values = host.allocate({.length = 8}).value();
  std::memset(host_data(*values), 1, 8);
  auto peer = device->allocator().import_peer(*values).value();
  EXPECT_OK(device->queue().fill_buffer({}, {.target = BufferRange(peer.get(), 4, 4), .pattern = 7}));
  EXPECT_OK(device->queue().wait_idle());
  EXPECT_EQ(values_of(*values), (std::vector<uint32_t>{0x01010101, 7}));
  // Pinned once, for as long as anybody needs it.
  auto part = device->allocator().import_peer(*values->subspan(4, 4).value()).value();
  EXPECT_EQ(fake_cuda().count("cuMemHostRegister 8"), 1u);
  EXPECT_EQ(fake_cuda().count("cuMemHostRegister"), 1u);
  peer = nullptr;
  EXPECT_EQ(fake_cuda().count("cuMemHostUnregister"), 0u);
  part = nullptr;
  // The worker may hold what work used a little longer than somebody waits for the work.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (fake_cuda().count("cuMemHostUnregister") == 0 && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  EXPECT_EQ(fake_cuda().count("cuMemHostUnregister"), 1u);
  // And the other way round: pinned memory is the host's, memory of the GPU is not.
  const auto pinned = device->allocator().allocate({.length = 8, .memory = MemoryKind::kHostVisible}).value();
  EXPECT_EQ(host_data(*host.import_peer(*pinned).value()), static_cast<Buffer&>(*pinned).host());
  EXPECT_FAILS(host.import_peer(*buffer_of(*device, {1})), StatusCode::kUnimplemented,
               "cannot use 4 bytes in the memory of CUDA device 0");
}

// What another driver mapped, for one: the host moves the bytes then, both ways.
TEST(PeerTest, WhatTheDriverDoesNotPinIsMovedByTheHost) {
  const auto gpu = open_fake("stream");
  fake_cuda().pins = false;
  const auto cpu = local::make_driver({})->open("sync", {}).value();
  const auto there = buffer_of(*gpu, {0, 0}), here = cpu->allocator().allocate({.length = 8}).value();
  std::memset(host_data(*here), 1, 8);
  const auto turn = gpu->make_semaphore(0).value();
  const SemaphorePoint arrived(turn, 1), home(turn, 2);
  EXPECT_OK(transfer({{}, {&arrived, 1}}, {*cpu, here, *gpu, there}));
  EXPECT_OK(turn->wait(1, 10'000'000'000));
  EXPECT_EQ(values_of(*there), (std::vector<uint32_t>{0x01010101, 0x01010101}));
  EXPECT_OK(gpu->queue().fill_buffer({}, {.target = there, .pattern = 7}));
  EXPECT_OK(gpu->queue().wait_idle());
  EXPECT_OK(transfer({{}, {&home, 1}}, {*gpu, there, *cpu, here}));
  EXPECT_OK(turn->wait(2, 10'000'000'000));
  EXPECT_EQ(values_of(*here), (std::vector<uint32_t>{7, 7}));
}

}  // namespace
}  // namespace baton::hal::drivers::cuda
