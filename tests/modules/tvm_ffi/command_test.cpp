// Goal: on a GPU a function finds the stream that its work belongs to: called, the one of its caller; recorded, the one
// that captures or runs, once for each table in a graph and for each execution on a stream. What the thread had before
// it has again. Method: the fake GPU, and functions that note the stream and touch no memory.
#include "hal/drivers/cuda/device.hpp"
#include "hal/drivers/cuda/driver.hpp"
#include "tests/modules/tvm_ffi/test_functions.hpp"
#include "tests/support/fake_cuda.hpp"

namespace baton::modules::tvm_ffi {
namespace {

Ref<hal::Device> open_fake(const char* mode) {
  hal::drivers::cuda::Options options;
  options.symbols = testing_support::make_fake_cuda();
  const hal::DeviceParameter parameters[] = {{"cuda_mode", mode}};
  auto device = hal::drivers::cuda::make_driver(std::move(options))->open("", parameters);
  EXPECT_OK(device);
  return *device;
}

class CommandTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const auto& symbols = static_cast<hal::drivers::cuda::Device&>(*functions.device).context().symbols();
    ASSERT_OK(functions.call("set_fill", {Value::of(reinterpret_cast<int64_t>(symbols.cuMemsetD32Async))}));
  }
  void TearDown() override { runtime->set_stream(BATON_DL_CUDA, 0, nullptr, nullptr); }

  int64_t seen() {
    const auto stream = functions.call("seen_stream", {});
    EXPECT_OK(stream);
    return (*stream)[0].i64;
  }
  int64_t calls() {
    const auto count = functions.call("noted_calls", {});
    EXPECT_OK(count);
    return (*count)[0].i64;
  }

  Commands functions{{{"note_stream", "command(view)"},
                      {"seen_stream", "() -> i64"},
                      {"noted_calls", "() -> i64"},
                      {"set_fill", "(i64)"}},
                     open_fake(GetParam())};
  std::shared_ptr<const Runtime> runtime = *Runtime::open(BATON_TEST_TVM_FFI);
};
INSTANTIATE_TEST_SUITE_P(Fake, CommandTest, testing::Values("stream", "graph"));

TEST_P(CommandTest, ACommandFindsTheStreamOfItsRecording) {
  int mine = 0;
  runtime->set_stream(BATON_DL_CUDA, 0, &mine, nullptr);
  const auto recording = functions.record("note_stream", {{0}});
  ASSERT_OK(recording);
  Floats x(*functions.device, hal::ElementType::kF32, {2}, {1, 2}),
      y(*functions.device, hal::ElementType::kF32, {2}, {3, 4});
  const int64_t before = calls();
  ASSERT_OK(functions.execute(**recording, {&x}));
  EXPECT_EQ(calls(), before + 1);
  EXPECT_NE(seen(), 0);
  EXPECT_NE(seen(), reinterpret_cast<int64_t>(&mine));
  ASSERT_OK(functions.execute(**recording, {&x}));
  ASSERT_OK(functions.execute(**recording, {&y}));
  EXPECT_EQ(calls(), before + (std::string_view(GetParam()) == "graph" ? 2 : 3));
  EXPECT_EQ(runtime->get_stream(BATON_DL_CUDA, 0), &mine);
  EXPECT_THAT(y.read(*functions.device)[1], 4);
}

TEST_P(CommandTest, ACallSeesTheStreamOfItsCaller) {
  Functions called({{"note_stream", "(view)"}, {"seen_stream", "() -> i64"}, {"address_of", "(tensor) -> i64"}},
                   functions.device);
  Floats x(*functions.device, hal::ElementType::kF32, {2}, {1, 2});
  ASSERT_OK(called.call("note_stream", {x.value()}));
  EXPECT_EQ(seen(), 0);  // Nobody set one: the legacy default stream.
  const auto address = called.call("address_of", {x.value()});
  ASSERT_OK(address);
  EXPECT_EQ(static_cast<uint64_t>((*address)[0].i64), x.view->buffer()->location().address);
  EXPECT_OK(functions.device->queue().wait_idle());
}

}  // namespace
}  // namespace baton::modules::tvm_ffi
