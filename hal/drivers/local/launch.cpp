#include "hal/drivers/local/launch.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "hal/drivers/common/access_checks.hpp"
#include "hal/drivers/local/dispatch_times.hpp"
#include "hal/drivers/local/kernel_crash.hpp"
#include "hal/drivers/local/work_watch.hpp"
#include "hal/drivers/local/worker.hpp"

namespace baton::hal::drivers::local {
namespace {

// Checked against the device's limits by check_launch().
constexpr size_t kBindingsMax = 64;
constexpr size_t kConstantsMax = 64;
static_assert(kBindingsMax >= DeviceLimits{}.bindings_max && kConstantsMax >= DeviceLimits{}.constants_max);

void set_grid(baton_dispatch_state& state, const uint32_t* grid) {
  state.workgroup_count_x = grid[0];
  state.workgroup_count_y = grid[1];
  state.workgroup_count_z = grid[2];
}

// Pointers that no table can change, for kernels to use in place.
void fix_bindings(Arena& arena, baton_dispatch_state& state, std::span<const Binding> bindings) {
  void** pointers = arena.allocate_array<void*>(bindings.size());
  size_t* lengths = arena.allocate_array<size_t>(bindings.size());
  for (size_t i = 0; i < bindings.size(); ++i) {
    pointers[i] = host_data(*bindings[i].buffer) + bindings[i].offset;
    lengths[i] = bindings[i].length;
  }
  state.bindings = pointers;
  state.binding_lengths = lengths;
}

bool names_slots(const LaunchShape& shape) {
  bool slots = !shape.constant_slots.empty();
  for (const Binding& binding : shape.bindings) slots |= binding.is_slot();
  return slots;
}

Status access_refused(const Launch& launch, const baton_workgroup_state& workgroup, const baton_failed_check& failed,
                      const baton_access_check& check) {
  return hal::access_refused({.kernel = launch.executable->entry_points()[launch.entry_point].name,
                              .executable = launch.executable->name(),
                              .access = check.access,
                              .line = check.line ? check.line : "",
                              .failed = {failed.number,
                                         {workgroup.id_x, workgroup.id_y, workgroup.id_z},
                                         static_cast<int64_t>(failed.offset),
                                         failed.size}});
}

[[gnu::cold]] Status kernel_failed(const Launch& launch, const baton_workgroup_state& workgroup, int result) {
  const baton_failed_check failed = std::exchange(*workgroup.failed_check, {});
  if (const baton_access_check* check = launch.executable->access_check(failed.number)) {
    return access_refused(launch, workgroup, failed, *check);
  }
  return failure(StatusCode::kInternal, "Kernel '", launch.executable->entry_points()[launch.entry_point].name,
                 "' of executable '", launch.executable->name(), "' returned ", result, " in workgroup (",
                 workgroup.id_x, ", ", workgroup.id_y, ", ", workgroup.id_z, ").");
}

Status kernel_stopped(const Launch& launch, const baton_dispatch_state& state, const baton_workgroup_state& workgroup,
                      const WorkWatch& watch) {
  return watch.stopped("Kernel '", launch.executable->entry_points()[launch.entry_point].name, "' of executable '",
                       launch.executable->name(), "' was stopped before workgroup (", workgroup.id_x, ", ",
                       workgroup.id_y, ", ", workgroup.id_z, ") of (", state.workgroup_count_x, ", ",
                       state.workgroup_count_y, ", ", state.workgroup_count_z, ")");
}

// While it lives, a crash of the worker's thread is the kernel's.
class RunningScope {
 public:
  RunningScope(Worker& worker, const RunningKernel& running) : worker_(worker) { worker.running = &running; }
  ~RunningScope() { worker_.running = nullptr; }
  RunningScope(const RunningScope&) = delete;
  RunningScope& operator=(const RunningScope&) = delete;

