// Hazards: commands of a recording that touch the same bytes with nothing that orders them.
//
// Between two barriers a driver may run commands in any order or at once. Two commands that overlap, where at least one
// writes, usually work on a CPU and fail now and then on a GPU. The null driver names them.
#pragma once

#include <string>
#include <vector>

#include "hal/drivers/common/command_list.hpp"
#include "hal/drivers/common/resolve.hpp"

namespace baton::hal {

enum class HazardKind : uint8_t { kReadAfterWrite, kWriteAfterRead, kWriteAfterWrite };

struct Hazard {
  HazardKind kind;
  uint32_t first_index;  // In the recording.
  CommandKind first;
  uint32_t second_index;
  CommandKind second;
  ResolvedRange range;  // The bytes that both touch.
};

// At most one hazard for each pair of commands. With a table, slots that name the same memory are found out.
std::vector<Hazard> find_hazards(const CommandList& commands, std::span<const BufferRange> table = {});

// "read_after_write".
std::string_view hazard_name(HazardKind kind);

}  // namespace baton::hal
