// Work: how much a command would move and launch. The null driver's column: one file per verb says it for its command.
#pragma once

#include <cstdint>
#include <span>

#include "hal/commands/all.hpp"
#include "hal/drivers/common/resolve.hpp"

namespace baton::hal::drivers::null {

struct Work {
  uint64_t bytes_read = 0;
  uint64_t bytes_written = 0;
  uint64_t workgroups = 0;
  bool bounded = true;  // False: the bytes are those that may be touched; only the kernel knows how many are.

  Work& operator+=(const Work& other) {
    bytes_read += other.bytes_read;
    bytes_written += other.bytes_written;
    workgroups += other.workgroups;
    bounded &= other.bounded;
    return *this;
  }
};

using Table = std::span<const BufferRange>;

#define COMMAND(Struct, verb, category) Work work_of(const commands::Struct& command, Table table);
#include "hal/commands/commands.inc"
#undef COMMAND

// What a list of bindings may touch at most.
Work work_of_bindings(std::span<const Binding> bindings, Table table);

}  // namespace baton::hal::drivers::null
