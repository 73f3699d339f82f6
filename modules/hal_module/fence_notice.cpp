#include "modules/hal_module/fence_notice.hpp"

#include <atomic>
#include <memory>

namespace baton::modules {
namespace {

// Waits for each point; the last one calls. It does not share the fence: a semaphore that goes tells its waiters.
class Notice {
 public:
  Notice(size_t points, void (*call)(void*, const Status&), void* data)
      : left_(points + 1), call_(call), data_(data), waiters_(std::make_unique<Waiter[]>(points)) {}

  void wait_for(std::span<const hal::SemaphorePoint> points) {
    for (size_t i = 0; i < points.size(); ++i) {
      waiters_[i].notice = this;
      points[i].semaphore->notify(points[i].value, waiters_[i]);
    }
    arrive({});  // For the one that was counted above: no point calls before all are asked.
  }

 private:
  struct Waiter final : hal::SemaphoreWaiter {
    void reached(const Status& status) override { notice->arrive(status); }
    Notice* notice = nullptr;
  };

  void arrive(const Status& status) {
    if (!status.ok() && !failed_.exchange(true)) failure_ = status.clone();
    if (left_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    const std::unique_ptr<Notice> last(this);
    call_(data_, failure_);
  }

  std::atomic<size_t> left_;
  std::atomic<bool> failed_{false};
  Status failure_;  // Written by the first failure, read by the last to arrive.
  void (*call_)(void*, const Status&);
  void* data_;
  std::unique_ptr<Waiter[]> waiters_;
};

}  // namespace

void notify(const hal::Fence* fence, void (*call)(void* data, const Status& status), void* data) {
  const auto points = fence ? fence->points() : std::span<const hal::SemaphorePoint>();
  if (points.empty()) return call(data, {});
  (new Notice(points.size(), call, data))->wait_for(points);
}

}  // namespace baton::modules
