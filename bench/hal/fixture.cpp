#include "bench/hal/fixture.hpp"

#include <cstdio>
#include <cstdlib>

#include "hal/driver_registry.hpp"
#include "hal/drivers/register_drivers.hpp"
#include "hal/timeline_observer.hpp"

namespace baton::bench {
namespace {

int do_nothing(const baton_executable_environment*, const baton_dispatch_state*, const baton_workgroup_state*) {
  return 0;
}

int square_elements(const baton_executable_environment*, const baton_dispatch_state* dispatch,
                    const baton_workgroup_state* workgroup) {
  constexpr size_t kElements = 16 * 1024;
  const size_t begin = workgroup->id_x * kElements;
  const float* source = static_cast<const float*>(dispatch->bindings[0]) + begin;
  float* target = static_cast<float*>(dispatch->bindings[1]) + begin;
  for (size_t i = 0; i < kElements; ++i) target[i] = source[i] * source[i] + 1.0f;
  return 0;
}

const baton_executable_library* query(uint32_t, const baton_executable_environment*) {
  static const baton_kernel kernels[] = {do_nothing, square_elements};
  static const char* const names[] = {"nothing", "square"};
  static const baton_kernel_attributes attributes[] = {{1, 2, 1, 1, 1, 0}, {0, 2, 1, 1, 1, 0}};
  static const baton_executable_library library = {
      sizeof(library), BATON_EXECUTABLE_LIBRARY_VERSION, "bench", 0, 0, 0, 2, nullptr, kernels, names, attributes};
  return &library;
}

}  // namespace

void give_up(const Status& status) {
  std::fprintf(stderr, "%s\n", status.to_string().c_str());
  std::exit(1);
}

Fixture::Fixture(std::string_view device_uri, Timeline* timeline) {
  hal::drivers::DriverOptions options;
  options.local.libraries.push_back({"bench", query});
  hal::DriverRegistry registry;
  expect(hal::drivers::register_drivers(registry, std::move(options)));
  device = expect(registry.open(device_uri));
  if (timeline) device = hal::observe(std::move(device), *timeline);
  constexpr std::string_view name = "bench";
  const hal::EntryPoint expected[] = {{.name = "nothing", .constant_count = 1, .binding_count = 2},
                                      {.name = "square", .binding_count = 2}};
  const hal::ExecutableVariant variant{"static-library", std::as_bytes(std::span(name))};
  executable = expect(device->make_executable({.name = "bench", .variants = {&variant, 1}, .expected = expected}));
  source = expect(device->allocator().allocate({.length = 4096}));
  target = expect(device->allocator().allocate({.length = 4096}));
  done = expect(device->make_semaphore());
}

void Fixture::record_dispatch(hal::CommandBuffer& commands, std::span<const hal::Binding> bindings,
                              uint32_t workgroups) const {
  static constexpr uint32_t constant = 1;
  expect(commands.dispatch({.executable = executable.get(),
                            .entry_point = kDoNothing,
                            .grid = {workgroups, 1, 1},
                            .constants = {&constant, 1},
                            .bindings = bindings}));
}

void Fixture::record_pairs(uint64_t count, bool validate) const {
  const hal::Binding bindings[] = {hal::Binding(hal::Slot{0}, 0, 64, hal::Access::kRead),
                                   hal::Binding(hal::Slot{1}, 0, 64, hal::Access::kWrite)};
  auto commands = expect(device->make_command_buffer({.name = "bench", .slot_count = 2, .validate = validate}));
  for (uint64_t i = 0; i < count; ++i) {
    record_dispatch(*commands, bindings);
    expect(commands->barrier({}));
  }
  expect(commands->finish());
}

Ref<hal::Recording> Fixture::record(uint64_t dispatches, uint32_t slots, uint32_t workgroups) const {
  auto commands = expect(device->make_command_buffer({.name = "bench", .slot_count = slots}));
  for (uint64_t i = 0; i < dispatches; ++i) {
    const hal::Binding fixed[] = {{source, hal::Access::kRead}, {target, hal::Access::kWrite}};
    const hal::Slot slot{slots ? static_cast<uint32_t>(i) % slots : 0};
    const hal::Binding patched[] = {hal::Binding(slot, 0, 64, hal::Access::kRead), {target, hal::Access::kWrite}};
    record_dispatch(*commands, slots ? patched : fixed, workgroups);
    expect(commands->barrier({}));
  }
  return expect(commands->finish());
}

void Fixture::execute(hal::Recording& recording, const hal::BindingTable& table) {
  const hal::SemaphorePoint signal(done, ++point);
  expect(device->queue().execute({.signals = {&signal, 1}}, recording, table));
}

void Fixture::execute_and_wait(hal::Recording& recording, const hal::BindingTable& table) {
  execute(recording, table);
  expect(done->wait(point));
}

}  // namespace baton::bench
