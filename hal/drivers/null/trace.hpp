// Trace: what the null device would have done, line by line, as text or as JSON lines.
//
//   execute "prefill" #0 3 commands
//     0 fill_buffer target=buffer 0[0, 64) pattern=0 pattern_bytes=4 | writes 64
//     1 dispatch entry_point=lib.mul grid=(8, 1, 1) ... | 8 workgroups, reads <= 64, writes <= 32
//   ! read_after_write: dispatch 1 reads buffer 0[0, 64) that fill_buffer 0 writes, with no barrier between them
//
// Threads: internally synchronized; one execution's lines stay together.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "hal/drivers/common/command_text.hpp"
#include "hal/drivers/null/driver.hpp"

namespace baton::hal::drivers::null {

class Trace {
 public:
  explicit Trace(TraceOptions options) : options_(std::move(options)) {}

  void execute(const CommandList& commands, const BindingTable& table);
  void host_call(std::string_view name);

 private:
  void execute_text(const CommandList& commands, const BindingTable& table);
  void execute_json(const CommandList& commands, const BindingTable& table);

  TraceOptions options_;
  std::mutex mutex_;
  BufferNumbers numbers_;
  uint64_t execution_count_ = 0;
};

}  // namespace baton::hal::drivers::null
