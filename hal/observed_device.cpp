#include "hal/observed_device.hpp"

#include "base/text.hpp"
#include "hal/allocator.hpp"
#include "hal/host_function.hpp"
#include "hal/work_label.hpp"

namespace baton::hal {

Status DeviceObserver::execute(Queue& queue, const Order& order, ObservedRecording& recording,
                               const BindingTable& table) {
  return queue.execute(order, recording.driven(), table);
}

// Remembers each command that the driver took.
class ObservedCommandBuffer final : public CommandBuffer {
 public:
  // `make_driven` makes the driver's, which may keep the label of the recording.
  template <typename MakeDriven>
  ObservedCommandBuffer(Device& device, const RecordingOptions& options, DeviceObserver& observer,
                        const MakeDriven& make_driven)
      : recording_(make_ref<ObservedRecording>(device, options)), observer_(observer) {
    recording_->label_ = observer_.recording_begins(*recording_);
    const WorkLabelScope scope(recording_->label_);
    driven_ = make_driven();
  }

#define COMMAND(Struct, verb, category)                                                      \
  Status verb(const commands::Struct& command) override {                                    \
    return record(command, [&](const commands::Struct& one) { return driven_->verb(one); }); \
  }
#include "hal/commands/commands.inc"
#undef COMMAND

  Status begin_custom(const CustomCommand& command) override {
    custom_ = text(command.module, ".", command.function);
    custom_label_ = recording_ ? observer_.recording_custom(*recording_, custom_) : nullptr;
    // Until the end: what the command captures by itself is its own.
    work_label() = custom_label_;
    return driven_->begin_custom(command);
  }
  Status end_custom(const CustomCommand& command) override {
    Status ended = driven_->end_custom(command);
    work_label() = custom_label_ = nullptr;
    custom_.clear();
    return ended;
  }
  Status extension(std::string_view name, void* out) override {
    BATON_TRY(driven_->extension(name, out));
    if (recording_) recording_->opaque_ = true;
    return {};
  }
  Result<Ref<Recording>> finish() override {
    if (!recording_) return driven_->finish();
    BATON_TRY_ASSIGN(recording_->driven_, driven_->finish());
    return Ref<Recording>(std::move(recording_));
  }

 private:
  template <typename Command, typename HandOver>
  Status record(const Command& command, const HandOver& hand_over) {
    if (!recording_) return hand_over(command);  // Finished: the driver says so.
    const WorkLabel* label =
        observer_.recording({*recording_, recording_->command_count(), kind_of<Command>, &command, custom_});
    const WorkLabelScope scope(label ? label : custom_label_);
    BATON_TRY(hand_over(command));
    recording_->append(command);
    recording_->command_labels_.push_back(label);
    return {};
  }

  Ref<ObservedRecording> recording_;  // Null once finished.
  std::unique_ptr<CommandBuffer> driven_;
  DeviceObserver& observer_;
  std::string custom_;
  const WorkLabel* custom_label_ = nullptr;
};

class ObservedQueue final : public Queue {
 public:
  ObservedQueue(Device& device, Queue& driven, DeviceObserver& observer)
      : Queue(device), driven_(driven), observer_(observer) {}

  Status time_executions(bool on) override { return driven_.time_executions(on); }
  ExecutionTimes take_execution_times() override { return driven_.take_execution_times(); }
  Status wait_idle(int64_t timeout_ns) override {
    const Bracket bracket(observer_, "wait_idle");
    return driven_.wait_idle(timeout_ns);
  }

 private:
  struct Bracket {
    Bracket(DeviceObserver& told, std::string_view name)
        : observer(told), operation(name), begun(told.begin(operation)) {}
    ~Bracket() { observer.end(operation, begun); }
    DeviceObserver& observer;
    std::string_view operation;
    int64_t begun;
  };

  // The driver's front looks at the table.
  Status check_table(const Recording&, const BindingTable&) const override { return {}; }
  Status do_execute(const Order& order, Recording& recording, const BindingTable& table) override {
    auto& observed = static_cast<ObservedRecording&>(recording);
    const WorkLabelScope scope(observed.label());
    return observer_.execute(driven_, order, observed, table);
  }
  Result<Ref<Buffer>> do_allocate(const Order& order, const AllocationRequest& request) override {
    const Bracket bracket(observer_, "allocate");
    return driven_.do_allocate(order, request);
  }
  Status do_free(const Order& order, Buffer& buffer) override {
    const Bracket bracket(observer_, "free");
    return driven_.do_free(order, buffer);
  }
  Status do_host_call(const Order& order, HostFunction& function) override {
    const Bracket bracket(observer_, function.name());
    return driven_.do_host_call(order, function);
  }
  Status do_barrier(const Order& order) override { return driven_.do_barrier(order); }
  Status do_wait_for_stream(uint64_t stream) override { return driven_.do_wait_for_stream(stream); }
  Status do_hold_stream(uint64_t stream, std::span<const SemaphorePoint> points) override {
    return driven_.do_hold_stream(stream, points);
  }

  Queue& driven_;
  DeviceObserver& observer_;
};

class ObservedDevice final : public Device {
 public:
  ObservedDevice(Ref<Device> driven, std::shared_ptr<DeviceObserver> observer)
      : Device(driven->name(), driven->limits()),
        observer_(std::move(observer)),
        driven_(std::move(driven)),
        queue_(*this, driven_->queue(), *observer_) {
    set_executables(driven_->executables_);
  }

  Allocator& allocator() override { return driven_->allocator(); }
  Queue& queue() override { return queue_; }
  Result<Ref<Semaphore>> make_semaphore(uint64_t initial_value) override {
    return driven_->make_semaphore(initial_value);
  }
  FormatMatch match_format(std::string_view format) const override { return driven_->match_format(format); }
  Result<int64_t> query(std::string_view category, std::string_view key) const override {
    return driven_->query(category, key);
  }

 private:
  Result<Ref<Channel>> do_make_channel(const ChannelRequest& request) override {
    return driven_->do_make_channel(request);
  }
  std::unique_ptr<CommandBuffer> do_make_command_buffer(const RecordingOptions& options) override {
    return std::make_unique<ObservedCommandBuffer>(*this, options, *observer_,
                                                   [&] { return driven_->do_make_command_buffer(options); });
  }
  Result<Ref<Executable>> do_make_executable(const ExecutableRequest& request,
                                             const ExecutableVariant& variant) override {
    const int64_t begun = observer_->begin("load");
    auto made = driven_->do_make_executable(request, variant);
    observer_->end("load", begun);
    if (made.has_value()) observer_->loaded(request, **made);
    return made;
  }

  // The driver's device is destroyed first: while it ends it may still report to the observer.
  const std::shared_ptr<DeviceObserver> observer_;
  const Ref<Device> driven_;
  ObservedQueue queue_;
};

Ref<Device> observe(Ref<Device> device, std::shared_ptr<DeviceObserver> observer) {
  return make_ref<ObservedDevice>(std::move(device), std::move(observer));
}

}  // namespace baton::hal
