// What a function of TVM-FFI costs when a program calls it, beside TVM-FFI's own call of the same function; and what a
// program's function costs when TVM-FFI calls it, beside one of TVM-FFI's that does the same. Nanoseconds a call,
// medians of rounds that take turns.
//
//   tvm_ffi_bench functions.so        the library of tests/modules/tvm_ffi
#include <tvm/ffi/extra/module.h>
#include <tvm/ffi/tvm_ffi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "bytecode/assembler.hpp"
#include "hal/driver_registry.hpp"
#include "hal/drivers/register_drivers.hpp"
#include "hal/host_copy.hpp"
#include "modules/hal_module/hal_module.hpp"
#include "modules/hal_module/objects.hpp"
#include "modules/plugin_loader.hpp"
#include "modules/tvm_ffi/program.hpp"
#include "vm/bytecode_module.hpp"
#include "vm/context.hpp"
#include "vm/invocation.hpp"

namespace {

using namespace baton;
namespace ffi = tvm::ffi;
using Modules = std::vector<Ref<const vm::Module>>;

constexpr int kCalls = 10000, kRounds = 51;

// The loader of plugins refers to them weakly.
[[gnu::used]] const modules::OtherLibraries& (*const kOtherLibraries)() = modules::other_libraries;

constexpr const char* kProgram = R"(
module @bench
import @functions.add_numbers(i64, i64) -> i64
import @functions.address_of(hal.buffer_view) -> i64
import @hal.buffer_view.buffer(hal.buffer_view) -> hal.buffer
import @hal.buffer_view.create(hal.buffer, i64, i64, i32, i32, (i64)...) -> hal.buffer_view
export func @numbers(%count: i64) -> i64 {
  const.i64 %v1, 0
again:
  move %v10, %v1
  const.i64 %v11, 1
  call.import @functions.add_numbers, %v10, %r0
  next.i64 %v1, %v0, again
  move %v0, %v10
  return
}
export func @tensors(%x: hal.buffer_view, %count: i64) -> i64 {
  const.i64 %v1, 0
again:
  ref.copy %r1, %r0
  call.import @functions.address_of, %v10, %r1
  next.i64 %v1, %v0, again
  move %v0, %v10
  return
}
export func @increment(%x: i64) -> i64 {
  add.imm.i64 %v0, %v0, 1
  return
}
export func @again(%x: hal.buffer_view) -> hal.buffer_view {
  call.import @hal.buffer_view.buffer, %v0, %r0
  const.i64 %v0, 0
  const.i64 %v1, -1
  const.i32 %v2, 800
  const.i32 %v3, 1
  const.i64 %v4, 64
  call.variadic @hal.buffer_view.create, %v0, %r0, [1]
  return
}
export func @same(%x: hal.buffer_view) -> hal.buffer_view {
  return
}
)";

[[noreturn]] void stop(const Status& why) {
  std::fprintf(stderr, "%s\n", why.to_string().c_str());
  std::exit(1);
}
template <typename T>
T take(Result<T> result) {
  if (!result) stop(result.error());
  return std::move(result).value();
}

double median(std::vector<double>& times) {
  std::nth_element(times.begin(), times.begin() + kRounds / 2, times.end());
  return times[kRounds / 2];
}

// Of this thread, which does all the work: what else the machine does is not counted.
double thread_nanoseconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// Each runs kCalls calls.
template <typename Own, typename Ours>
void compare(const char* what, const Own& own, const Ours& ours) {
  const auto time = [](const auto& run) {
    const double begin = thread_nanoseconds();
    run();
    return (thread_nanoseconds() - begin) / kCalls;
  };
  std::vector<double> own_times, our_times;
  for (int i = 0; i < kRounds; ++i) {
    own_times.push_back(time(own));
    our_times.push_back(time(ours));
  }
  const double theirs = median(own_times), baton = median(our_times);
  std::printf("%-44s %8.1f %8.1f %6.2f\n", what, theirs, baton, baton / theirs);
}

Ref<hal::Device> open_device() {
  hal::DriverRegistry drivers;
  if (Status added = hal::drivers::register_drivers(drivers); !added.ok()) stop(added);
  return take(drivers.open("local-sync"));
}

Ref<const vm::Module> bench_module() {
  const std::vector<std::byte> bytes = take(bytecode::assemble(kProgram));
  return take(vm::BytecodeModule::load(bytecode::ModuleBytes::copy(bytes)));
}

// The functions as this bench wants their tensors passed.
Ref<const vm::Module> functions_module(const char* path, const char* word) {
  return take(modules::load_plugin(
      {.path = path,
       .entry = BATON_MODULE_QUERY_SYMBOL,
       .parameters = {{"add_numbers", "(i64, i64) -> i64"}, {"address_of", text("(", word, ") -> i64")}}}));
}

