#include "hal/drivers/vulkan/timeline.hpp"

#include <algorithm>
#include <chrono>

#include "hal/drivers/common/spin.hpp"

namespace baton::hal::drivers::vulkan {
namespace {

// The thread looks up from a wait this often, for the end of the device.
constexpr int64_t kLookUpNs = 50'000'000;
// How often the thread looks for work of which it was not told, and after how many looks in vain it sleeps and the
// tables go.
constexpr std::chrono::milliseconds kPause{1};
constexpr int kPausesMax = 10;
// How long a waiter waits for Vulkan before it looks whether another thread signalled what it waits for.
constexpr int64_t kHelpNs = 1'000'000;
// How long it looks at the semaphore before that: vkWaitSemaphores may come back a quarter of a millisecond late. A device
// that computes on the processors needs them for other things.
constexpr int64_t kLookNs = 1'000'000;
// More tables than this are not kept: the oldest goes.
constexpr size_t kTablesMax = 64;

}  // namespace

Result<Ref<Timeline>> Timeline::make(Ref<Context> context) {
  auto timeline = make_ref<Timeline>(std::move(context));
  VkSemaphoreTypeCreateInfo type{};
  type.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO;
  type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
  VkSemaphoreCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO;
  info.pNext = &type;
  const Context& made = *timeline->context_;
  BATON_VULKAN_TRY(made.symbols(), vkCreateSemaphore, made.handle(), &info, nullptr, &timeline->semaphore_);
  return timeline;
}

Timeline::~Timeline() {
  if (!semaphore_) return;
  context_->symbols().vkDeviceWaitIdle(context_->handle());
  context_->symbols().vkDestroySemaphore(context_->handle(), semaphore_, nullptr);
}

Result<uint64_t> Timeline::submit(VkCommandBuffer commands) {
  std::unique_ptr<Completion> none;
  return submit({&commands, 1}, none, false);
}

Result<uint64_t> Timeline::submit(std::span<const VkCommandBuffer> commands, std::unique_ptr<Completion>& completion,
                                  bool soon) {
  const std::lock_guard lock(mutex_);
  const uint64_t serial = last_ + 1;
  VkTimelineSemaphoreSubmitInfo timeline{};
  timeline.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO;
  timeline.signalSemaphoreValueCount = 1;
  timeline.pSignalSemaphoreValues = &serial;
  VkSubmitInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
  info.pNext = &timeline;
  info.commandBufferCount = static_cast<uint32_t>(commands.size());
  info.pCommandBuffers = commands.data();
  info.signalSemaphoreCount = 1;
  info.pSignalSemaphores = &semaphore_;
  {
    const std::lock_guard queue_lock(queue_mutex_);
    BATON_TRY(context_->check());
    const VkResult submitted = context_->symbols().vkQueueSubmit(context_->queue(), 1, &info, VK_NULL_HANDLE);
    BATON_TRY(context_->status_of(submitted, "vkQueueSubmit"));
  }
  last_ = serial;
  if (completion) add(serial, std::move(completion), soon);
  return serial;
}

void Timeline::attach(uint64_t serial, std::unique_ptr<Completion> completion) {
  const std::lock_guard lock(mutex_);
  add(serial, std::move(completion), true);
}

// The lock is held.
void Timeline::add(uint64_t serial, std::unique_ptr<Completion> completion, bool soon) {
  auto place = in_flight_.end();
  while (place != in_flight_.begin() && std::prev(place)->serial > serial) --place;
  in_flight_.insert(place, {serial, std::move(completion)});
  if (!thread_.joinable() && !stopping_) {
    thread_ = start_device_thread(Ref<Timeline>(this));
  }
  if (soon || asleep_) changed_.notify_all();
}

void Timeline::wake() {
  const std::lock_guard lock(mutex_);
  if (!in_flight_.empty()) changed_.notify_all();
}

bool Timeline::look_for(uint64_t serial, int64_t budget_ns) {
  Spin spin(budget_ns);
  do {
    if (reached(serial)) return true;
  } while (spin.again());
  return false;
}

bool Timeline::help(Awaited& awaited) {
  if (reap()) return true;
  uint64_t serial = 0;
  {
    const std::lock_guard lock(mutex_);
    if (in_flight_.empty() || reaping_) return false;
    serial = in_flight_.front().serial;
  }
  const int64_t left_ns = awaited.left_ns < 0 || awaited.left_ns > kHelpNs ? kHelpNs : awaited.left_ns;
  if (!context_->facts().software && look_for(serial, std::min(left_ns, kLookNs))) {
    reap();
    return true;
  }
  const Status waited = wait(serial, left_ns);
  reap();
  return true;
}

// `call` should have told how far the device is, and failed: nothing that was submitted can be known to be through any more.
// So the device counts as lost, but not before it is through, for then what it uses goes.
Status Timeline::give_up(VkResult result, const char* call) {
  Status status = context_->status_of(result, call);
  const std::lock_guard lock(queue_mutex_);
  if (!context_->lost()) context_->symbols().vkDeviceWaitIdle(context_->handle());
  context_->lose();
  return status;
}

uint64_t Timeline::ask_completed() {
  if (context_->lost()) return ~uint64_t{0};
  uint64_t value = 0;
  const VkResult asked = context_->symbols().vkGetSemaphoreCounterValue(context_->handle(), semaphore_, &value);
  if (asked != VK_SUCCESS) {
    const Status status = give_up(asked, "vkGetSemaphoreCounterValue");
    return ~uint64_t{0};
  }
  uint64_t seen = completed_.load(std::memory_order_relaxed);
  while (seen < value && !completed_.compare_exchange_weak(seen, value, std::memory_order_release)) {
  }
  return value;
}

bool Timeline::reached(uint64_t serial) {
  return completed_.load(std::memory_order_acquire) >= serial || ask_completed() >= serial;
}

Status Timeline::wait(uint64_t serial, int64_t timeout_ns) {
  if (reached(serial)) return context_->check();
  VkSemaphoreWaitInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO;
  info.semaphoreCount = 1;
  info.pSemaphores = &semaphore_;
  info.pValues = &serial;
  const uint64_t timeout = timeout_ns < 0 ? ~uint64_t{0} : static_cast<uint64_t>(timeout_ns);
  const VkResult waited = context_->symbols().vkWaitSemaphores(context_->handle(), &info, timeout);
  if (waited == VK_TIMEOUT) {
    return failure(StatusCode::kDeadlineExceeded, "The device was not through within ", timeout_ns, " ns.");
  }
  return waited == VK_SUCCESS ? Status() : give_up(waited, "vkWaitSemaphores");
}

// Takes out what is through, unless another thread is telling completions. The lock is held.
std::deque<Timeline::InFlight> Timeline::take_finished() {
  std::deque<InFlight> finished;
  if (reaping_ || in_flight_.empty()) return finished;
  const uint64_t completed = ask_completed();
  while (!in_flight_.empty() && in_flight_.front().serial <= completed) {
    finished.push_back(std::move(in_flight_.front()));
    in_flight_.pop_front();
  }
  reaping_ = !finished.empty();
  return finished;
}

bool Timeline::reap() {
  std::deque<InFlight> finished;
  {
    const std::lock_guard lock(mutex_);
    finished = take_finished();
  }
  if (finished.empty()) return false;
  const Ref<Timeline> keep(this);  // The device may go with the last completion.
  const Status status = context_->check();
  Tables tables;
  for (InFlight& one : finished) {
    one.completion->done(status);
    if (auto table = one.completion->take_bound_table()) tables.push_back(std::move(table));
    one.completion = nullptr;
  }
  keep_tables(std::move(tables));
  const std::lock_guard lock(mutex_);
  reaping_ = false;
  changed_.notify_all();
  return true;
}

void Timeline::keep_tables(Tables tables) {
  const std::lock_guard lock(mutex_);
  for (auto& table : tables) {
    if (std::find(kept_tables_.rbegin(), kept_tables_.rend(), table) != kept_tables_.rend()) continue;
    if (kept_tables_.size() < kTablesMax) {
      kept_tables_.push_back(std::move(table));
    } else {
      kept_tables_.front().swap(table);  // What goes dies with `tables`, after the lock.
      std::rotate(kept_tables_.begin(), kept_tables_.begin() + 1, kept_tables_.end());
    }
  }
}

void Timeline::drop(const std::shared_ptr<BoundTable>& table) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find(kept_tables_.begin(), kept_tables_.end(), table);
  if (found != kept_tables_.end()) kept_tables_.erase(found);  // The caller has it too: nothing dies here.
}

