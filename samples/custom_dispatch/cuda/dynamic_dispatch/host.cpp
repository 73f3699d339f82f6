// A host that has kernels of its own for a GPU: it registers them by name, in a form that the device takes, and a
// program asks for them: example.bvm [--device=cuda].
#include <cstdio>
#include <cstring>
#include <string_view>

#include "hal/drivers/register_drivers.hpp"
#include "hal/executable_registry.hpp"
#include "hal/host_copy.hpp"
#include "kernels_ptx.hpp"
#include "modules/hal_module/hal_module.hpp"
#include "modules/hal_module/objects.hpp"
#include "vm/bytecode_module.hpp"
#include "vm/context.hpp"
#include "vm/invocation.hpp"

namespace {

using namespace baton;

vm::TypedValue as_value(baton_object* object) { return reinterpret_cast<vm::Object*>(object); }

// The registry keeps views: what is registered lives as long as the app does.
Result<Ref<vm::Context>> make_context(const char* path, const Ref<hal::Device>& device) {
  auto executables = std::make_shared<hal::ExecutableRegistry>();
  BATON_TRY(executables->add("acme", "cuda-ptx-compute_75", std::as_bytes(std::span(kernels_sm_75))));
  BATON_TRY_ASSIGN(Ref<const vm::Module> hal,
                   modules::make_hal_module({.devices = {device}, .executables = std::move(executables)}));
  BATON_TRY_ASSIGN(Ref<vm::BytecodeModule> program, vm::BytecodeModule::load_file(path));
  const Ref<const vm::Module> modules[] = {hal, program};
  BATON_TRY_ASSIGN(Ref<vm::Program> linked, vm::Program::link(modules));
  return vm::Context::make(linked);
}

Status run(const char* path, std::string_view uri) {
  hal::DriverRegistry drivers;
  BATON_TRY(hal::drivers::register_drivers(drivers));
  BATON_TRY_ASSIGN(const Ref<hal::Device> device, drivers.open(uri));
  BATON_TRY_ASSIGN(const Ref<vm::Context> context, make_context(path, device));
  BATON_TRY_ASSIGN(const vm::ExportedFunction function, context->find_function("mixed_invocation"));
  vm::Invocation invocation(context);

  float a[] = {1, 2, 3, 4}, b[] = {10, 20, 30, 40};
  const int64_t shape[] = {4};
  const auto upload = [&](std::span<const float> numbers) {
    return hal::upload_view(*device, hal::ElementType::kF32, shape, std::as_bytes(numbers));
  };
  BATON_TRY_ASSIGN(Ref<hal::BufferView> a_view, upload(a));
  BATON_TRY_ASSIGN(Ref<hal::BufferView> b_view, upload(b));
  const auto first = modules::wrap(std::move(a_view)), second = modules::wrap(std::move(b_view));
  const vm::TypedValue arguments[] = {as_value(first.get()), as_value(second.get())};
  vm::Value results[1];
  BATON_TRY(invocation.invoke(function, arguments, results));

  const auto result = sdk::Ref<baton_object>::adopt(reinterpret_cast<baton_object*>(results[0].ref));
  const auto* sum = modules::unwrap<hal::BufferView>(result.get());
  BATON_TRY(hal::copy_to_host(*device, sum->buffer(), std::as_writable_bytes(std::span(a))));
  std::printf("a * b + b on %s: %g %g %g %g\n", device->name().c_str(), a[0], a[1], a[2], a[3]);
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "usage: cuda-dynamic-dispatch example.bvm [--device=cuda]\n"), 2;
  const bool chosen = argc == 3 && std::strncmp(argv[2], "--device=", 9) == 0;
  const Status status = run(argv[1], chosen ? argv[2] + 9 : "cuda");
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.to_string().c_str());
  return status.ok() ? 0 : 1;
}
