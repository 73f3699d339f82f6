// Queue::wait_for_stream and hold_stream: the order with streams of other libraries, by events, without the host.

#include "hal/drivers/cuda/queue.hpp"

namespace baton::hal::drivers::cuda {
namespace {

// A place on a stream of another library. What waits for it does so for good, so it need not outlive the call.
class OtherEvent {
 public:
  explicit OtherEvent(PrimaryContext& context) : context_(context) {}
  ~OtherEvent() {
    if (event_) context_.symbols().cuEventDestroy(event_);
  }
  OtherEvent(const OtherEvent&) = delete;
  OtherEvent& operator=(const OtherEvent&) = delete;

  Status record(CUstream stream) {
    const Symbols& symbols = context_.symbols();
    BATON_TRY(context_.status_of(symbols.cuEventCreate(&event_, CU_EVENT_DISABLE_TIMING), "cuEventCreate"));
    return context_.status_of(symbols.cuEventRecord(event_, stream), "cuEventRecord");
  }
  Status hold(Stream& stream) {
    std::lock_guard lock(stream.mutex());
    return context_.status_of(context_.symbols().cuStreamWaitEvent(stream.handle(), event_, 0), "cuStreamWaitEvent");
  }

 private:
  PrimaryContext& context_;
  CUevent event_ = nullptr;
};

CUstream handle_of(uint64_t stream) { return reinterpret_cast<CUstream>(static_cast<uintptr_t>(stream)); }

}  // namespace

// All streams wait, since any may be the next one, and so do mappings.
Status Queue::do_wait_for_stream(uint64_t stream) {
  PrimaryContext& context = *parts_.context;
  BATON_TRY(context.check());
  const ContextScope scope = context.enter();
  OtherEvent event(context);
  BATON_TRY_CONTEXT(event.record(handle_of(stream)), "while waiting for a stream of another library");
  for (const Ref<Stream>& own : parts_.streams) BATON_TRY(event.hold(*own));
  return event.hold(parts_.memory->transfer());
}

Result<std::vector<Ref<Mark>>> Queue::marks_so_far() {
  if (const uint64_t deferred = ledger_.deferred_count(); deferred != 0) {
    return failure(StatusCode::kFailedPrecondition, "A stream of another library is to wait for all of the queue; ",
                   deferred, " of its operations wait for what nobody has promised yet.");
  }
  std::vector<Ref<Mark>> marks;
  for (const Ref<Stream>& own : parts_.streams) {
    std::lock_guard lock(own->mutex());
    BATON_TRY_ASSIGN(Ref<Mark> mark, own->last());
    if (mark) marks.push_back(std::move(mark));
  }
  return marks;
}

Result<std::vector<Ref<Mark>>> Queue::marks_of(std::span<const SemaphorePoint> points) {
  std::vector<Ref<Mark>> marks;
  Status failed;
  for (const SemaphorePoint& point : points) {
    switch (look_at({&point, 1}, marks, failed)) {
      case Readiness::kReady: break;
      case Readiness::kFailed: return failed;
      case Readiness::kLater:
        return failure(StatusCode::kFailedPrecondition, "A stream of another library is to wait for ", point.value,
                       " of a semaphore; nobody has promised it on a CUDA device yet.");
    }
  }
  return marks;
}

Status Queue::do_hold_stream(uint64_t stream, std::span<const SemaphorePoint> points) {
  PrimaryContext& context = *parts_.context;
  BATON_TRY(context.check());
  const ContextScope scope = context.enter();
  BATON_TRY_ASSIGN(const std::vector<Ref<Mark>> marks, points.empty() ? marks_so_far() : marks_of(points));
  for (const Ref<Mark>& mark : marks) BATON_TRY(Stream::hold(handle_of(stream), *mark));
  return {};
}

}  // namespace baton::hal::drivers::cuda
