// A host app without a program: loads kernels that baton_cpu_kernels() built, and runs each once.
#include <cstdio>
#include <span>

#include "hal/allocator.hpp"
#include "hal/commands/barrier.hpp"
#include "hal/commands/dispatch.hpp"
#include "hal/drivers/register_drivers.hpp"
#include "hal/host_copy.hpp"
#include "hal/queue.hpp"
#include "hal/recording.hpp"
#include "numbers_elf.hpp"

namespace {

using namespace baton;

Status run() {
  hal::DriverRegistry drivers;
  BATON_TRY(hal::drivers::register_drivers(drivers));
  BATON_TRY_ASSIGN(const Ref<hal::Device> device, drivers.open("local-sync"));
  const hal::ExecutableVariant variants[] = {{"embedded-elf-x86_64", std::as_bytes(std::span(numbers_x86_64))},
                                             {"embedded-elf-aarch64", std::as_bytes(std::span(numbers_aarch64))}};
  BATON_TRY_ASSIGN(Ref<hal::Executable> code, device->make_executable({.name = "numbers", .variants = variants}));

  int32_t numbers[] = {1, 2, 3};
  const int64_t shape[] = {3};
  BATON_TRY_ASSIGN(const Ref<hal::BufferView> view,
                   hal::upload_view(*device, hal::ElementType::kI32, shape, std::as_bytes(std::span(numbers))));
  BATON_TRY_ASSIGN(const auto commands, device->make_command_buffer());
  const hal::Binding bindings[] = {hal::BufferRange(view->buffer())};
  for (uint32_t entry_point = 0; entry_point < code->entry_points().size(); ++entry_point) {
    BATON_TRY(commands->barrier({}));
    BATON_TRY(commands->dispatch(
        {.executable = code.get(), .entry_point = entry_point, .grid = {3, 1, 1}, .bindings = bindings}));
  }
  BATON_TRY_ASSIGN(const Ref<hal::Recording> recording, commands->finish());
  BATON_TRY_ASSIGN(const Ref<hal::Semaphore> done, device->make_semaphore());
  const hal::SemaphorePoint point(done, 1);
  BATON_TRY(device->queue().execute({.signals = {&point, 1}}, *recording));
  BATON_TRY(done->wait(1));
  BATON_TRY(hal::copy_to_host(*device, view->buffer(), std::as_writable_bytes(std::span(numbers))));
  std::printf("tripled and negated: %d %d %d\n", numbers[0], numbers[1], numbers[2]);
  return {};
}

}  // namespace

int main() {
  const baton::Status status = run();
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.to_string().c_str());
  return status.ok() ? 0 : 1;
}
