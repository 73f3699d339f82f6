#include "compiler-lite/codegen/stage_times.hpp"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

namespace baton::compiler_lite::codegen {

void StageTimes::add(const char* stage, double milliseconds) {
  const std::lock_guard lock(mutex_);
  for (auto& [name, sum] : stages_) {
    if (name != stage) continue;
    sum += milliseconds;
    return;
  }
  stages_.emplace_back(stage, milliseconds);
}

std::string StageTimes::table() const {
  const std::lock_guard lock(mutex_);
  std::string text;
  llvm::raw_string_ostream stream(text);
  double sum = 0;
  stream << "Code generation, processor time of all threads:\n";
  for (const auto& [name, milliseconds] : stages_) {
    stream << llvm::format("%9.1f ms  ", milliseconds) << name << "\n";
    sum += milliseconds;
  }
  stream << llvm::format("%9.1f ms  all of it\n", sum);
  return text;
}

StageTimer::StageTimer(StageTimes* times, const char* stage) : times_(times), stage_(stage) {
  if (times_) clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin_);
}

StageTimer::~StageTimer() {
  if (!times_) return;
  timespec end = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
  constexpr double kMillisecond = 1e-3, kNanosecond = 1e6;
  times_->add(stage_, static_cast<double>(end.tv_sec - begin_.tv_sec) / kMillisecond +
                          static_cast<double>(end.tv_nsec - begin_.tv_nsec) / kNanosecond);
}

}  // namespace baton::compiler_lite::codegen
