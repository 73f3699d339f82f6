// Timeline: what was submitted to the device's queue, numbered, and who is told when the device is through with it.
//
// There is one Vulkan queue, and every command buffer of the driver begins and ends with a barrier over everything, so
// submissions run one after the other: number n done means that all before it are. One timeline semaphore of Vulkan
// counts them. A thread that waits for a semaphore of the device waits for Vulkan and tells completions itself
// (WaitHelper). A thread of the timeline, started with the first completion, tells the rest. To wake
// it costs more than a submission does, so while there is work now and then it looks by itself every millisecond, and
// is woken only for what another thread sleeps for. It also keeps the tables of executions that are through for some
// milliseconds (bound_table.hpp), and sleeps for good when they are gone.
// Threads: internally synchronized.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <thread>

#include "hal/drivers/common/bound_table.hpp"
#include "hal/drivers/common/device_thread.hpp"
#include "hal/drivers/common/wait_helper.hpp"
#include "hal/drivers/vulkan/context.hpp"

namespace baton::hal::drivers::vulkan {

class Timeline final : public WaitHelper, public DeviceThreadOwner {
 public:
  // What happens when a submission is through.
  class Completion {
   public:
    virtual ~Completion() = default;
    // Called once, in the order of submission, from any thread, without locks of the timeline. `status` is ok, or says
    // that the device is lost.
    virtual void done(const Status& status) = 0;
    // Called after done(): a table that the timeline keeps a little longer, to be compared with the next; or null.
    virtual std::shared_ptr<BoundTable> take_bound_table() { return nullptr; }
  };

  static Result<Ref<Timeline>> make(Ref<Context> context);
  explicit Timeline(Ref<Context> context) : context_(std::move(context)) {}
  ~Timeline() override;

  Context& context() const { return *context_; }

  // Submits the command buffers in order; returns the number of the submission. `completion`, unless null, is taken
  // over when it succeeds. `soon`: a thread may sleep for what it signals without the timeline's knowledge.
  Result<uint64_t> submit(std::span<const VkCommandBuffer> commands, std::unique_ptr<Completion>& completion,
                          bool soon);
  Result<uint64_t> submit(VkCommandBuffer commands);
  // Tells `completion` when submission `serial`, which was submitted, is through.
  void attach(uint64_t serial, std::unique_ptr<Completion> completion);

  // Whether submission `serial` is through.
  bool reached(uint64_t serial);
  // DEADLINE_EXCEEDED when the time was up first; a failure when the device is lost.
  Status wait(uint64_t serial, int64_t timeout_ns = kWaitForever);

  // Waits a little for what was submitted first, and tells what is through.
  bool help(Awaited& awaited) override;
  // A thread sleeps until a submission is through, or a waiter is to be called then.
  void wake();
  // Until all work is done and all completions are reported.
  Status drain(int64_t timeout_ns);
  // Lets go of `table`, or of all tables that it keeps.
  void drop(const std::shared_ptr<BoundTable>& table);
  void drop_tables();
  // Ends the thread. From any thread, its own too.
  void stop();
  void work() override;
  void leave() override;

 private:
  struct InFlight {
    uint64_t serial;
    std::unique_ptr<Completion> completion;
  };
  using Lock = std::unique_lock<std::mutex>;
  using Tables = std::vector<std::shared_ptr<BoundTable>>;

  void add(uint64_t serial, std::unique_ptr<Completion> completion, bool soon);
  // Whether submission `serial` came through while this thread looked.
  bool look_for(uint64_t serial, int64_t budget_ns);
  bool reap();
  std::deque<InFlight> take_finished();
  uint64_t ask_completed();
  Status give_up(VkResult result, const char* call);
  void keep_tables(Tables tables);
  void rest(Lock& lock);

  const Ref<Context> context_;
  VkSemaphore semaphore_ = VK_NULL_HANDLE;
  std::atomic<uint64_t> completed_{0};  // What was last seen; never too high.
  std::mutex queue_mutex_;              // Guards calls of the VkQueue; taken after all other locks.
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t last_ = 0;               // Guarded by mutex_: what was submitted last.
  std::deque<InFlight> in_flight_;  // Guarded by mutex_, by serial.
  Tables kept_tables_;              // Guarded by mutex_: of work that is done.
  bool reaping_ = false;            // Guarded by mutex_: a thread tells completions.
  bool asleep_ = false;             // Guarded by mutex_: the thread looks at nothing until it is woken.
  bool stopping_ = false;           // Guarded by mutex_.
  std::thread thread_;              // Guarded by mutex_.
  std::atomic<bool> leaving_{false};
};

}  // namespace baton::hal::drivers::vulkan
