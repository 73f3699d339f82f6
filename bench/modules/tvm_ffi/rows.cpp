#include "bench/modules/tvm_ffi/rows.hpp"

#include <tvm/ffi/extra/module.h>
#include <tvm/ffi/tvm_ffi.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>

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

namespace baton::bench {
namespace {

namespace ffi = tvm::ffi;
using Modules = std::vector<Ref<const vm::Module>>;

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
export func @lent(%x: hal.buffer_view, %count: i64) -> i64 {
  const.i64 %v1, 0
again:
  call.lend @functions.address_of, %v10, %r1, [%r0]
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

void expect_equal(int64_t a, int64_t b) {
  if (a != b) stop(failure(StatusCode::kInternal, a, " is not ", b, "."));
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

template <typename Run>
std::shared_ptr<const Calls> calls(Run run) {
  struct These final : Calls {
    explicit These(Run run) : run_(std::move(run)) {}
    void run(int64_t count) const override { run_(count); }
    Run run_;
  };
  return std::make_shared<const These>(std::move(run));
}

// A function of the program that calls one of TVM-FFI's as often as it is told.
class Loop {
 public:
  Loop(Ref<vm::Context> context, const char* name)
      : function_(take(context->find_function(name))), invocation_(std::move(context)) {}

  int64_t run(std::span<const vm::Value> arguments) {
    vm::Value result;
    if (Status status = invocation_.invoke_slots(function_, arguments, {&result, 1}); !status.ok()) stop(status);
    return result.i64;
  }

 private:
  vm::ExportedFunction function_;
  vm::Invocation invocation_;
};

struct HostMemory {
  void AllocData(DLTensor* tensor) { tensor->data = std::malloc(ffi::GetDataSize(*tensor)); }
  void FreeData(DLTensor* tensor) { std::free(tensor->data); }
};

ffi::Tensor make_tensor() {
  return ffi::Tensor::FromNDAlloc(HostMemory(), ffi::Shape({64}), DLDataType{kDLFloat, 32, 1}, DLDevice{kDLCPU, 0});
}

// ---- By TVM-FFI's interface of C ------------------------------------------------------------------------------------

// As every language but C++ calls a function of theirs: by TVMFFIFunctionCall, with values whose types are read at the
// call.
class CCall {
 public:
  explicit CCall(ffi::Function function) : function_(std::move(function)) {}

  // Owned by the caller where it is an object.
  TVMFFIAny operator()(TVMFFIAny* arguments, int32_t count) const {
    TVMFFIAny result{};
    auto* const function = const_cast<ffi::FunctionObj*>(function_.operator->());
    if (TVMFFIFunctionCall(function, arguments, count, &result) != 0)
      stop(failure(StatusCode::kInternal, "It failed."));
    return result;
  }
  int64_t number(TVMFFIAny* arguments, int32_t count) const {
    const TVMFFIAny result = (*this)(arguments, count);
    if (result.type_index != kTVMFFIInt) stop(failure(StatusCode::kInternal, "It gave no number."));
    return result.v_int64;
  }

 private:
  ffi::Function function_;
};

TVMFFIAny any_of(int64_t number) { return ffi::AnyView(number).CopyToTVMFFIAny(); }

std::shared_ptr<const Calls> c_calls_with_number(const ffi::Function& function) {
  return calls([function = CCall(function)](int64_t count) {
    int64_t x = 0;
    for (int64_t i = 0; i < count; ++i) {
      TVMFFIAny argument = any_of(x);
      x = function.number(&argument, 1);
    }
    expect_equal(x, count);
  });
}
std::shared_ptr<const Calls> c_calls_with_tensor(const ffi::Function& function) {
  return calls([function = CCall(function), x = make_tensor()](int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      TVMFFIAny argument = ffi::AnyView(x).CopyToTVMFFIAny();
      const TVMFFIAny result = function(&argument, 1);
      if (result.type_index != kTVMFFITensor) stop(failure(StatusCode::kInternal, "It gave no tensor."));
      TVMFFIObjectDecRef(result.v_obj);
    }
  });
}

// ---- In -------------------------------------------------------------------------------------------------------------

void add_rows_in(const std::string& path, std::vector<TvmFfiRow>& rows) {
  const ffi::Module library = ffi::Module::LoadFromFile(path);
  const ffi::Function add = library->GetFunction("add_numbers").value();
  const ffi::Function address = library->GetFunction("address_of").value();
  const Ref<hal::Device> device = open_device();
  const std::vector<float> elements(64);
  const int64_t shape[] = {64};
  const auto view =
      modules::wrap(take(hal::upload_view(*device, hal::ElementType::kF32, shape, std::as_bytes(std::span(elements)))));
  const auto numbers = std::make_shared<Loop>(link(device, path.c_str(), "view"), "numbers");
  const auto our_numbers = calls([numbers](int64_t count) {
    const vm::Value argument = vm::Value::of(count);
    expect_equal(numbers->run({&argument, 1}), count);
  });
  rows.push_back({"in_numbers", "in: two numbers", calls([add](int64_t count) {
                    int64_t sum = 0;
                    for (int64_t i = 0; i < count; ++i) sum = add(i, int64_t{1}).cast<int64_t>();
                    expect_equal(sum, count);
                  }),
                  our_numbers});
  const auto own = calls([address, x = make_tensor()](int64_t count) {
    for (int64_t i = 0; i < count; ++i) static_cast<void>(address(x).cast<int64_t>());
  });
  const auto ours = [&](const char* word, const char* function) {
    return calls([loop = std::make_shared<Loop>(link(device, path.c_str(), word), function), view](int64_t count) {
      const vm::Value both[] = {vm::Value::of(reinterpret_cast<vm::Object*>(view.get())), vm::Value::of(count)};
      loop->run(both);
    });
  };
  rows.push_back({"in_view", "in: a tensor, lent (view)", own, ours("view", "tensors")});
  rows.push_back({"in_tensor", "in: a tensor, which may be kept (tensor)", own, ours("tensor", "tensors")});
  // As the compiler calls with a tensor that the program needs again.
  const auto our_view = ours("view", "lent"), our_tensor = ours("tensor", "lent");
  rows.push_back({"in_view_again", "in: a tensor, lent, and needed again", own, our_view});
  rows.push_back({"in_tensor_again", "in: a tensor, kept perhaps, needed again", own, our_tensor});
  rows.push_back({"in_numbers_c", "in: two numbers; theirs by C", calls([add = CCall(add)](int64_t count) {
                    int64_t sum = 0;
                    for (int64_t i = 0; i < count; ++i) {
                      TVMFFIAny both[] = {any_of(i), any_of(1)};
                      sum = add.number(both, 2);
                    }
                    expect_equal(sum, count);
                  }),
                  our_numbers});
  const auto own_by_c = calls([address = CCall(address), x = make_tensor()](int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      TVMFFIAny argument = ffi::AnyView(x).CopyToTVMFFIAny();
      static_cast<void>(address.number(&argument, 1));
    }
  });
  rows.push_back({"in_view_c", "in: a tensor, lent, needed again; theirs by C", own_by_c, our_view});
  rows.push_back({"in_tensor_c", "in: a tensor, kept perhaps; theirs by C", own_by_c, our_tensor});
}

// ---- Out ------------------------------------------------------------------------------------------------------------

ffi::Function function_of(modules::tvm_ffi::Program& program, const char* name) {
  TVMFFIAny any;
  any.type_index = kTVMFFIFunction;
  any.zero_padding = 0;
  any.v_obj = reinterpret_cast<TVMFFIObject*>(take(program.function(name)));
  return ffi::detail::AnyUnsafe::MoveTVMFFIAnyToAny(&any).cast<ffi::Function>();
}

std::shared_ptr<const Calls> calls_with_number(ffi::Function function) {
  return calls([function = std::move(function)](int64_t count) {
    int64_t x = 0;
    for (int64_t i = 0; i < count; ++i) x = function(x).cast<int64_t>();
    expect_equal(x, count);
  });
}
std::shared_ptr<const Calls> calls_with_tensor(ffi::Function function) {
  return calls([function = std::move(function), x = make_tensor()](int64_t count) {
    for (int64_t i = 0; i < count; ++i) static_cast<void>(function(x).cast<ffi::Tensor>());
  });
}

void add_rows_out(const std::string& path, std::vector<TvmFfiRow>& rows) {
  const auto runtime = take(modules::tvm_ffi::Runtime::open({}));
  const Ref<modules::tvm_ffi::Program> program = take(modules::tvm_ffi::Program::make(
      runtime, {.modules = {functions_module(path.c_str(), "view"), bench_module()}, .device = "local-sync"}));
  const ffi::Function own_increment = ffi::Function::FromTyped([](int64_t x) { return x + 1; });
  const ffi::Function own_same = ffi::Function::FromTyped([](ffi::Tensor x) { return x; });
  const ffi::Function own_again = ffi::Function::FromTyped([](const ffi::Tensor& given) {
    DLManagedTensorVersioned* view = given.ToDLPackVersioned();
    return ffi::Tensor::FromDLPackVersioned(view);
  });
  const ffi::Function our_increment = function_of(*program, "increment"), our_same = function_of(*program, "same");
  const ffi::Function our_again = function_of(*program, "again");
  rows.push_back({"out_number", "out: a number", calls_with_number(own_increment), calls_with_number(our_increment)});
  rows.push_back(
      {"out_same", "out: a tensor, and the same back", calls_with_tensor(own_same), calls_with_tensor(our_same)});
  rows.push_back({"out_again", "out: a tensor, and another of its memory back", calls_with_tensor(own_again),
                  calls_with_tensor(our_again)});
  rows.push_back({"out_number_c", "out: a number; both by C", c_calls_with_number(own_increment),
                  c_calls_with_number(our_increment)});
  rows.push_back({"out_same_c", "out: a tensor, and the same back; both by C", c_calls_with_tensor(own_same),
                  c_calls_with_tensor(our_same)});
  rows.push_back({"out_again_c", "out: another tensor of its memory; both by C", c_calls_with_tensor(own_again),
                  c_calls_with_tensor(our_again)});
}

}  // namespace

std::vector<TvmFfiRow> tvm_ffi_rows(const std::string& functions) {
  std::vector<TvmFfiRow> rows;
  add_rows_in(functions, rows);
  add_rows_out(functions, rows);
  return rows;
}

}  // namespace baton::bench
