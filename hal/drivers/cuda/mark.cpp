#include "hal/drivers/cuda/mark.hpp"

#include "hal/drivers/cuda/recording.hpp"
#include "hal/drivers/cuda/stream.hpp"

namespace baton::hal::drivers::cuda {

void Mark::release() {
  if (count_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  // What is let go of may be the last reference to a device, so nothing of the stream is touched meanwhile. Mostly the
  // stream has let go of it already (Stream::reap).
  if (possessions_.recording || possessions_.table || possessions_.more) {
    const Possessions possessions = std::exchange(possessions_, {});
  }
  const Ref<Stream> stream = std::exchange(stream_, nullptr);
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

// Done, but not come by: the device is lost, and everything with it that was named.
Status Mark::find_failure(const Possessions& possessions) const {
  Status status = stream_->context().check();
  const auto name = [&](const hal::Recording& recording) {
    status = std::move(status).with_context(static_cast<const Recording&>(recording).description());
  };
  if (possessions.recording) name(*possessions.recording);
  if (!possessions.more) return status;
  for (const Ref<hal::Recording>& recording : possessions.more->recordings) name(*recording);
  return status;
}

Status Mark::find_channel_failure(const Possessions& possessions) {
  const auto failure_of = [](const hal::Recording& recording) {
    return static_cast<const Recording&>(recording).channel_failure();
  };
  if (possessions.recording) BATON_TRY(failure_of(*possessions.recording));
  if (!possessions.more) return {};
  for (const Ref<hal::Recording>& recording : possessions.more->recordings) BATON_TRY(failure_of(*recording));
  return {};
}

// Closed just now: `self` is this mark.
void Mark::watch_channels(const Ref<Mark>& self) const {
  const auto watch = [&](const hal::Recording& recording) {
    static_cast<const Recording&>(recording).watch_channels(self);
  };
  if (possessions_.recording) watch(*possessions_.recording);
  if (!possessions_.more) return;
  for (const Ref<hal::Recording>& recording : possessions_.more->recordings) watch(*recording);
}

Status Mark::outcome() {
  const bool come_by = stream_->reached(ordinal_);
  if (come_by && !may_fail_.load(std::memory_order_acquire)) return {};
  std::lock_guard lock(mutex_);
  if (!come_by && failure_.ok()) failure_ = find_failure(possessions_);
  if (failure_.ok()) failure_ = find_channel_failure(possessions_);
  const auto take_over = [&](const Ref<Mark>& dependency) {
    if (failure_.ok() && dependency->done()) failure_ = dependency->outcome();
  };
  if (const More* more = possessions_.more.get(); more && more->first_dependency) {
    take_over(more->first_dependency);
    for (const Ref<Mark>& dependency : more->dependencies) take_over(dependency);
  }
  return failure_.clone();
}

}  // namespace baton::hal::drivers::cuda
