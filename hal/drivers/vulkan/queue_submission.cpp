// How work gets to the device: as one submission, or step by step.
#include <algorithm>

#include "hal/drivers/common/kept_signals.hpp"
#include "hal/drivers/vulkan/device.hpp"
#include "hal/drivers/vulkan/queue.hpp"

namespace baton::hal::drivers::vulkan {

namespace {

// How long this thread did what `label` is for, which may be null.
class HostSpan {
 public:
  explicit HostSpan(const WorkLabel* label) : label_(label), begin_ns_(label ? baton::Timeline::clock_ns() : 0) {}
  ~HostSpan() {
    if (label_) label_->ran({begin_ns_, baton::Timeline::clock_ns() - begin_ns_, true});
  }
  HostSpan(const HostSpan&) = delete;
  HostSpan& operator=(const HostSpan&) = delete;
  void forget() { label_ = nullptr; }

 private:
  const WorkLabel* label_;
  const int64_t begin_ns_;
};

}  // namespace

// An execution that was submitted: what it needs until the device is through, and what happens then.
class Queue::Executed final : public Timeline::Completion {
 public:
  Executed(Queue& queue, Recording& recording, Recording::Claim claim, Signals signals)
      : queue_(queue),
        recording_(&recording),
        prepared_(claim.prepared),
        bound_(std::move(claim.bound)),
        signals_(signals) {
    if (spans()) spans()->begin();
  }
  // Also of one whose submission failed.
  ~Executed() override {
    if (prepared_) recording_->give_back(*prepared_);
    if (watch) queue_.clock_.end(watch, false);
    if (spans()) spans()->end();
  }

  void done(const Status& status) override {
    Status outcome = status.clone();
    if (outcome.ok() && recording_->may_fail()) outcome = recording_->outcome(*prepared_);
    if (watch) queue_.clock_.end(std::exchange(watch, nullptr), outcome.ok());
    if (status.ok() && spans()) prepared_->tell(*spans());
    recording_->give_back(*std::exchange(prepared_, nullptr));
    queue_.ledger_.conclude(signals_.points(), outcome);
  }

  std::shared_ptr<BoundTable> take_bound_table() override { return std::move(bound_); }

  ExecutionClock::Watch* watch = nullptr;

 private:
  WorkSpans* spans() const { return static_cast<Device&>(queue_.device()).spans(); }

  Queue& queue_;  // The recording keeps the device, which has it.
  const Ref<Recording> recording_;
  PreparedCommands* prepared_;
  std::shared_ptr<BoundTable> bound_;
  const KeptSignals signals_;
};

// An operation without work, behind submissions that are under way.
class Queue::Passed final : public Timeline::Completion {
 public:
  Passed(Queue& queue, Signals signals) : queue_(queue), device_(&queue.device()), signals_(signals) {}
  void done(const Status& status) override { queue_.ledger_.conclude(signals_.points(), status); }

