// A target is a column: this folder brings one, with a line in a list (targets.inc), and programs compile for it and
// run on a device that takes its code, alone and beside another target.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler-lite/compile.hpp"
#include "hal/drivers/register_drivers.hpp"
#include "modules/hal_module/hal_module.hpp"
#include "modules/hal_module/objects.hpp"
#include "tests/compiler-lite/toy/device.hpp"
#include "tests/support/status_matchers.hpp"
#include "vm/context.hpp"
#include "vm/invocation.hpp"

namespace baton::compiler_lite::toy {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsSupersetOf;

constexpr std::string_view kAdd = R"(
func.func @add(%a: tensor<6xf32>, %b: tensor<6xf32>) -> tensor<6xf32> {
  %empty = tensor.empty() : tensor<6xf32>
  %sum = linalg.add ins(%a, %b : tensor<6xf32>, tensor<6xf32>) outs(%empty : tensor<6xf32>) -> tensor<6xf32>
  return %sum : tensor<6xf32>
}
)";

// Its kernel asks for a number that the device says when the program is loaded.
constexpr std::string_view kConstants = R"(
hal.executable.source private @scale {
  hal.executable.constant.block(%device: !hal.device) -> i32 as ("number") {
    %number = arith.constant 7 : i32
    hal.return %number : i32
  }
  hal.executable.export public @scale ordinal(0)
      layout(#hal.pipeline.layout<constants = 0, bindings = [#hal.pipeline.binding<storage_buffer>]>)
  builtin.module {
    func.func @scale() {
      %number = hal.executable.constant.load "number" : i32
      return
    }
  }
}
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %r = flow.dispatch @scale::@scale(%a) : (tensor<4xf32>) -> %a
  return %r : tensor<4xf32>
}
)";

std::string text_of(const CompileOutput& compiled) {
  return {reinterpret_cast<const char*>(compiled.bytes.data()), compiled.bytes.size()};
}

CompileOutput compile_for(std::vector<std::string> devices, std::string_view source = kAdd) {
  CompileOptions options;
  options.target_devices = std::move(devices);
  options.target_options["toy-title"] = "hello";
  return compile(source, "add.mlir", options);
}

// first, first + 1, ...
sdk::Ref<modules::Handle<hal::BufferView>> make_vector(hal::Device& device, float first) {
  Ref<hal::Buffer> buffer = device.allocator().allocate({.length = 6 * sizeof(float)}).value();
  for (float& element : buffer->map(hal::Access::kWrite).value().as<float>()) element = first++;
  const int64_t shape[] = {6};
  return modules::wrap(hal::BufferView::make(std::move(buffer), shape, hal::ElementType::kF32).value());
}

vm::Value value_of(const sdk::Ref<modules::Handle<hal::BufferView>>& view) {
  return vm::Value::of(reinterpret_cast<vm::Object*>(view.get()));
}

// The bytes that @add gives for (1, 2, ..., 6) and (10, 11, ..., 15) on the device.
std::string run_add(const CompileOutput& compiled, Ref<hal::Device> device) {
  Ref<const vm::Module> program = vm::BytecodeModule::load(bytecode::ModuleBytes::copy(compiled.bytes)).value();
  std::vector<Ref<const vm::Module>> modules = {modules::make_hal_module({.devices = {device}}).value(), program};
  Ref<vm::Context> context = vm::Context::make(vm::Program::link(modules).value(), system_allocator()).value();
  const auto a = make_vector(*device, 1), b = make_vector(*device, 10);
  const std::array<vm::Value, 2> arguments = {value_of(a), value_of(b)};
  vm::Value result;
  vm::Invocation invocation(context);
  EXPECT_OK(invocation.invoke_slots(context->find_function("add").value(), arguments, {&result, 1}));
  if (!result.ref) return {};
  const auto* view = modules::unwrap<hal::BufferView>(reinterpret_cast<baton_object*>(result.ref));
  const std::span<const char> bytes = view->buffer()->map(hal::Access::kRead).value().as<const char>();
  std::string text(bytes.begin(), bytes.end());
  vm::release_object(result.ref);
  return text;
}

TEST(ToyTest, IsOneOfTheTargets) {
  EXPECT_EQ(target_devices().back(), "toy");
  EXPECT_THAT(target_devices(), IsSupersetOf({"local", "cuda"}));
  EXPECT_THAT(describe_targets(), ContainsRegex("\ntoy +toy +toy-text\n"));
  EXPECT_EQ(target_options().back().name, "toy-title");
}

// Without a name in the first place of the list, the list decides.
TEST(ToyTest, IsNotWhatNobodyAsksFor) {
  const CompileOutput compiled = compile_for({});
  ASSERT_TRUE(compiled.ok) << compiled.diagnostics;
  EXPECT_THAT(text_of(compiled), Not(HasSubstr("toy-text")));
}

TEST(ToyTest, CompilesAndRunsAProgram) {
  const CompileOutput compiled = compile_for({"toy"});
  ASSERT_TRUE(compiled.ok) << compiled.diagnostics;
  EXPECT_THAT(text_of(compiled), HasSubstr("title hello\nkernel add_0_generic words 0 bindings read read written\n"));
  const auto device = make_ref<Device>();
  EXPECT_EQ(run_add(compiled, device), "add_0_genericadd_0_gener");
  EXPECT_EQ(device->queue().log, "title hello: add_0_generic, 0 words, 3 bindings\n");
}

// One program for both: each device takes its own code and the grid that belongs to it.
TEST(ToyTest, StandsBesideAnotherTarget) {
  for (const auto& devices : {std::vector<std::string>{"local", "toy"}, {"toy", "local"}}) {
    const CompileOutput compiled = compile_for(devices);
    ASSERT_TRUE(compiled.ok) << compiled.diagnostics;
    EXPECT_EQ(run_add(compiled, make_ref<Device>()), "add_0_genericadd_0_gener");
    hal::DriverRegistry drivers;
    EXPECT_OK(hal::drivers::register_drivers(drivers));
    const std::string sums = run_add(compiled, drivers.open("local-sync").value());
    const float wanted[] = {11, 13, 15, 17, 19, 21};
    ASSERT_EQ(sums.size(), sizeof(wanted));
    EXPECT_EQ(std::memcmp(sums.data(), wanted, sizeof(wanted)), 0);
  }
}

TEST(ToyTest, IsNamedInMessages) {
  const CompileOutput unknown = compile_for({"abacus"});
  EXPECT_THAT(unknown.diagnostics, ContainsRegex("there is no target device 'abacus'; there are: .*, toy\n"));
  const CompileOutput constants = compile_for({"toy"}, kConstants);
  EXPECT_FALSE(constants.ok);
  EXPECT_THAT(constants.diagnostics, HasSubstr("constants that its code for #hal.executable.target<\"toy\", "
                                               "\"toy-text\"> gets when it is loaded; code for llvm-cpu takes them."));
}

}  // namespace
}  // namespace baton::compiler_lite::toy
