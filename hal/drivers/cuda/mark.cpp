#include "hal/drivers/cuda/mark.hpp"

#include "hal/drivers/cuda/recording.hpp"
#include "hal/drivers/cuda/stream.hpp"

namespace baton::hal::drivers::cuda {

void Mark::release() {
  if (count_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  // What is let go of may be the last reference to a device, so nothing of the stream is touched meanwhile. Mostly the
  // stream has let go of it already (Stream::reap).
  if (kept_count() != 0 || !possessions_.dependencies.empty() || possessions_.table) {
    const Possessions possessions = std::exchange(possessions_, {});
  }
  const Ref<Stream> stream = std::move(stream_);
  stream->take_back(this);
}

Mark::Possessions Mark::take_possessions() {
  std::lock_guard lock(mutex_);
  return std::exchange(possessions_, {});
}

bool Mark::known_done() const { return stream_->reached(ordinal_) && ordinal_ != 0; }

bool Mark::done() { return stream_->reached(ordinal_) || stream_->ask(*this); }

bool Mark::has_failed() const {
  std::lock_guard lock(mutex_);
  return !failure_.ok();
}

void Mark::fail(const Status& status) {
  std::lock_guard lock(mutex_);
  if (failure_.ok()) failure_ = status.clone();
  may_fail_.store(true, std::memory_order_release);
}

Status Mark::outcome() {
  const bool come_by = stream_->reached(ordinal_);
  if (come_by && !may_fail_.load(std::memory_order_acquire)) return {};
  std::lock_guard lock(mutex_);
  if (!come_by && failure_.ok()) {  // Done, but not come by: the device is lost.
    failure_ = stream_->context().check();
    const auto name = [&](const hal::Recording& recording) {
      failure_ = std::move(failure_).with_context(static_cast<const Recording&>(recording).description());
    };
    if (possessions_.recording) name(*possessions_.recording);
    for (const Ref<hal::Recording>& recording : possessions_.recordings) name(*recording);
  }
  for (const Ref<Mark>& dependency : possessions_.dependencies) {
    if (!failure_.ok()) break;
    if (dependency->done()) failure_ = dependency->outcome();
  }
  return failure_.clone();
}

}  // namespace baton::hal::drivers::cuda