 private:
  Queue& queue_;
  const Ref<hal::Device> device_;
  const KeptSignals signals_;
};

Status Queue::try_submit(Recording& recording, const BindRequest& request, Signals signals, Status& unfit) {
  BATON_TRY_ASSIGN(Recording::Claim claim, recording.claim(request, unfit));
  PreparedCommands* const prepared = claim.prepared;
  auto executed = std::make_unique<Executed>(*this, recording, std::move(claim), signals);
  std::span<const VkCommandBuffer> commands = prepared->commands();
  std::vector<VkCommandBuffer> timed;
  if (clock_.on()) {
    BATON_TRY_ASSIGN(executed->watch, clock_.begin());
    timed.push_back(executed->watch->before);
    timed.insert(timed.end(), commands.begin(), commands.end());
    timed.push_back(executed->watch->after);
    commands = timed;
  }
  std::unique_ptr<Timeline::Completion> completion = std::move(executed);
  const bool soon = recording.may_fail() || !all_own(signals);
  BATON_TRY_ASSIGN(const uint64_t serial, timeline_->submit(commands, completion, soon));
  if (!recording.may_fail()) promise(signals, serial);
  return {};
}

Status Queue::submit(Recording& recording, const BindRequest& request, Signals signals) {
  Status unfit;
  Status status = named(try_submit(recording, request, signals, unfit), recording);
  if (!unfit.ok()) return status;
  if (!status.ok()) ledger_.conclude(signals, status);
  return {};
}

// On the worker: the device's stretches are waited for, then comes the host's turn.
Status Queue::try_run_steps(Recording& recording, const BindRequest& request) {
  Status unfit;
  BATON_TRY_ASSIGN(const Recording::Claim claim, recording.claim(request, unfit));
  PreparedCommands* const prepared = claim.prepared;
  const Arguments arguments = prepared->arguments(*claim.bound);
  struct Release {
    ~Release() { recording.give_back(prepared); }
    Recording& recording;
    PreparedCommands& prepared;
  } const release{recording, *prepared};
  size_t stretch = 0;
  BATON_TRY(run_stretch(recording, *prepared, stretch++));
  auto foreign = prepared->foreign().begin();
  for (size_t i = 0; i < recording.steps().size(); ++i) {
    const Step& step = recording.steps()[i];
    if (step.host) {
      const HostSpan span(step.host->label);
      BATON_TRY(step.host->run(*step.host, {device(), arguments}));
    } else if (!step.segment || step.segment->made || !foreign++->waits()) {
      continue;
    } else {
      BATON_TRY(run_foreign(*prepared, i, *(foreign - 1), arguments));
    }
    BATON_TRY(run_stretch(recording, *prepared, stretch++));
  }
  if (WorkSpans* const spans = static_cast<Device&>(device()).spans()) prepared->tell(*spans);
  return {};
}

// A call in its turn: what it records runs, else it has worked on the host.
Status Queue::run_foreign(const PreparedCommands& prepared, size_t step, ForeignSegments& called,
                          const Arguments& arguments) {
  auto& vulkan_device = static_cast<Device&>(device());
  HostSpan span(called.label());
  BATON_TRY_ASSIGN(const VkCommandBuffer recorded, called.call(vulkan_device, arguments));
  if (!recorded) return {};
  span.forget();
  if (!prepared.stamps()) return run_to_the_end({&recorded, 1});
  const VkCommandBuffer commands[] = {prepared.stamps()->before(step), recorded, prepared.stamps()->after(step)};
  BATON_TRY(run_to_the_end(commands));
  prepared.stamps()->tell(step, *vulkan_device.spans());
  return {};
}

Status Queue::run_to_the_end(std::span<const VkCommandBuffer> commands) {
  std::unique_ptr<Timeline::Completion> none;
  BATON_TRY_ASSIGN(const uint64_t serial, timeline_->submit(commands, none, false));
  return timeline_->wait(serial);
}

Status Queue::run_stretch(const Recording& recording, const PreparedCommands& prepared, size_t stretch) {
  const std::span<const VkCommandBuffer> commands = prepared.commands(stretch);
  if (commands.empty()) return {};
  BATON_TRY(run_to_the_end(commands));
  return recording.may_fail() ? recording.outcome(prepared) : Status();
}

void Queue::run_steps(Recording& recording, const BindRequest& request, Signals signals) {
  ledger_.conclude(signals, try_run_steps(recording, request));
}

void Queue::pass(uint64_t serial, Signals signals) {
  if (serial == 0 || timeline_->reached(serial)) return ledger_.conclude(signals, {});
  timeline_->attach(serial, std::make_unique<Passed>(*this, signals));
  promise(signals, serial);
}

Semaphore* Queue::own(hal::Semaphore* semaphore) const {
  auto* found = dynamic_cast<Semaphore*>(semaphore);
  return found && &found->timeline() == timeline_.get() ? found : nullptr;
}

bool Queue::all_own(Signals signals) const {
  return std::all_of(signals.begin(), signals.end(),
                     [&](const SemaphorePoint& signal) { return own(signal.semaphore) != nullptr; });
}

void Queue::promise(Signals signals, uint64_t serial) const {
  for (const SemaphorePoint& signal : signals) {
    if (Semaphore* const semaphore = own(signal.semaphore)) semaphore->promise(signal.value, serial);
  }
}

}  // namespace baton::hal::drivers::vulkan
