// What dispatch and dispatch_indirect share: a kernel with its bindings and constants, precomputed as far as possible.
#pragma once

#include "hal/commands/checks.hpp"
#include "hal/drivers/local/executable.hpp"
#include "hal/drivers/local/recording.hpp"

namespace baton::hal::drivers::local {

// A recording of many launches is read from memory each time that it is executed: each byte here is paid for.
struct Launch {
  const Executable* executable;
  baton_kernel kernel;
  // Complete but for what differs between executions; when nothing does (`fixed`), kernels get it as it is.
  baton_dispatch_state state;
  uint32_t entry_point;
  uint32_t local_memory_bytes;
  const RecordedBinding* recorded_bindings;  // As many as the state has; null when all is fixed.
  std::span<const ConstantSlot> constant_slots;
  bool fixed;
  const CallPlace* place = nullptr;  // In the program that recorded it, where crashes are named.

  std::span<const RecordedBinding> bindings() const { return {recorded_bindings, state.binding_count}; }
};

// Fills `launch` where it stands. `grid` may be null: then the state gets its counts when it runs.
void make_launch(Arena& arena, const LaunchShape& shape, const uint32_t* grid, Launch& launch);

// Each runs the workgroups `tiles` of a launch, counted with x fastest: of one that is fixed; of one that is not, with what
// differs between executions filled in; of either kind, with a grid that the launch doesn't know.
Status run_fixed(const Launch& launch, const Execution& execution, Worker& worker, TileRange tiles);
Status fill_and_run(const Launch& launch, const Execution& execution, Worker& worker, TileRange tiles);
Status run_with_grid(const Launch& launch, const Execution& execution, Worker& worker, TileRange tiles,
                     const uint32_t* grid);

}  // namespace baton::hal::drivers::local
