#include "hal/drivers/cuda/capture.hpp"

#include <cstring>
#include <optional>

#include "base/bytes.hpp"
#include "hal/drivers/cuda/device.hpp"
#include "hal/drivers/cuda/kept_instance.hpp"
#include "hal/drivers/cuda/recording.hpp"
#include "hal/drivers/cuda/work_listener.hpp"
#include "hal/work_label.hpp"

namespace baton::hal::drivers::cuda {
namespace {

// What is behind `out` says how much it has room for.
template <typename Struct>
Status fill(std::string_view name, void* out, Struct answer) {
  const auto room = load_bytes<uint32_t>(out);
  if (room < sizeof(Struct)) {
    return failure(StatusCode::kInvalidArgument, "Extension '", name, "' takes a struct of ", sizeof(Struct),
                   " bytes; struct_size says ", room, ".");
  }
  answer.struct_size = room;
  std::memcpy(out, &answer, sizeof(Struct));
  return {};
}

Status no_extension(const hal::Device& device, std::string_view name) {
  return failure(StatusCode::kUnimplemented, "Device '", device.name(), "' has no extension '", name, "'.");
}

Status named(Status status, std::string_view function) {
  return std::move(status).with_context(text("in foreign call '", function, "'"));
}

// A call whose work is captured.
class SessionScope final : public ForeignScope {
 public:
  SessionScope(hal::Device& device, CaptureSession& session) : device_(device), session_(session) {}
  Status extension(std::string_view name, void* out) override {
    Status status = session_.extension(name, out);
    return status.code() == StatusCode::kUnimplemented ? no_extension(device_, name) : std::move(status);
  }

 private:
  hal::Device& device_;
  CaptureSession& session_;
};

// A call whose work runs as it is enqueued; or, when it asks for a graph, once it has returned.
class StreamScope final : public ForeignScope {
 public:
  explicit StreamScope(const Execution& execution) : execution_(execution) {}

  Status extension(std::string_view name, void* out) override {
    if (name == kGraphExtension && !session_) BATON_TRY(begin());
    if (session_) return SessionScope(execution_.device, *session_).extension(name, out);
    if (name != kStreamExtension && name != kGuardedStreamExtension) return no_extension(execution_.device, name);
    has_stream_ = true;
    return fill<StreamV1>(name, out, {0, 0, execution_.stream.handle(), execution_.context.handle()});
  }

  Status finish(std::string_view function, Status said) {
    if (!session_) return said.ok() ? std::move(said) : named(std::move(said), function);
    BATON_TRY_ASSIGN(const Segment segment, session_->end(function, std::move(said)));
    PrimaryContext& context = execution_.context;
    CUgraphExec instance = nullptr;
    BATON_TRY(context.status_of(context.symbols().cuGraphInstantiateWithFlags(&instance, segment.graph(), 0),
                                "cuGraphInstantiate"));
    execution_.mark.keep(std::make_unique<KeptInstance>(Ref<PrimaryContext>(&context), instance));
    return context.status_of(context.symbols().cuGraphLaunch(instance, execution_.stream.handle()), "cuGraphLaunch");
  }

 private:
  Status begin() {
    if (has_stream_) {
      return failure(StatusCode::kFailedPrecondition, "Extension '", kGraphExtension,
                     "' comes too late: the function has '", kStreamExtension,
                     "' already, and on that stream its work runs as it is enqueued.");
    }
    BATON_TRY_ASSIGN(CaptureSession session,
                     CaptureSession::begin(static_cast<Device&>(execution_.device).capture().streams()));
    session_.emplace(std::move(session));
    return {};
  }

