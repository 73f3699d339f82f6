#include "hal/drivers/cuda/execution_clock.hpp"

namespace baton::hal::drivers::cuda {
namespace {

// Spans that take() has not read are read when there are this many, so that events are used again.
constexpr size_t kUnreadMax = 256;

}  // namespace

ExecutionClock::~ExecutionClock() {
  const ContextScope scope = context_->enter();
  for (const Span& span : ended_) {
    spare_.push_back(span.before);
    spare_.push_back(span.behind);
  }
  for (CUevent event : spare_) context_->symbols().cuEventDestroy(event);
}

Result<CUevent> ExecutionClock::take_event() {
  CUevent event = nullptr;
  if (spare_.empty()) {
    const CUresult made = context_->symbols().cuEventCreate(&event, CU_EVENT_DEFAULT);
    if (made != CUDA_SUCCESS) return context_->status_of(made, "cuEventCreate");
  } else {
    event = spare_.back();
    spare_.pop_back();
  }
  return event;
}

Status ExecutionClock::begin(CUstream stream, Span& span) {
  {
    std::lock_guard lock(mutex_);
    if (ended_.size() >= kUnreadMax) read();
    BATON_TRY_ASSIGN(span.before, take_event());
    auto behind = take_event();
    if (!behind.has_value()) spare_.push_back(span.before);
    BATON_TRY_ASSIGN(span.behind, std::move(behind));
  }
  return context_->status_of(context_->symbols().cuEventRecord(span.before, stream), "cuEventRecord");
}

Status ExecutionClock::end(CUstream stream, const Span& span) {
  const CUresult recorded = context_->symbols().cuEventRecord(span.behind, stream);
  std::lock_guard lock(mutex_);
  if (recorded == CUDA_SUCCESS) {
    ended_.push_back(span);
    return {};
  }
  spare_.push_back(span.before);
  spare_.push_back(span.behind);
  return context_->status_of(recorded, "cuEventRecord");
}

void ExecutionClock::read() {
  const Symbols& symbols = context_->symbols();
  size_t left = 0;
  for (const Span& span : ended_) {
    if (symbols.cuEventQuery(span.behind) == CUDA_ERROR_NOT_READY) {
      ended_[left++] = span;
      continue;
    }
    // A device that was lost has no times to tell.
    float ms = 0;
    if (symbols.cuEventElapsedTime(&ms, span.before, span.behind) == CUDA_SUCCESS) {
      ++times_.executions;
      times_.total_ns += static_cast<int64_t>(static_cast<double>(ms) * 1e6);
    }
    spare_.push_back(span.before);
    spare_.push_back(span.behind);
  }
  ended_.resize(left);
}

ExecutionTimes ExecutionClock::take() {
  const ContextScope scope = context_->enter();
  std::lock_guard lock(mutex_);
  read();
  return std::exchange(times_, {});
}

}  // namespace baton::hal::drivers::cuda
