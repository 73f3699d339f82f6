// The phases of a tool's run: what a person at a terminal is told while one takes long, and --print_statistics
// afterwards.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hal/device.hpp"
#include "hal/queue.hpp"
#include "tools/support/progress.hpp"

namespace baton::tools {

class PhaseTimes {
 public:
  explicit PhaseTimes(std::string_view program);

  // Ends the phase before. Empty: what comes is quick, and counts as nothing.
  void begin(std::string phase);
  // From now on devices measure the time of their work.
  void time_devices(std::span<const Ref<hal::Device>> devices);
  // Whose memory and times are told; called while they are still there.
  void note_devices(std::span<const Ref<hal::Device>> devices);
  // A table on standard error; ends the last phase.
  void print();

 private:
  using Clock = std::chrono::steady_clock;
  struct Phase {
    std::string name;
    Clock::time_point begin;
  };
  std::vector<Phase> phases_;
  struct Memory {
    std::string name;
    uint64_t peak_bytes;
  };
  std::vector<Memory> memory_;
  struct Work {
    std::string name;
    hal::ExecutionTimes times;
  };
  std::vector<Work> work_;
  Progress progress_;
};

}  // namespace baton::tools
