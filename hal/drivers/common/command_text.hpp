// Commands as text for people and as JSON for machines. Both follow from the fields that each command
// lists (fields.hpp).
//
//   2 dispatch entry_point=lib.mul grid=(8, 1, 1) constants=[64] bindings=[slot 0[0, end) read, buffer 1[0, 256) write]
//   {"command":"dispatch","index":2,"entry_point":"lib.mul","grid":[8,1,1],...}
#pragma once

#include <string>
#include <vector>

#include "hal/drivers/common/command_list.hpp"
#include "hal/drivers/common/resolve.hpp"

namespace baton::hal {

// Buffers have no names; they are numbered as they are first met.
// Threads: externally synchronized.
class BufferNumbers {
 public:
  uint32_t of(const Buffer* root);

 private:
  std::vector<const Buffer*> met_;
};

// How bindings and constants are printed: with a table, the memory that it brings is printed too, and its constants.
struct TextContext {
  BufferNumbers& numbers;
  std::span<const BufferRange> table = {};
  std::span<const uint32_t> constants = {};
};

// One command, without a line end.
void append_command_text(std::string& target, uint32_t index, CommandKind kind, const void* command,
                         const TextContext& context);
// The members of one command, without braces.
void append_command_json(std::string& target, uint32_t index, CommandKind kind, const void* command,
                         const TextContext& context);
template <typename Command>
void append_command_text(std::string& target, uint32_t index, const Command& command, const TextContext& context) {
  append_command_text(target, index, kind_of<Command>, &command, context);
}
template <typename Command>
void append_command_json(std::string& target, uint32_t index, const Command& command, const TextContext& context) {
  append_command_json(target, index, kind_of<Command>, &command, context);
}

// "buffer 1[0, 64)", "slot 0[16, end)".
void append_range_text(std::string& target, const ResolvedRange& range, BufferNumbers& numbers);

}  // namespace baton::hal
