// Goal: the same kernels run on a device's queue, on a GPU and on the CPU, and stand in a program's recording as
// commands whose slots each execution fills. Method: the C++ twin over the C door; the fake GPU in both of its modes,
// and the CPU for real with a kernel in C that the build compiled to a portable ELF file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "affine_elf.hpp"
#include "hal/allocator.hpp"
#include "hal/queue.hpp"
#include "hal/recording.hpp"
#include "modules/hal_module/objects.hpp"
#include "tests/modules/kernel_library/cuda_kernels.hpp"
#include "tests/support/status_matchers.hpp"

namespace baton::modules {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

template <typename T>
Ref<hal::Buffer> buffer_of(hal::Device& device, const std::vector<T>& values) {
  auto buffer = device.allocator().allocate({.length = values.size() * sizeof(T)}).value();
  const auto mapping = buffer->map(hal::Access::kDiscardWrite);
  std::memcpy(mapping->bytes().data(), values.data(), values.size() * sizeof(T));
  return buffer;
}
template <typename T>
std::vector<T> values_of(hal::Buffer& buffer) {
  const auto mapping = buffer.map(hal::Access::kRead);
  const auto values = mapping->as<T>();
  return {values.begin(), values.end()};
}
// As modules and apps hold them.
sdk::Ref<sdk::Device> door(const Ref<hal::Device>& device) {
  return sdk::Ref<sdk::Device>::adopt(reinterpret_cast<sdk::Device*>(wrap(device).detach()));
}
sdk::Ref<sdk::Buffer> door(const Ref<hal::Buffer>& buffer) {
  return sdk::Ref<sdk::Buffer>::adopt(reinterpret_cast<sdk::Buffer*>(wrap(buffer).detach()));
}

class KernelQueueTest : public testing::TestWithParam<const char*> {
 protected:
  FakeGpu gpu_;
  const Ref<hal::Device> device_ = gpu_.open(GetParam());
  const sdk::KernelLibrary library_ = gpu_.library("affine scale");
};
INSTANTIATE_TEST_SUITE_P(Cuda, KernelQueueTest, testing::Values("cuda?cuda_mode=stream", "cuda?cuda_mode=graph"));

TEST_P(KernelQueueTest, AWorkgroupWithoutThreadsIsASentence) {
  const auto x = buffer_of<float>(*device_, {1, 2, 3});
  EXPECT_EQ(said(library_["affine"].launch({1}, {0}, *door(device_), int16_t{1}, door(x), Scaling{10, 0, 3}, door(x))),
            "OUT_OF_RANGE: Kernel 'affine' is launched with workgroups of 0x1x1, which have no threads.");
}

TEST_P(KernelQueueTest, BuffersAndNumbersGoInAnyOrder) {
  const auto x = buffer_of<float>(*device_, {1, 2, 3}), y = buffer_of<float>(*device_, {0, 0, 0});
  const auto done = door(device_)->make_fence().value();
  EXPECT_EQ(said(library_["affine"].launch({1}, {32}, LaunchTarget(*door(device_), nullptr, done.get()), int16_t{1},
                                           door(x), Scaling{10, 0, 3}, door(y))),
            "");
  EXPECT_EQ(said(done->wait()), "");
  EXPECT_THAT(values_of<float>(*y), ElementsAre(11, 21, 31));
}

TEST_P(KernelQueueTest, WrongArgumentsAreASentence) {
  const auto x = door(buffer_of<float>(*device_, {1, 2, 3}));
  EXPECT_THAT(said(library_["affine"].launch({1}, {32}, door(device_), x, x)),
              HasSubstr("Kernel 'affine' takes 4 parameters of (2, 8, 16, 8) bytes; 2 of (8, 8) bytes are given."));
  EXPECT_THAT(said(library_["affine"].launch({1}, {32}, door(device_), 1, x, Scaling{}, x)),
              HasSubstr("4 of (4, 8, 16, 8) bytes are given."));
}

// Through the C door, where nothing counts bytes for the caller.
TEST_P(KernelQueueTest, ArgumentsThatCannotBeAreASentence) {
  const auto kernel = library_["scale"];
  ASSERT_EQ(said(kernel), "");
  const auto device = door(device_);
  const uint64_t number = 0;
  const auto launch = [&](baton_kernel_argument second, uint32_t flags) {
    baton_binding range{};
    const auto values = door(buffer_of<uint32_t>(*device_, {1, 2}));
    range.buffer = reinterpret_cast<baton_buffer*>(values.get());
    range.length = 8;
    const baton_kernel_argument arguments[] = {{&range, BATON_KERNEL_BINDING}, second, {&number, 4}};
    baton_kernel_launch shape{};
    shape.struct_size = sizeof(shape);
    shape.flags = flags;
    shape.grid[0] = shape.grid[1] = shape.grid[2] = shape.block[0] = shape.block[1] = shape.block[2] = 1;
    shape.ordinal = BATON_KERNEL_DEVICE_OF_STREAM;
    shape.stream = gpu_.stream();
    shape.device = reinterpret_cast<baton_device*>(device.get());
    return said(sdk::Status::adopt(baton_kernel_launch_on(kernel.value().handle(), &shape, arguments, 3)));
  };
  for (const uint32_t flags : {uint32_t{0}, uint32_t{BATON_KERNEL_ON_STREAM}}) {
    EXPECT_EQ(launch({&number, 4}, flags), "");
    EXPECT_THAT(launch({nullptr, 4}, flags),
                HasSubstr("Argument 1 of kernel 'scale' is null, and stands for 4 bytes."));
    EXPECT_THAT(launch({nullptr, BATON_KERNEL_BINDING}, flags),
                HasSubstr("is null, and stands for a range of a buffer."));
    // As many as would be no words at all, counted by their last byte.
    for (const uint64_t size : {BATON_KERNEL_BINDING - 1, uint64_t{1} << 40}) {
      EXPECT_THAT(launch({&number, size}, flags), HasSubstr("bytes of numbers and structs; a dispatch has no more."));
    }
    EXPECT_THAT(launch({&number, 0}, flags), HasSubstr("3 of (8, 0, 4) bytes are given."));
  }
  EXPECT_OK(device_->queue().wait_idle());
}

TEST_P(KernelQueueTest, AnExecutableIsMadeOnceForAShape) {
  const auto values = buffer_of<uint32_t>(*device_, {1, 2});
  const size_t before = fake_cuda().count("cuLibraryLoadData");
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(said(library_["scale"].launch({1}, {64}, door(device_), door(values), 2u, 3u)), "");
  }
  EXPECT_OK(device_->queue().wait_idle());
  EXPECT_EQ(fake_cuda().count("cuLibraryLoadData"), before + 2) << "once to find names, once to record";
  EXPECT_THAT(values_of<uint32_t>(*values), ElementsAre(27, 54));
}