  const Execution& execution_;
  std::optional<CaptureSession> session_;
  bool has_stream_ = false;
};

// What each code of a broken capture means for the one who wrote the call.
std::string_view capture_cause(CUresult result) {
  switch (result) {
    case CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED: return "it called something that cannot be captured";
    case CUDA_ERROR_STREAM_CAPTURE_INVALIDATED:
      return "it synchronized, allocated, queried, or used the legacy stream while it was being captured, or another "
             "thread used that stream";
    case CUDA_ERROR_STREAM_CAPTURE_UNJOINED: return "it went over to another stream and did not come back";
    case CUDA_ERROR_STREAM_CAPTURE_ISOLATION: return "it waited for an event of work outside the capture";
    case CUDA_ERROR_STREAM_CAPTURE_IMPLICIT: return "it used the legacy stream";
    case CUDA_ERROR_ILLEGAL_STATE:
    case CUDA_ERROR_STREAM_CAPTURE_UNMATCHED: return "it ended a capture that it had not begun";
    case CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD: return "it was continued on another thread";
    default: return "the driver does not say why";
  }
}

struct NodeFacts {
  CUgraphNodeType type;
  CUDA_KERNEL_NODE_PARAMS kernel;  // Of kernel nodes.
};

Result<std::vector<NodeFacts>> facts_of(const Symbols& symbols, CUgraph graph) {
  size_t count = 0;
  BATON_CUDA_TRY(symbols, cuGraphGetNodes, graph, nullptr, &count);
  std::vector<CUgraphNode> nodes(count);
  BATON_CUDA_TRY(symbols, cuGraphGetNodes, graph, nodes.data(), &count);
  std::vector<NodeFacts> facts(count);
  for (size_t i = 0; i < count; ++i) {
    BATON_CUDA_TRY(symbols, cuGraphNodeGetType, nodes[i], &facts[i].type);
    if (facts[i].type != CU_GRAPH_NODE_TYPE_KERNEL) continue;
    BATON_CUDA_TRY(symbols, cuGraphKernelNodeGetParams, nodes[i], &facts[i].kernel);
  }
  return facts;
}

bool same_launch(const CUDA_KERNEL_NODE_PARAMS& a, const CUDA_KERNEL_NODE_PARAMS& b) {
  return a.func == b.func && a.kern == b.kern && a.gridDimX == b.gridDimX && a.gridDimY == b.gridDimY &&
         a.gridDimZ == b.gridDimZ && a.blockDimX == b.blockDimX && a.blockDimY == b.blockDimY &&
         a.blockDimZ == b.blockDimZ && a.sharedMemBytes == b.sharedMemBytes;
}

}  // namespace

Segment::~Segment() {
  if (!graph_) return;
  const ContextScope scope = context_->enter();
  context_->symbols().cuGraphDestroy(graph_);
}

CaptureStreams::~CaptureStreams() {
  const ContextScope scope = context_->enter();
  for (CUstream stream : spare_) context_->symbols().cuStreamDestroy(stream);
  if (CUstream stream = nearest_.load()) context_->symbols().cuStreamDestroy(stream);
}

Result<CUstream> CaptureStreams::take() {
  CUstream stream = nearest_.exchange(nullptr, std::memory_order_acquire);
  if (stream) return stream;
  std::lock_guard lock(mutex_);
  if (!spare_.empty()) {
    stream = spare_.back();
    spare_.pop_back();
    return stream;
  }
  const unsigned flags = guarded_ ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT;
  const CUresult made = context_->symbols().cuStreamCreateWithPriority(&stream, flags, 0);
  if (made != CUDA_SUCCESS) return context_->status_of(made, "cuStreamCreate");
  return stream;
}

void CaptureStreams::give(CUstream stream) {
  CUstream none = nullptr;
  if (nearest_.compare_exchange_strong(none, stream, std::memory_order_release, std::memory_order_relaxed)) return;
  std::lock_guard lock(mutex_);
  spare_.push_back(stream);
}

Result<CaptureSession> CaptureSession::begin(CaptureStreams& streams) {
  PrimaryContext& context = streams.context();
  const Symbols& symbols = context.symbols();
  CUgraph graph = nullptr;
  BATON_TRY(context.status_of(symbols.cuGraphCreate(&graph, 0), "cuGraphCreate"));
  Segment segment(context, graph);
  BATON_TRY_ASSIGN(CUstream stream, streams.take());
  const CUresult begun =
      symbols.cuStreamBeginCaptureToGraph(stream, graph, nullptr, nullptr, 0, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  if (begun != CUDA_SUCCESS) {
    symbols.cuStreamDestroy(stream);
    return context.status_of(begun, "cuStreamBeginCaptureToGraph");
  }
  return CaptureSession(streams, std::move(segment), stream);
}

CaptureSession::~CaptureSession() {
  if (!stream_) return;
  const Symbols& symbols = streams_->context().symbols();
  const ContextScope scope = streams_->context().enter();
  CUgraph ended = nullptr;
  symbols.cuStreamEndCapture(stream_, &ended);
  symbols.cuStreamDestroy(stream_);
}

// Where the capture stands: what it would add next depends on these nodes.
Result<GraphV1> CaptureSession::graph_here() {
  PrimaryContext& context = streams_->context();
  CUstreamCaptureStatus state = CU_STREAM_CAPTURE_STATUS_NONE;
  const CUgraphNode* nodes = nullptr;
  size_t count = 0;
  BATON_TRY(context.status_of(context.symbols().cuStreamCaptureState(stream_, &state, nullptr, nullptr, &nodes, &count),
                              "cuStreamGetCaptureInfo"));
  if (state != CU_STREAM_CAPTURE_STATUS_ACTIVE) count = 0;  // Broken already; the end says so.
  dependencies_.assign(nodes, nodes + count);
  return GraphV1{.dependency_count = static_cast<uint32_t>(count),
                 .graph = graph(),
                 .dependencies = reinterpret_cast<void* const*>(dependencies_.data()),
                 .context = context.handle(),
                 .self = this,
                 .join = join};
}

void* CaptureSession::join(void* self, void* const* nodes, uint64_t node_count) {
  const auto& session = *static_cast<CaptureSession*>(self);
  if (node_count == 0) return nullptr;
  std::vector<CUgraphNode> list(node_count);
  for (size_t i = 0; i < list.size(); ++i) list[i] = static_cast<CUgraphNode>(nodes[i]);
  PrimaryContext& context = session.streams_->context();
  Status status = context.status_of(context.symbols().cuStreamSetCaptureDependencies(
                                        session.stream_, list.data(), list.size(), CU_STREAM_SET_CAPTURE_DEPENDENCIES),
                                    "cuStreamUpdateCaptureDependencies");
  return status.release();
}

// Nothing was captured yet: it begins again on a stream that takes notice of the legacy stream.
Status CaptureSession::move_to_guarded() {
  if (&streams_->guarded() == streams_) return {};
  if (handed_out_) {
    return failure(StatusCode::kFailedPrecondition, "Extension '", kGuardedStreamExtension,
                   "' comes too late: the function has a stream, or a graph, that is not guarded.");
  }
  BATON_TRY_ASSIGN(CaptureSession guarded, begin(streams_->guarded()));
  std::swap(streams_, guarded.streams_);
  std::swap(segment_, guarded.segment_);
  std::swap(stream_, guarded.stream_);
  return {};
}

Status CaptureSession::extension(std::string_view name, void* out) {
  if (name == kGuardedStreamExtension) BATON_TRY(move_to_guarded());
  if (name == kStreamExtension || name == kGuardedStreamExtension) {
    handed_out_ = true;
    return fill<StreamV1>(name, out, {0, 1, stream_, streams_->context().handle()});
  }
  if (name == kGraphExtension) {
    handed_out_ = true;
    BATON_TRY_ASSIGN(const GraphV1 here, graph_here());
    return fill(name, out, here);
  }
  return failure(StatusCode::kUnimplemented, "There is no extension '", name, "'.");
}

// The function's own words often hold the first reason, the driver's codes only the last.
Status CaptureSession::broken(std::string_view function, Status said, CUresult ended) const {
  Status status = failure(StatusCode::kFailedPrecondition, "Foreign function '", function,
                          "' broke the capture of its work: ", capture_cause(ended), " (",
                          result_text(streams_->context().symbols(), ended), ").");
  if (said.ok()) return status;
  return std::move(status).with_context(text("the function returned: ", said.to_string()));
}

Result<Segment> CaptureSession::end(std::string_view function, Status said) {
  PrimaryContext& context = streams_->context();
  const Symbols& symbols = context.symbols();
  CUstream stream = std::exchange(stream_, nullptr);
  // The end says all: a capture that was invalidated, or that is none any more, does not end well.
  CUgraph same_graph = nullptr;
  const CUresult ended = symbols.cuStreamEndCapture(stream, &same_graph);
  if (ended != CUDA_SUCCESS) {
    // A stream that forked into others is not reset by ending the capture on it alone; a new one is.
    symbols.cuStreamDestroy(stream);
    return broken(function, std::move(said), ended);
  }
  streams_->give(stream);
  if (!said.ok()) return named(std::move(said), function);
  size_t node_count = 0;
  BATON_TRY(context.status_of(symbols.cuGraphGetNodes(graph(), nullptr, &node_count), "cuGraphGetNodes"));
  if (node_count == 0) {
    return failure(StatusCode::kFailedPrecondition, "Foreign function '", function,
                   "' recorded nothing: what it enqueued went to another stream than the one it was given.");
  }
  if (WorkListener* const listener = context.work_listener()) [[unlikely]] {
    std::vector<CUgraphNode> nodes(node_count);
    BATON_TRY(context.status_of(symbols.cuGraphGetNodes(graph(), nodes.data(), &node_count), "cuGraphGetNodes"));
    listener->captured(work_label(), nodes);
  }
  return std::move(segment_);
}

Result<Segment> Capture::run_once(const ForeignCall& call) {
  BATON_TRY_ASSIGN(CaptureSession session, CaptureSession::begin(streams()));
  SessionScope scope(call.device, session);
  Status said = call.function.record({call.device, scope, call.bindings, call.constants});
  return session.end(call.function.name(), std::move(said));
}

Status Capture::same_shape(const ForeignCall& call, const Segment& first, const Segment& second) const {
  BATON_TRY_ASSIGN(const auto a, facts_of(guarded_.context().symbols(), first.graph()));
  BATON_TRY_ASSIGN(const auto b, facts_of(guarded_.context().symbols(), second.graph()));
  if (a.size() != b.size()) {
    return failure(StatusCode::kFailedPrecondition, "Foreign function '", call.function.name(), "' recorded ", a.size(),
                   " nodes when it was captured first and ", b.size(), " with the same arguments again.");
  }
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].type != b[i].type) {
      return failure(StatusCode::kFailedPrecondition, "Foreign function '", call.function.name(), "' recorded node ", i,
                     " as another kind when it was captured with the same arguments again (",
                     static_cast<int>(a[i].type), ", then ", static_cast<int>(b[i].type), ").");
    }
    if (a[i].type == CU_GRAPH_NODE_TYPE_KERNEL && !same_launch(a[i].kernel, b[i].kernel)) {
      return failure(StatusCode::kFailedPrecondition, "Foreign function '", call.function.name(), "' recorded node ", i,
                     " as another launch when it was captured with the same arguments again.");
    }
  }
  return {};
}

Result<Segment> Capture::run(const ForeignCall& call) {
  BATON_TRY_ASSIGN(Segment first, run_once(call));
  if (options_.check_twice) {
    BATON_TRY_ASSIGN(const Segment second, run_once(call));
    BATON_TRY(same_shape(call, first, second));
  }
  return first;
}

Status call_on_stream(const ForeignCall& call, const Execution& execution) {
  StreamScope scope(execution);
  Status said = call.function.record({call.device, scope, call.bindings, call.constants});
  return scope.finish(call.function.name(), std::move(said));
}

}  // namespace baton::hal::drivers::cuda
