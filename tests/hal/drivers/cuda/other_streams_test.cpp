// Tensors of GPUs come and go without a copy, and in order with the stream of the framework that they are of: on the
// fake GPU everywhere, with memory of cuMemAlloc on a real one.
#include <dlfcn.h>

#include <chrono>
#include <thread>

#include "hal/dlpack.hpp"
#include "tests/hal/drivers/cuda/cuda_device.hpp"

namespace baton::hal::drivers::cuda {
namespace {

using testing_support::fake_cuda;

// A framework's tensor of four numbers in the memory of a GPU; counts how often it is destroyed.
struct Foreign {
  explicit Foreign(const void* data, baton_dl_device place = {BATON_DL_CUDA, 0}) {
    tensor.version = {1, 0};
    tensor.manager = this;
    tensor.destroy = [](baton_dl_managed_tensor* self) { ++static_cast<Foreign*>(self->manager)->destroyed; };
    tensor.tensor = {const_cast<void*>(data), place, 1, {BATON_DL_UINT, 32, 1}, &extent, &stride, 8};
  }
  int64_t extent = 4;
  int64_t stride = 1;
  std::atomic<int> destroyed{0};
  baton_dl_managed_tensor tensor{};
};

// A worker may hold what work used a little longer than somebody waits for the work.
bool comes_true(const auto& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!condition() && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  return condition();
}

Ref<hal::Recording> fill_of(hal::Device& device, hal::Buffer& target, uint32_t value) {
  auto commands = device.make_command_buffer({.name = "fill"}).value();
  EXPECT_OK(commands->fill_buffer({.target = target, .pattern = value}));
  return commands->finish().value();
}

TEST(OtherStreamsTest, ATensorComesInInPlace) {
  const auto device = open_fake("stream");
  alignas(512) uint32_t memory[6] = {1, 2, 3, 4, 5, 6};
  Foreign foreign(memory);
  {
    const auto view = import_dlpack(*device, &foreign.tensor, 7);
    ASSERT_OK(view);
    EXPECT_EQ((*view)->type_text(), "4xui32");
    EXPECT_EQ(static_cast<Buffer&>(*(*view)->buffer()).address(), reinterpret_cast<CUdeviceptr>(memory + 2));
    EXPECT_EQ(values_of(*(*view)->buffer()), (std::vector<uint32_t>{3, 4, 5, 6}));
    EXPECT_OK(run(*device, *fill_of(*device, *(*view)->buffer(), 9)));
    EXPECT_EQ(foreign.destroyed, 0);
  }
  EXPECT_TRUE(comes_true([&] { return foreign.destroyed == 1; }));
  EXPECT_EQ(memory[1], 2u);
  EXPECT_EQ(memory[2], 9u);
}

TEST(OtherStreamsTest, ATensorIsDestroyedWhenTheDeviceIsThrough) {
  const auto device = open_fake("stream");
  alignas(512) uint32_t memory[6] = {};
  Foreign foreign(memory);
  fake_cuda().events_pass = false;
  {
    const auto view = import_dlpack(*device, &foreign.tensor).value();
    EXPECT_OK(device->queue().execute({}, *fill_of(*device, *view->buffer(), 9)));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(foreign.destroyed, 0);
  fake_cuda().events_pass = true;
  EXPECT_TRUE(comes_true([&] { return foreign.destroyed == 1; }));
}

TEST(OtherStreamsTest, WhatTheDeviceCannotReachStaysTheCallers) {
  Options options{testing_support::make_fake_cuda()};
  fake_cuda().device_count = 2;
  const auto driver = make_driver(std::move(options));
  const auto first = driver->open("0", {}).value(), second = driver->open("1", {}).value();
  const auto refused = [&](hal::Device& device, const void* data, baton_dl_device place, StatusCode code,
                           std::string_view sentence) {
    Foreign foreign(data, place);
    EXPECT_FAILS(import_dlpack(device, &foreign.tensor), code, sentence);
    EXPECT_EQ(foreign.destroyed, 0);
  };
  const auto owner = second->allocator().allocate({.length = 64}).value();
  const auto* theirs = reinterpret_cast<const void*>(static_cast<Buffer&>(*owner).address());
  refused(*first, theirs, {BATON_DL_CUDA, 1}, StatusCode::kUnimplemented,
          "Device 'cuda://0' cannot use 16 bytes in the memory of CUDA device 1");
  refused(*first, theirs, {BATON_DL_CUDA, 0}, StatusCode::kInvalidArgument,
          "belongs to CUDA device 1; the buffer is wanted on device 0.");
  refused(*first, theirs, {BATON_DL_CUDA_MANAGED, 0}, StatusCode::kInvalidArgument, "is not managed.");
  refused(*first, reinterpret_cast<const void*>(64), {BATON_DL_CUDA, 0}, StatusCode::kInvalidArgument,
          "Imported memory at 0x48 is no memory of a CUDA device.");
  refused(*first, theirs, {BATON_DL_CPU, 0}, StatusCode::kUnimplemented,
          "lies on device type 1, whose memory device 'cuda://0' does not use");
}

TEST(OtherStreamsTest, PinnedAndManagedMemoryComesIn) {
  const auto device = open_fake("stream");
  alignas(512) uint32_t memory[6] = {1, 2, 3, 4, 5, 6};
  fake_cuda().managed_address = reinterpret_cast<CUdeviceptr>(memory + 2);
  for (const int32_t type : {BATON_DL_CUDA_HOST, BATON_DL_CUDA_MANAGED}) {
    Foreign foreign(memory, {type, 0});
    const auto view = import_dlpack(*device, &foreign.tensor);
    ASSERT_OK(view);
    EXPECT_EQ(values_of(*(*view)->buffer()), (std::vector<uint32_t>{3, 4, 5, 6}));
  }
  EXPECT_EQ(fake_cuda().count("cuMemHostRegister"), 0u);
}

TEST(OtherStreamsTest, TheDeviceWaitsForTheProducer) {
  const DeviceParameter parameters[] = {{"cuda_mode", "stream"}, {"cuda_streams", "3"}};
  const auto device = make_driver({testing_support::make_fake_cuda()})->open("", parameters).value();
  alignas(512) uint32_t memory[6] = {};
  Foreign foreign(memory);
  EXPECT_OK(import_dlpack(*device, &foreign.tensor, 1));
  EXPECT_EQ(fake_cuda().count("cuEventRecord on stream 1"), 1u);
  EXPECT_EQ(fake_cuda().count("cuStreamWaitEvent"), 4u);  // Three streams, and mappings.
}

TEST(OtherStreamsTest, TheConsumerWaitsForTheDevice) {
  const auto device = open_fake("stream");
  const int64_t shape[] = {2};
  auto view = BufferView::make(buffer_of(*device, {1, 2}), shape, ElementType::kI32).value();
  const auto address = static_cast<Buffer&>(*view->buffer()).address();
  fake_cuda().events_pass = false;  // The device is at work.
  const auto done = device->make_semaphore(0).value();
  const SemaphorePoint point(done, 1);
  EXPECT_FAILS(export_dlpack(*device, view, {.stream = 2, .ready = {&point, 1}}), StatusCode::kFailedPrecondition,
               "is to wait for 1 of a semaphore; nobody has promised it on a CUDA device yet.");
  EXPECT_FAILS(export_dlpack(*device, view, {.ready = {&point, 1}}), StatusCode::kFailedPrecondition,
               "A tensor that goes out without a stream is not ready: its semaphore has not reached 1.");
  EXPECT_OK(device->queue().execute({{}, {&point, 1}}, *fill_of(*device, *view->buffer(), 9)));
  const auto by_fence = export_dlpack(*device, view, {.stream = 2, .ready = {&point, 1}}).value();
  EXPECT_EQ(fake_cuda().count("cuStreamWaitEvent on stream 2"), 1u);
  EXPECT_OK(device->queue().execute({}, *fill_of(*device, *view->buffer(), 8)));
  const auto by_queue = export_legacy_dlpack(*device, view, {.stream = 5}).value();
  EXPECT_EQ(fake_cuda().count("cuStreamWaitEvent on stream 5"), 1u);
  view = nullptr;
  EXPECT_EQ(by_fence->tensor.device.type, BATON_DL_CUDA);
  EXPECT_EQ(by_fence->tensor.device.id, 0);
  EXPECT_EQ(reinterpret_cast<CUdeviceptr>(by_fence->tensor.data), address);
  EXPECT_EQ(by_queue->tensor.data, by_fence->tensor.data);
  // What the framework still does with it comes before what the device does with the memory next.
  by_fence->destroy(by_fence);
  EXPECT_EQ(fake_cuda().count("cuEventRecord on stream 2"), 1u);
  by_queue->destroy(by_queue);
  EXPECT_EQ(fake_cuda().count("cuEventRecord on stream 5"), 1u);
  fake_cuda().events_pass = true;
}

TEST(OtherStreamsTest, WhatNobodyHasPromisedCannotBeWaitedFor) {
  const auto device = open_fake("stream");
  const auto gate = device->make_semaphore(0).value();
  const SemaphorePoint open(gate, 1);
  EXPECT_OK(device->queue().barrier({{&open, 1}, {}}));
  EXPECT_FAILS(device->queue().hold_stream(1), StatusCode::kFailedPrecondition,
               "1 of its operations wait for what nobody has promised yet.");
  EXPECT_OK(gate->signal(1));
  EXPECT_OK(device->queue().hold_stream(1));
  gate->fail(failure(StatusCode::kAborted, "lost"));
  const SemaphorePoint later(gate, 2);
  EXPECT_FAILS(device->queue().hold_stream(1, {&later, 1}), StatusCode::kAborted, "lost");
}

// Memory of cuMemAlloc, filled on a stream that Baton knows nothing of: in and out, and the host waits for nobody.
TEST(OtherStreamsTest, RealTensorsOfTheDriver) {
  const auto device = open_real("auto");
  if (!device.has_value()) GTEST_SKIP() << "skipped: no CUDA device (" << device.error().message() << ")";
  auto& own = static_cast<Device&>(**device);
  const Symbols& symbols = own.context().symbols();
  const ContextScope scope = own.context().enter();
  constexpr size_t kBytes = size_t{64} << 20;
  CUstream stream = nullptr;
  ASSERT_EQ(symbols.cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, 0), CUDA_SUCCESS);
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  const auto allocate = reinterpret_cast<decltype(&cuMemAlloc)>(dlsym(library, "cuMemAlloc_v2"));
  const auto release = reinterpret_cast<decltype(&cuMemFree)>(dlsym(library, "cuMemFree_v2"));
  CUdeviceptr address = 0;
  ASSERT_EQ(allocate(&address, kBytes), CUDA_SUCCESS);
  Foreign foreign(reinterpret_cast<const void*>(address));
  foreign.extent = (kBytes - 8) / 4;
  const auto handle = static_cast<int64_t>(reinterpret_cast<uintptr_t>(stream));
  for (uint32_t round = 1; round <= 20; ++round) {
    // A long fill, so that whoever does not wait is too early; then ours, then theirs again.
    for (uint32_t i = 0; i < 8; ++i) {
      ASSERT_EQ(symbols.cuMemsetD32Async(address, i == 7 ? round : 0, kBytes / 4, stream), CUDA_SUCCESS);
    }
    const auto view = import_dlpack(**device, &foreign.tensor, handle).value();
    const auto copy = device->get()->allocator().allocate({.length = kBytes - 8}).value();
    ASSERT_OK(device->get()->queue().copy_buffer({}, {.source = view->buffer(), .target = copy}));
    const int64_t shape[] = {foreign.extent};
    const auto out =
        export_dlpack(**device, BufferView::make(copy, shape, ElementType::kU32).value(), {.stream = handle});
    ASSERT_OK(out);
    ASSERT_EQ(symbols.cuMemcpyAsync(address, reinterpret_cast<CUdeviceptr>((*out)->tensor.data), kBytes - 8, stream),
              CUDA_SUCCESS);
    (*out)->destroy(*out);  // The copy may be under way: the memory is used again behind it.
    ASSERT_EQ(symbols.cuStreamSynchronize(stream), CUDA_SUCCESS);
    const auto mapping = view->buffer()->map(Access::kRead, kBytes - 64, 32).value();
    EXPECT_EQ(mapping.as<uint32_t>()[0], round);
  }
  EXPECT_OK(device->get()->queue().wait_idle());
  EXPECT_TRUE(comes_true([&] { return foreign.destroyed == 20; }));
  symbols.cuStreamDestroy(stream);
  release(address);
}

}  // namespace
}  // namespace baton::hal::drivers::cuda