void Timeline::drop_tables() {
  Tables dropped;  // Dies without the lock.
  const std::lock_guard lock(mutex_);
  dropped.swap(kept_tables_);
}

// Nothing is in flight: looks up now and then for a while, then lets go of the tables and sleeps.
void Timeline::rest(Lock& lock) {
  for (int i = 0; i < kPausesMax && !leaving_; ++i) {
    changed_.wait_for(lock, kPause);
    if (stopping_ || reaping_ || !in_flight_.empty()) return;
  }
  Tables dropped;
  dropped.swap(kept_tables_);
  lock.unlock();
  dropped.clear();
  lock.lock();
  asleep_ = true;
  changed_.wait(lock, [&] { return stopping_ || leaving_ || !in_flight_.empty() || !kept_tables_.empty(); });
  asleep_ = false;
}

Status Timeline::drain(int64_t timeout_ns) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::nanoseconds(timeout_ns);
  const auto is_idle = [&] { return in_flight_.empty() && !reaping_; };
  const auto looks_idle = [&] {
    const std::lock_guard lock(mutex_);
    return is_idle();
  };
  done_while_helping(looks_idle, this, {.left_ns = timeout_ns});
  Lock lock(mutex_);
  if (timeout_ns < 0) {
    changed_.wait(lock, is_idle);
  } else if (!changed_.wait_until(lock, deadline, is_idle)) {
    return failure(StatusCode::kDeadlineExceeded, "The queue was not idle within ", timeout_ns, " ns (",
                   in_flight_.size(), " operations in flight).");
  }
  return {};
}

void Timeline::work() {
  Lock lock(mutex_);
  while (!stopping_) {
    if (reaping_) {
      changed_.wait(lock);
      continue;
    }
    if (in_flight_.empty()) {
      rest(lock);
      if (leaving_ && in_flight_.empty() && !reaping_) return;
      continue;
    }
    const uint64_t serial = in_flight_.front().serial;
    lock.unlock();
    const Status waited = wait(serial, kLookUpNs);
    reap();
    lock.lock();
  }
}

void Timeline::leave() {
  leaving_ = true;
  changed_.notify_all();
}

void Timeline::stop() {
  drop_tables();
  std::thread thread;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    thread = std::move(thread_);
    changed_.notify_all();
  }
  end_thread(std::move(thread));
}

}  // namespace baton::hal::drivers::vulkan
