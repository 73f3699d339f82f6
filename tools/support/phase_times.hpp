// --print_statistics: how long each phase of a tool took.
#pragma once

#include <chrono>
#include <vector>

namespace baton::tools {

class PhaseTimes {
 public:
  // Ends the phase before.
  void begin(const char* phase);
  // A table on standard error; ends the last phase.
  void print();

 private:
  using Clock = std::chrono::steady_clock;
  struct Phase {
    const char* name;
    Clock::time_point begin;
  };
  std::vector<Phase> phases_;
};

}  // namespace baton::tools
