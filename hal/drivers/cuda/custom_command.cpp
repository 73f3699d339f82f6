// What a custom command records through the device's own interface (modules/sdk/cuda.h): between begin_custom and
// end_custom an extension opens a capture, which the next command or the end closes. What was captured is a segment of
// the recording: a child graph in a graph, a graph of its own on a stream. Its addresses are those of the call: work
// whose buffers come from slots is a `foreign` command, which is captured for each table.

#include "hal/drivers/cuda/command_buffer.hpp"
#include "hal/drivers/cuda/device.hpp"
#include "hal/drivers/cuda/graph.hpp"

namespace baton::hal::drivers::cuda {
namespace {

// Threads: internally synchronized.
class RecordedSegment {
 public:
  RecordedSegment(Ref<PrimaryContext> context, Segment segment)
      : context_(std::move(context)), segment_(std::move(segment)) {}
  ~RecordedSegment() {
    const ContextScope scope = context_->enter();
    if (instance_) context_->symbols().cuGraphExecDestroy(instance_);
  }

  CUgraph graph() const { return segment_.graph(); }
  Result<CUgraphExec> instance() {
    std::lock_guard lock(mutex_);
    if (instance_) return instance_;
    const CUresult made = context_->symbols().cuGraphInstantiateWithFlags(&instance_, segment_.graph(), 0);
    if (made != CUDA_SUCCESS) return context_->status_of(made, "cuGraphInstantiate");
    return instance_;
  }

 private:
  const Ref<PrimaryContext> context_;
  const Segment segment_;
  std::mutex mutex_;
  CUgraphExec instance_ = nullptr;  // Guarded by mutex_.
};

struct SegmentRecord : Record {
  RecordedSegment* segment;  // The recording owns it.
};

Status issue_segment(Record& record, const Execution& execution) {
  BATON_TRY_ASSIGN(CUgraphExec instance, static_cast<SegmentRecord&>(record).segment->instance());
  return execution.context.status_of(execution.symbols().cuGraphLaunch(instance, execution.stream.handle()),
                                     "cuGraphLaunch");
}

Status add_segment(Record& record, const Execution& execution, GraphBuilder& builder) {
  return builder.add_segment(static_cast<SegmentRecord&>(record).segment->graph(), execution);
}

// It names no slot, so no table changes it.
Status patch_segment(Record&, const Execution&, const PatchTarget&) { return {}; }

constexpr RecordVerbs kSegment = {issue_segment, add_segment, patch_segment};

}  // namespace

Status CommandBuffer::begin_custom(const CustomCommand& command) {
  custom_.begin(command);
  return {};
}

Status CommandBuffer::extension(std::string_view name, void* out) {
  BATON_TRY(custom_.check(name));
  auto& device = static_cast<Device&>(recording_->device());
  if (name != kStreamExtension && name != kGuardedStreamExtension && name != kGraphExtension) {
    return failure(StatusCode::kUnimplemented, "Device '", device.name(), "' has no extension '", name, "'.");
  }
  BATON_TRY(device.context().check());
  if (!session_) {
    custom_context_.emplace(device.context().symbols(), device.context().handle());
    BATON_TRY_ASSIGN(CaptureSession session, CaptureSession::begin(device.capture().streams()));
    session_.emplace(std::move(session));
  }
  return session_->extension(name, out);
}

// The guard stands here, for commands of the twin and of the door alike.
Status CommandBuffer::close_segment() {
  auto ended = session_->end(custom_.name(), {});
  session_.reset();
  if (!ended.has_value()) return std::move(ended).error();
  auto& device = static_cast<Device&>(recording_->device());
  auto segment = std::make_shared<RecordedSegment>(Ref<PrimaryContext>(&device.context()), std::move(ended).value());
  auto* record = new (arena().allocate_array<SegmentRecord>(1)) SegmentRecord;
  record->segment = segment.get();
  recording_->own(std::move(segment));
  // It is counted as a command that names nothing, for the index that records have.
  return append(commands::Barrier{}, *record, kSegment);
}

Status CommandBuffer::end_custom(const CustomCommand&) {
  Status status;
  if (session_) status = close_segment();
  custom_context_.reset();
  custom_.end();
  return status;
}

}  // namespace baton::hal::drivers::cuda