 private:
  Worker& worker_;
};

// `limits` are the call's, one or none.
template <typename... Limits>
[[gnu::always_inline]] inline Status run_tiles(const Launch& launch, const baton_dispatch_state& state, Worker& worker,
                                               TileRange tiles, Limits*... limits) {
  RunningKernel running = {{}, &launch, &state};
  baton_workgroup_state& workgroup = running.workgroup;
  workgroup.failed_check = &worker.failed_check;
  workgroup.processor_id = worker.processor_id();
  workgroup.local_memory_size = launch.local_memory_bytes;
  workgroup.local_memory = launch.local_memory_bytes ? worker.local_memory(launch.local_memory_bytes) : nullptr;
  const baton_executable_environment& environment = launch.executable->environment();
  if (tiles.begin != 0) {  // Divisions only for workers that join in the middle.
    const uint64_t row = tiles.begin / state.workgroup_count_x;
    workgroup.id_x = static_cast<uint32_t>(tiles.begin % state.workgroup_count_x);
    workgroup.id_y = static_cast<uint32_t>(row % state.workgroup_count_y);
    workgroup.id_z = static_cast<uint32_t>(row / state.workgroup_count_y);
  }
  WorkLimits* const given[] = {limits..., nullptr};
  WorkWatch watch(given[0]);
  const RunningScope scope(worker, running);
  for (uint64_t tile = tiles.begin; tile < tiles.end; ++tile) {
    if (sizeof...(limits) && watch.must_stop()) [[unlikely]]
      return kernel_stopped(launch, state, workgroup, watch);
    if (const int result = launch.kernel(&environment, &state, &workgroup); result != 0) [[unlikely]]
      return kernel_failed(launch, workgroup, result);
    if (++workgroup.id_x < state.workgroup_count_x) continue;
    workgroup.id_x = 0;
    if (++workgroup.id_y < state.workgroup_count_y) continue;
    workgroup.id_y = 0;
    ++workgroup.id_z;
  }
  return {};
}

// For observers that take times, and for work with limits.
[[gnu::noinline]] Status run_watched(const Launch& launch, const baton_dispatch_state& state, Worker& worker,
                                     TileRange tiles, WorkLimits* limits) {
  DispatchTimes* const times = launch.executable->dispatch_times();
  if (!times) return run_tiles(launch, state, worker, tiles, limits);
  const auto begin = std::chrono::steady_clock::now();
  Status status = run_tiles(launch, state, worker, tiles, limits);
  const std::chrono::nanoseconds busy = std::chrono::steady_clock::now() - begin;
  times->add(launch.executable->name(), launch.executable->entry_points()[launch.entry_point].name,
             static_cast<uint64_t>(busy.count()), tiles.begin == 0);
  return status;
}

// Inlined into whoever runs launches: saving registers once and not twice for each of them is a tenth of an empty one.
[[gnu::always_inline]] inline Status run_kernel(const Launch& launch, const baton_dispatch_state& state, Worker& worker,
                                                TileRange tiles, const Execution& execution) {
  if (reinterpret_cast<uintptr_t>(launch.executable->dispatch_times()) |
      reinterpret_cast<uintptr_t>(execution.limits))  // One branch for both.
    return run_watched(launch, state, worker, tiles, execution.limits);
  return run_tiles(launch, state, worker, tiles);
}

// What an execution completes, on the stack of a thread that runs the launch. Touched only as far as it is filled.
struct Filled {
  baton_dispatch_state state;
  void* pointers[kBindingsMax];
  size_t lengths[kBindingsMax];
  uint32_t constants[kConstantsMax];
};

// For a launch that is not fixed.
[[gnu::always_inline]] inline void fill(const Launch& launch, const Execution& execution, Filled& filled) {
  filled.state = launch.state;
  const std::span<const RecordedBinding> bindings = launch.bindings();
  for (size_t i = 0; i < bindings.size(); ++i) {
    filled.pointers[i] = bindings[i].data(execution);
    filled.lengths[i] = bindings[i].size(execution);
  }
  filled.state.bindings = filled.pointers;
  filled.state.binding_lengths = filled.lengths;
  if (launch.constant_slots.empty()) return;
  std::copy_n(launch.state.constants, launch.state.constant_count, filled.constants);
  for (const ConstantSlot& slot : launch.constant_slots)
    filled.constants[slot.constant] = execution.constants[slot.slot];
  filled.state.constants = filled.constants;
}

}  // namespace

void make_launch(Arena& arena, const LaunchShape& shape, const uint32_t* grid, Launch& launch) {
  const auto& executable = static_cast<const Executable&>(*shape.executable);
  const EntryPoint& entry = executable.entry_points()[shape.entry_point];
  launch.executable = &executable;
  launch.kernel = executable.kernel(shape.entry_point);
  launch.entry_point = shape.entry_point;
  launch.local_memory_bytes = entry.local_memory_bytes;
  launch.fixed = !names_slots(shape);
  baton_dispatch_state& state = launch.state;
  state.workgroup_size_x = entry.workgroup_size[0];
  state.workgroup_size_y = entry.workgroup_size[1];
  state.workgroup_size_z = entry.workgroup_size[2];
  state.constant_count = static_cast<uint16_t>(shape.constants.size());
  state.binding_count = static_cast<uint16_t>(shape.bindings.size());
  state.max_concurrency = executable.max_concurrency();
  state.constants = arena.copy(shape.constants).data();
  if (grid) set_grid(state, grid);
  if (launch.fixed) return fix_bindings(arena, state, shape.bindings);
  launch.recorded_bindings = record_bindings(arena, shape.bindings).data();
  launch.constant_slots = arena.copy(shape.constant_slots);
}

Status run_fixed(const Launch& launch, const Execution& execution, Worker& worker, TileRange tiles) {
  return run_kernel(launch, launch.state, worker, tiles, execution);
}

Status fill_and_run(const Launch& launch, const Execution& execution, Worker& worker, TileRange tiles) {
  Filled filled;
  fill(launch, execution, filled);
  return run_kernel(launch, filled.state, worker, tiles, execution);
}

Status run_with_grid(const Launch& launch, const Execution& execution, Worker& worker, TileRange tiles,
                     const uint32_t* grid) {
  Filled filled;
  if (launch.fixed) {
    filled.state = launch.state;
  } else {
    fill(launch, execution, filled);
  }
  set_grid(filled.state, grid);
  return run_kernel(launch, filled.state, worker, tiles, execution);
}

}  // namespace baton::hal::drivers::local
