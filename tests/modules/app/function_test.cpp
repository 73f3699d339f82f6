// Goal: an app calls functions of a program with C++ types, and hears in words where the types are others.
#include "modules/app/function.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>

#include <chrono>
#include <future>

#include "bytecode/assembler.hpp"
#include "modules/app/app.hpp"
#include "tests/support/status_matchers.hpp"

namespace baton::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kProgram = R"ASM(
module @program
type hal.buffer_view
type hal.fence
import @hal.buffer_view.dim(hal.buffer_view, i32) -> i64
import @hal.fence.signal(hal.fence)
export func @step(%x: hal.buffer_view, %n: i32) -> (hal.buffer_view, f32) {
  attribute "abi.declaration" = "func @step(%x: tensor<2x?xf32>, %n: i32) -> (%y: tensor<2x?xf32>, f32)"
  const.f32 %v0, 1.5
  return
}
export func @rows(%x: hal.buffer_view) -> i64 {
  ref.move %r1, %r0
  const.i32 %v0, 0
  call.import @hal.buffer_view.dim, %v0, %r1
  return
}
export func @numbers(%a: i32, %b: i64, %c: f32, %d: f64) -> (f64, f32, i64, i32) {
  move %v4, %v0
  move %v0, %v3
  move %v3, %v4
  move %v4, %v1
  move %v1, %v2
  move %v2, %v4
  return
}
export func @nothing() {
  return
}
export func @later(%x: hal.buffer_view, %wait: hal.fence, %done: hal.fence) -> hal.buffer_view {
  attribute "abi.model" = "coarse-fences"
  attribute "abi.declaration" = "async func @later(%x: tensor<?xf32>) -> tensor<?xf32>"
  ref.move %r3, %r2
  call.import @hal.fence.signal, %v0, %r3
  return
}
)ASM";

class FunctionTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto bytes = bytecode::assemble(kProgram);
    ASSERT_OK(bytes);
    auto opened = App::load(*bytes);
    ASSERT_OK(opened);
    app_ = *std::move(opened);
  }
  Tensor floats(std::initializer_list<int64_t> shape) {
    const std::vector<float> numbers = {1, 2, 3, 4, 5, 6};
    return app_.tensor(shape, std::span<const float>(numbers)).value();
  }
  template <typename Signature>
  std::string why_not(std::string_view name) {
    auto found = app_.find<Signature>(name);
    return found ? "" : std::string(found.error().message());
  }
  App app_;
};

