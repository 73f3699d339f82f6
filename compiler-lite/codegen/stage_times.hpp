// StageTimes: how much processor time each stage of code generation took, added up over executables and levels.
//
// Threads: any may add. Where nobody wants to know, there is no object, and a timer without one does nothing.
#pragma once

#include <ctime>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace baton::compiler_lite::codegen {

class StageTimes {
 public:
  void add(const char* stage, double milliseconds);
  // A line for each stage in the order in which they came first, and one for all of them.
  std::string table() const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::pair<std::string, double>> stages_;
};

// Adds what its thread spends until it goes.
class StageTimer {
 public:
  StageTimer(StageTimes* times, const char* stage);
  ~StageTimer();
  StageTimer(const StageTimer&) = delete;
  StageTimer& operator=(const StageTimer&) = delete;

 private:
  StageTimes* times_;
  const char* stage_;
  timespec begin_ = {};
};

}  // namespace baton::compiler_lite::codegen