TEST_P(KernelQueueTest, BuffersAreAddressesOnAStream) {
  const auto values = buffer_of<uint32_t>(*device_, {1, 2});
  EXPECT_EQ(said(library_["scale"].launch({1}, {64}, gpu_.stream(), door(values), 2u, 7u)), "");
  EXPECT_THAT(values_of<uint32_t>(*values), ElementsAre(7, 14));
  const auto on_host = buffer_of<uint32_t>(*gpu_.open("local-sync"), {1, 2});
  EXPECT_THAT(said(library_["scale"].launch({1}, {64}, gpu_.stream(), door(on_host), 2u, 7u)),
              HasSubstr("Kernel 'scale' is launched on a stream with memory of the host; it takes buffers that CUDA"));
}

TEST_P(KernelQueueTest, ACommandIsPatchedByTheTableOfEachExecution) {
  auto commands = device_->make_command_buffer({.name = "program", .slot_count = 2}).value();
  auto handle = sdk::make<Handle<hal::CommandBuffer>>(std::move(commands), *device_);
  auto& rec = reinterpret_cast<sdk::CommandBuffer&>(*handle);
  const hal::CustomCommand custom = {"app", "affine"};
  const auto kernel = library_["affine"];
  const sdk::Binding<const float> x(baton_binding{nullptr, 0, BATON_ACCESS_READ, 0, 8});
  const sdk::Binding<float> y(baton_binding{nullptr, 1, BATON_ACCESS_READ_WRITE, 4, 8});
  EXPECT_THAT(said(kernel.value().record(rec, {1}, {32}, int16_t{1}, x, Scaling{2, 0, 2}, y)),
              HasSubstr("outside of a custom command"));
  handle->open_for(&custom);
  EXPECT_EQ(said(kernel.value().record(rec, {1}, {32}, int16_t{1}, x, Scaling{2, 0, 2}, y)), "");
  handle->open_for(nullptr);
  const auto recording = (**handle).finish().value();
  for (const float first : {1.0f, 5.0f, 1.0f}) {
    const auto source = buffer_of<float>(*device_, {first, 10}), target = buffer_of<float>(*device_, {0, 0, 0});
    const hal::BufferRange table[] = {source, target};
    EXPECT_OK(device_->queue().execute({}, *recording, {.buffers = table}));
    EXPECT_OK(device_->queue().wait_idle());
    EXPECT_THAT(values_of<float>(*target), ElementsAre(0, 2 * first + 1, 21));
  }
}