TEST_F(FunctionTest, TensorsAndNumbersGoAndCome) {
  auto step = app_.find<std::tuple<Tensor, float>(Tensor, int32_t)>("step");
  ASSERT_OK(step);
  auto results = (*step)(floats({2, 3}), 7);
  ASSERT_OK(results);
  const auto& [y, loss] = *results;
  EXPECT_EQ(y.type_text(), "2x3xf32");
  EXPECT_THAT(y.copy<float>().value(), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(loss, 1.5f);
}

TEST_F(FunctionTest, EveryTypeOfNumber) {
  auto numbers = app_.find<std::tuple<double, float, int64_t, int32_t>(int32_t, int64_t, float, double)>("numbers");
  ASSERT_OK(numbers);
  const auto results = (*numbers)(-1, int64_t{1} << 40, 0.5f, 2.25);
  ASSERT_OK(results);
  EXPECT_EQ(*results, std::tuple(2.25, 0.5f, int64_t{1} << 40, -1));
  auto nothing = app_.find<void()>("nothing");
  ASSERT_OK(nothing);
  EXPECT_OK((*nothing)());
}

TEST_F(FunctionTest, WhatBeginsBehindAFenceIsAwaited) {
  auto later = app_.find<Tensor(TensorOf<float>)>("later");
  EXPECT_THAT(why_not<Tensor(TensorOf<int32_t>)>("later"), HasSubstr("it was taken for (TensorOf<i32>)"));
  ASSERT_OK(later);
  const auto x = TensorOf<float>::take(floats({6}));
  ASSERT_OK(x);
  const auto y = (*later)(*x);
  ASSERT_OK(y);
  EXPECT_EQ(y->type_text(), "6xf32");
}

TEST_F(FunctionTest, OtherTypesAreToldWhenItIsLookedUp) {
  EXPECT_EQ(
      why_not<Tensor(Tensor)>("step"),
      "function 'step' is func @step(%x: tensor<2x?xf32>, %n: i32) -> (%y: tensor<2x?xf32>, f32); it was taken for "
      "(Tensor) -> (Tensor)");
  EXPECT_THAT((why_not<std::tuple<Tensor, float>(Tensor, int64_t)>("step")),
              HasSubstr("(Tensor, i64) -> (Tensor, f32)"));
  EXPECT_THAT((why_not<std::tuple<Tensor, float>(TensorOf<double>, int32_t)>("step")),
              HasSubstr("(TensorOf<f64>, i32)"));
  EXPECT_THAT((why_not<std::tuple<TensorOf<int32_t>, float>(Tensor, int32_t)>("step")),
              HasSubstr("(TensorOf<i32>, f32)"));
  EXPECT_EQ((why_not<std::tuple<TensorOf<float>, float>(TensorOf<float>, int32_t)>("step")), "");
  EXPECT_EQ(why_not<void(Tensor)>("rows"),
            "function 'rows' is func @rows(hal.buffer_view) -> (i64); it was taken for (Tensor) -> ()");
  EXPECT_EQ(why_not<int64_t(Tensor)>("rows"), "");
  EXPECT_THAT(why_not<void()>("stop"), HasSubstr("stop"));
}

TEST_F(FunctionTest, OtherTensorsAreToldWhenItIsCalled) {
  auto step = app_.find<std::tuple<Tensor, float>(Tensor, int32_t)>("step");
  ASSERT_OK(step);
  const auto message = [&](const Tensor& x) { return std::string((*step)(x, 1).error().message()); };
  EXPECT_EQ(message(floats({3, 2})),
            "argument 0 of 'step' is a tensor<2x?xf32>, and a 3x2xf32 was given; it is func @step(%x: tensor<2x?xf32>, "
            "%n: i32) -> (%y: tensor<2x?xf32>, f32)");
  EXPECT_THAT(message(floats({6})), HasSubstr("a 6xf32 was given"));
  const std::vector<int32_t> integers = {1, 2};
  EXPECT_THAT(message(app_.tensor({2, 1}, std::span<const int32_t>(integers)).value()),
              HasSubstr("a 2x1xi32 was given"));
  EXPECT_THAT(message(Tensor()), HasSubstr("argument 0 of 'step' is a tensor<2x?xf32>, and no tensor was given"));
  EXPECT_OK((*step)(floats({2, 3}), 1));  // It goes on.
}

TEST_F(FunctionTest, ResultsAreOfTheDeviceThatHasTheirMemory) {
  auto step = app_.find<std::tuple<Tensor, float>(Tensor, int32_t)>("step").value();
  const Ref<hal::Device> own = app_.devices()[0];
  EXPECT_EQ(std::get<0>(*step(floats({2, 3}), 1)).device(), own);
  hal::DriverRegistry drivers;
  ASSERT_OK(hal::drivers::register_drivers(drivers));
  const auto second = drivers.open("local-sync");
  ASSERT_OK(second);
  const float numbers[] = {1, 2};
  const auto far = Tensor::from(**second, {2, 1}, std::span<const float>(numbers));
  EXPECT_EQ(std::get<0>(*step(*far, 1)).device(), *second);
}

TEST_F(FunctionTest, ElementsWithoutATypeOfCppAreBytes) {
  const std::byte bits[] = {std::byte{1}, std::byte{0x3c}, std::byte{1}, std::byte{0}};
  const auto halves = Tensor::from_bytes(*app_.devices()[0], hal::ElementType::kF16, {2}, bits);
  ASSERT_OK(halves);
  EXPECT_THAT(halves->copy_bytes().value(), testing::ElementsAreArray(bits));
  EXPECT_FAILS(Tensor().copy_bytes(), StatusCode::kFailedPrecondition, "There is no tensor.");
  const bool flags[] = {true, false, true};
  const auto truths = app_.tensor<bool>({3}, flags);
  ASSERT_OK(truths);
  EXPECT_THAT(truths->copy<bool>().value(), ElementsAre(true, false, true));
}

TEST_F(FunctionTest, CopiesAreOfTheTensorsTypeAndSize) {
  const Tensor x = floats({2, 3});
  std::vector<float> room(5);
  EXPECT_EQ(x.copy_to(std::span<float>(room)).message(), "A tensor 2x3xf32 does not fit into 5 elements of f32.");
  std::vector<int32_t> others(6);
  EXPECT_EQ(x.copy_to(std::span<int32_t>(others)).message(), "A tensor 2x3xf32 does not fit into 6 elements of i32.");
  EXPECT_EQ(Tensor().copy<float>().error().message(), "There is no tensor.");
  const std::vector<float> numbers = {1, 2, 3};
  EXPECT_EQ(app_.tensor({2, 2}, std::span<const float>(numbers)).error().message(),
            "A tensor 2x2xf32 takes 16 bytes; 12 are given.");
}

TEST_F(FunctionTest, TensorsOfOthersComeAndGoInPlace) {
  const Tensor x = floats({2, 3});
  auto exported = x.to_dlpack();
  ASSERT_OK(exported);
  auto imported = Tensor::from_dlpack(*app_.devices()[0], *exported);
  ASSERT_OK(imported);
  EXPECT_THAT(imported->copy<float>().value(), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(AppTest, ATimelineHearsOfItsCalls) {
  const auto bytes = bytecode::assemble(kProgram);
  ASSERT_OK(bytes);
  Timeline timeline;
  {
    auto app = App::load(*bytes, {.timeline = &timeline});
    ASSERT_OK(app);
    auto rows = app->find<int64_t(Tensor)>("rows");
    ASSERT_OK(rows);
    const std::vector<float> numbers = {1, 2, 3};
    const Tensor x = app->tensor({3, 1}, std::span<const float>(numbers)).value();
    EXPECT_EQ((*rows)(x).value(), 3);
    EXPECT_EQ((*rows)(x).value(), 3);
  }
  int calls = 0, imports = 0;
  timeline.for_each([&](std::string_view, const Timeline::Span& span) {
    calls += span.label->name == "program.rows";
    imports += span.label->name == "hal.buffer_view.dim";
  });
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(imports, 2);
}

TEST(AppTest, WhatCannotBeOpenedIsTold) {
  EXPECT_THAT(std::string(App::open("none.bvm").error().message()), HasSubstr("none.bvm"));
  const auto bytes = bytecode::assemble(kProgram);
  ASSERT_OK(bytes);
  EXPECT_THAT(std::string(App::load(*bytes, {.devices = {"quantum"}}).error().message()), HasSubstr("quantum"));
  EXPECT_THAT(std::string(App::load(*bytes, {.devices = {}}).error().message()), HasSubstr("hal.buffer_view.dim"));
}

// ---- Behind a device that is at work --------------------------------------------------------------------------------

constexpr std::string_view kBehind = R"ASM(
module @behind
type hal.buffer_view
type hal.device
type hal.fence
import @hal.devices.get(i64) -> hal.device
import @hal.queue.barrier(hal.device, hal.fence, hal.fence)
export func @later(%x: hal.buffer_view, %wait: hal.fence, %done: hal.fence) -> hal.buffer_view {
  attribute "abi.model" = "coarse-fences"
  attribute "abi.declaration" = "async func @later(%x: tensor<?xf32>) -> tensor<?xf32>"
  const.i64 %v0, 0
  call.import @hal.devices.get, %v0, %r3
  ref.move %r4, %r1
  ref.move %r5, %r2
  call.import @hal.queue.barrier, %v0, %r3
  return
}
export func @now(%x: hal.buffer_view) -> hal.buffer_view {
  return
}
)ASM";

// Of the fake GPU, where this runs with it (CMakeLists.txt); null elsewhere.
void (*find_hold())(int) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  return library ? reinterpret_cast<void (*)(int)>(dlsym(library, "baton_fake_cuda_hold")) : nullptr;
}

TEST(HeldDeviceTest, CallsComeBehindWhatIsOnItsWay) {
  const auto hold = find_hold();
  if (!hold) GTEST_SKIP() << "there is no GPU that can be held";
  const auto bytes = bytecode::assemble(kBehind);
  ASSERT_OK(bytes);
  auto app = App::load(*bytes, {.devices = {"cuda"}});
  ASSERT_OK(app);
  for (const char* name : {"later", "now"}) {
    auto function = app->find<TensorOf<float>(Tensor)>(name);
    ASSERT_OK(function);
    std::vector<float> numbers = {1, 2, 3};
    const auto make = [&] { return app->tensor({3}, std::span<const float>(numbers)).value(); };
    ASSERT_OK((*function)(make()));  // Its memory is there from here on.
    hold(1);
    const Tensor given = make();
    numbers = {9, 9, 9};
    ASSERT_TRUE(given.ready());
    EXPECT_FAILS(given.ready()->query(), StatusCode::kDeadlineExceeded, "");
    auto called = std::async(std::launch::async, [&] { return (*function)(given); });
    EXPECT_EQ(called.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout) << name;
    hold(0);
    const auto result = called.get();
    ASSERT_OK(result);
    EXPECT_THAT(result->copy<float>().value(), ElementsAre(1, 2, 3)) << name;
    EXPECT_THAT(given.copy<float>().value(), ElementsAre(1, 2, 3)) << name;
  }
}

// What an app gives to its devices reaches the kernels: device_options.c has the rest.
TEST(AppOptionsTest, DriversAndExecutablesAreTheApps) {
  static const baton_kernel kernels[] = {
      [](const baton_executable_environment*, const baton_dispatch_state*, const baton_workgroup_state*) { return 0; }};
  const auto query = [](uint32_t, const baton_executable_environment*) -> const baton_executable_library* {
    static const char* const names[] = {"nothing"};
    static baton_executable_library library = {};
    library.struct_size = sizeof(library);
    library.version = BATON_EXECUTABLE_LIBRARY_VERSION;
    library.name = "app.kernels";
    library.kernel_count = 1;
    library.kernels = kernels;
    library.kernel_names = names;
    return &library;
  };
  const auto bytes = bytecode::assemble(kProgram);
  ASSERT_OK(bytes);
  auto executables = std::make_shared<hal::ExecutableRegistry>();
  const std::string_view name = "app.kernels";
  ASSERT_OK(executables->add("acme", "static-library", std::as_bytes(std::span(name))));
  AppOptions options;
  options.drivers.local.libraries.push_back({"app.kernels", query});
  options.executables = executables;
  const auto app = App::load(*bytes, options);
  ASSERT_OK(app);
  const auto found = app->devices()[0]->executables()->load(*app->devices()[0], "acme");
  ASSERT_OK(found);
  EXPECT_EQ((*found)->entry_points()[0].name, "nothing");
  options.executable_plugins = {"/nowhere/plugin.so"};
  EXPECT_FAILS(App::load(*bytes, options), StatusCode::kNotFound, "/nowhere/plugin.so");
}

}  // namespace
}  // namespace baton::app