Ref<vm::Context> link(const Ref<hal::Device>& device, const char* path, const char* word) {
  const Modules all = {take(modules::make_hal_module({.devices = {device}})), functions_module(path, word),
                       bench_module()};
  return take(vm::Context::make(take(vm::Program::link(all))));
}

void call(const Ref<vm::Context>& context, const char* name, std::span<const vm::Value> arguments) {
  const vm::ExportedFunction function = take(context->find_function(name));
  vm::Value result;
  vm::Invocation invocation(context);
  if (Status status = invocation.invoke_slots(function, arguments, {&result, 1}); !status.ok()) stop(status);
}

struct HostMemory {
  void AllocData(DLTensor* tensor) { tensor->data = std::malloc(ffi::GetDataSize(*tensor)); }
  void FreeData(DLTensor* tensor) { std::free(tensor->data); }
};

ffi::Tensor make_tensor() {
  return ffi::Tensor::FromNDAlloc(HostMemory(), ffi::Shape({64}), DLDataType{kDLFloat, 32, 1}, DLDevice{kDLCPU, 0});
}

// ---- In -------------------------------------------------------------------------------------------------------------

void bench_in(const char* path) {
  const ffi::Module library = ffi::Module::LoadFromFile(path);
  const ffi::Function add = library->GetFunction("add_numbers").value();
  const ffi::Function address = library->GetFunction("address_of").value();
  const Ref<hal::Device> device = open_device();
  const std::vector<float> elements(64);
  const int64_t shape[] = {64};
  const auto view =
      modules::wrap(take(hal::upload_view(*device, hal::ElementType::kF32, shape, std::as_bytes(std::span(elements)))));
  const ffi::Tensor x = make_tensor();
  const vm::Value count = vm::Value::of(int64_t{kCalls});
  const vm::Value both[] = {vm::Value::of(reinterpret_cast<vm::Object*>(view.get())), count};
  for (const char* word : {"view", "tensor"}) {
    const Ref<vm::Context> context = link(device, path, word);
    if (std::string_view(word) == "view") {
      compare(
          "in: two numbers",
          [&] {
            int64_t sum = 0;
            for (int64_t i = 0; i < kCalls; ++i) sum = add(i, int64_t{1}).cast<int64_t>();
            if (sum != kCalls) std::exit(1);
          },
          [&] {
            call(context, "numbers", {&count, 1});
          });
    }
    compare(
        std::string_view(word) == "view" ? "in: a tensor, lent (view)" : "in: a tensor, which may be kept (tensor)",
        [&] {
          for (int i = 0; i < kCalls; ++i) static_cast<void>(address(x).cast<int64_t>());
        },
        [&] { call(context, "tensors", both); });
  }
}

// ---- Out ------------------------------------------------------------------------------------------------------------

ffi::Function function_of(modules::tvm_ffi::Program& program, const char* name) {
  TVMFFIAny any;
  any.type_index = kTVMFFIFunction;
  any.zero_padding = 0;
  any.v_obj = reinterpret_cast<TVMFFIObject*>(take(program.function(name)));
  return ffi::detail::AnyUnsafe::MoveTVMFFIAnyToAny(&any).cast<ffi::Function>();
}

void bench_out(const char* path) {
  const auto runtime = take(modules::tvm_ffi::Runtime::open({}));
  const Ref<modules::tvm_ffi::Program> program = take(modules::tvm_ffi::Program::make(
      runtime, {.modules = {functions_module(path, "view"), bench_module()}, .device = "local-sync"}));
  const ffi::Function increment = function_of(*program, "increment"), same = function_of(*program, "same"),
                      again = function_of(*program, "again");
  const ffi::Function own_increment = ffi::Function::FromTyped([](int64_t x) { return x + 1; });
  const ffi::Function own_same = ffi::Function::FromTyped([](ffi::Tensor x) { return x; });
  const auto numbers = [](const ffi::Function& function) {
    return [&function] {
      int64_t x = 0;
      for (int i = 0; i < kCalls; ++i) x = function(x).cast<int64_t>();
      if (x != kCalls) std::exit(1);
    };
  };
  const ffi::Tensor x = make_tensor();
  const auto tensors = [&x](const ffi::Function& function) {
    return [&function, &x] {
      for (int i = 0; i < kCalls; ++i) static_cast<void>(function(x).cast<ffi::Tensor>());
    };
  };
  compare("out: a number", numbers(own_increment), numbers(increment));
  const ffi::Function own_again = ffi::Function::FromTyped([](const ffi::Tensor& given) {
    DLManagedTensorVersioned* view = given.ToDLPackVersioned();
    return ffi::Tensor::FromDLPackVersioned(view);
  });
  compare("out: a tensor, and the same back", tensors(own_same), tensors(same));
  compare("out: a tensor, and another of its memory back", tensors(own_again), tensors(again));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 1;
  std::printf("%-44s %8s %8s %6s\n", "ns a call", "TVM-FFI", "Baton", "ratio");
  bench_in(argv[1]);
  bench_out(argv[1]);
  return 0;
}