// ---- The CPU
// ----------------------------------------------------------------------------------------------------------

sdk::Result<sdk::KernelLibrary> cpu_library() {
  const sdk::ExecutableVariant variants[] = {{{}, std::as_bytes(std::span(affine_x86_64))},
                                             {{}, std::as_bytes(std::span(affine_aarch64))}};
  return sdk::KernelLibrary::make("affine", variants);
}

// Code for a GPU that isn't there has nothing to say of a name; the CPU's has.
TEST(KernelCpuTest, AMissingNameIsToldByCodeThatCanBeRead) {
  auto drivers = std::make_shared<hal::DriverRegistry>();
  ASSERT_OK(drivers->add(hal::drivers::local::make_driver()));
  const KernelVariant variants[] = {{"cuda-ptx", std::as_bytes(std::span("none"))},
                                    {{}, std::as_bytes(std::span(affine_x86_64))},
                                    {{}, std::as_bytes(std::span(affine_aarch64))}};
  const Ref<KernelLibrary> fat = KernelLibrary::make("affine", variants, drivers).value();
  ASSERT_OK(fat->find("affine"));
  EXPECT_FAILS(fat->find("afine"), StatusCode::kNotFound, "has no entry point 'afine'");
  const Ref<KernelLibrary> ptx = KernelLibrary::make("affine", {variants, 1}, drivers).value();
  EXPECT_FAILS(ptx->find("afine"), StatusCode::kUnavailable, "needs the CUDA driver");
}

TEST(KernelCpuTest, APortableElfRunsOnEveryKindOfLocalDevice) {
  const auto library = cpu_library();
  ASSERT_EQ(said(library), "");
  for (const char* uri : {"local-sync", "local-task?workers=2"}) {
    const Ref<hal::Device> device = FakeGpu().open(uri);
    const auto x = buffer_of<float>(*device, {1, 2, 3}), y = buffer_of<float>(*device, {0, 0, 0});
    EXPECT_EQ(said(library.value()["affine"].launch({3}, {1}, door(device), door(x), door(y), 2.0f, 1.0f)), "");
    EXPECT_OK(device->queue().wait_idle());
    EXPECT_THAT(values_of<float>(*y), ElementsAre(3, 5, 7)) << uri;
    const int64_t shape[] = {3};
    const auto tensor = sdk::BufferView::make(*door(y), BATON_ELEMENT_F32, shape).value();
    EXPECT_EQ(said(library.value()["affine"].launch({3}, {1}, door(device), tensor, tensor, 2.0f, 0.0f)), "");
    EXPECT_OK(device->queue().wait_idle());
    EXPECT_THAT(values_of<float>(*y), ElementsAre(6, 10, 14)) << "a tensor stands for its buffer";
    EXPECT_THAT(said(library.value()["affine"].launch({3}, {1}, door(device), door(x), door(y), 2.0f)),
                HasSubstr("affine"));
  }
}

TEST(KernelCpuTest, ItTellsItsNamesAndThatItIsNotForStreams) {
  const auto library = cpu_library();
  EXPECT_THAT(said(library.value()["afine"]), HasSubstr("'affine'"));
  EXPECT_THAT(said(library.value()["affine"].launch({1}, {1}, nullptr)),
              HasSubstr("has no code for CUDA (but 'embedded-elf-x86_64')"));
}

TEST(KernelCpuTest, CodeThatWasCutOffIsRefused) {
  for (const size_t size : {size_t{0}, size_t{3}, size_t{63}}) {
    const auto code = std::as_bytes(std::span(affine_x86_64)).first(size);
    EXPECT_THAT(said(sdk::KernelLibrary::from_memory("cut", code)), HasSubstr("are no device code that is known"));
  }
  const auto half = std::as_bytes(std::span(affine_x86_64)).first(256);
  const auto library = sdk::KernelLibrary::from_memory("cut", half);
  ASSERT_EQ(said(library), "");
  EXPECT_NE(said(library.value()["affine"]), "");
  EXPECT_THAT(said(sdk::KernelLibrary::load_file("/nonexistent/kernels.cubin")),
              HasSubstr("NOT_FOUND: Cannot read '/nonexistent/kernels.cubin'"));
  EXPECT_THAT(said(sdk::KernelLibrary::make("none", {})), HasSubstr("has no code at all"));
}

}  // namespace
}  // namespace baton::modules
