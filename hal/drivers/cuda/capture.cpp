#include "hal/drivers/cuda/capture.hpp"

#include <cstring>

#include "base/bytes.hpp"
#include "hal/device.hpp"
#include "hal/drivers/cuda/foreign_extensions.hpp"

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

void* join_nothing(void*, void* const*, uint64_t) { return nullptr; }

Status no_extension(const hal::Device& device, std::string_view name) {
  return failure(StatusCode::kUnimplemented, "Device '", device.name(), "' has no extension '", name, "'.");
}

// A call whose work runs as it is enqueued.
class StreamScope final : public ForeignScope {
 public:
  StreamScope(hal::Device& device, PrimaryContext& context, CUstream stream)
      : device_(device), context_(context), stream_(stream) {}
  Status extension(std::string_view name, void* out) override {
    if (name == kStreamExtension) {
      return fill<StreamV1>(name, out, {0, 0, stream_, context_.handle()});
    }
    if (name != kGraphExtension) return no_extension(device_, name);
    return failure(StatusCode::kFailedPrecondition, "Extension '", name,
                   "' is for recordings that run as a graph; this one runs on a stream.");
  }

 private:
  hal::Device& device_;
  PrimaryContext& context_;
  CUstream stream_;
};

// A call whose work is captured.
class SessionScope final : public ForeignScope {
 public:
  SessionScope(hal::Device& device, const CaptureSession& session) : device_(device), session_(session) {}
  Status extension(std::string_view name, void* out) override {
    Status status = session_.extension(name, out);
    return status.code() == StatusCode::kUnimplemented ? no_extension(device_, name) : std::move(status);
  }

 private:
  hal::Device& device_;
  const CaptureSession& session_;
};

Status named(Status status, std::string_view function) {
  return std::move(status).with_context(text("in foreign call '", function, "'"));
}

// What each code of a broken capture means for the one who wrote the call.
std::string_view capture_cause(CUresult result) {
  switch (result) {
    case CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED: return "it called something that cannot be captured";
    case CUDA_ERROR_STREAM_CAPTURE_INVALIDATED:
      return "it synchronized, allocated, queried, or used the legacy stream while it was being captured";
    case CUDA_ERROR_STREAM_CAPTURE_UNJOINED: return "it went over to another stream and did not come back";
    case CUDA_ERROR_STREAM_CAPTURE_ISOLATION: return "it waited for an event of work outside the capture";
    case CUDA_ERROR_STREAM_CAPTURE_IMPLICIT: return "it used the legacy stream";
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
}

Result<CUstream> CaptureStreams::take() {
  std::lock_guard lock(mutex_);
  CUstream stream = nullptr;
  if (!spare_.empty()) {
    stream = spare_.back();
    spare_.pop_back();
    return stream;
  }
  const CUresult made = context_->symbols().cuStreamCreateWithPriority(&stream, CU_STREAM_DEFAULT, 0);
  if (made != CUDA_SUCCESS) return context_->status_of(made, "cuStreamCreate");
  return stream;
}

void CaptureStreams::give(CUstream stream) {
  std::lock_guard lock(mutex_);
  spare_.push_back(stream);
}

Result<CaptureSession> CaptureSession::begin(CaptureStreams& streams) {
  PrimaryContext& context = streams.context();
  const Symbols& symbols = context.symbols();
  CUgraph graph = nullptr;
  BATON_TRY(context.status_of(symbols.cuGraphCreate(&graph, 0), "cuGraphCreate"));
  Segment segment(Ref<PrimaryContext>(&context), graph);
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
  const Symbols& symbols = streams_.context().symbols();
  const ContextScope scope = streams_.context().enter();
  CUgraph ended = nullptr;
  symbols.cuStreamEndCapture(stream_, &ended);
  symbols.cuStreamDestroy(stream_);
}

Status CaptureSession::extension(std::string_view name, void* out) const {
  CUcontext context = streams_.context().handle();
  if (name == kStreamExtension) return fill<StreamV1>(name, out, {0, 1, stream_, context});
  if (name == kGraphExtension) {
    return fill<GraphV1>(name, out, {0, 0, graph(), nullptr, context, nullptr, join_nothing});
  }
  return failure(StatusCode::kUnimplemented, "There is no extension '", name, "'.");
}

// The function's own words often hold the first reason, the driver's codes only the last.
Status CaptureSession::broken(std::string_view function, Status said, CUresult ended) const {
  Status status = failure(StatusCode::kFailedPrecondition, "Foreign function '", function,
                          "' broke the capture of its work: ", capture_cause(ended), " (",
                          result_text(streams_.context().symbols(), ended), ").");
  if (said.ok()) return status;
  return std::move(status).with_context(text("the function returned: ", said.to_string()));
}

Result<Segment> CaptureSession::end(std::string_view function, Status said) {
  PrimaryContext& context = streams_.context();
  const Symbols& symbols = context.symbols();
  CUstream stream = std::exchange(stream_, nullptr);
  CUstreamCaptureStatus state = CU_STREAM_CAPTURE_STATUS_NONE;
  const CUresult asked = symbols.cuStreamCaptureState(stream, &state, nullptr, nullptr, nullptr, nullptr);
  CUresult ended = CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
  if (asked != CUDA_SUCCESS || state != CU_STREAM_CAPTURE_STATUS_NONE) {
    CUgraph graph = nullptr;
    ended = symbols.cuStreamEndCapture(stream, &graph);
    if (ended == CUDA_SUCCESS) ended = asked;
  }
  if (ended != CUDA_SUCCESS) {
    // A stream that forked into others is not reset by ending the capture on it alone; a new one is.
    symbols.cuStreamDestroy(stream);
    return broken(function, std::move(said), ended);
  }
  streams_.give(stream);
  if (!said.ok()) return named(std::move(said), function);
  size_t node_count = 0;
  BATON_TRY(context.status_of(symbols.cuGraphGetNodes(graph(), nullptr, &node_count), "cuGraphGetNodes"));
  if (node_count == 0) {
    return failure(StatusCode::kFailedPrecondition, "Foreign function '", function,
                   "' recorded nothing: what it enqueued went to another stream than the one it was given.");
  }
  return std::move(segment_);
}

Result<Segment> Capture::run_once(const ForeignCall& call) {
  BATON_TRY_ASSIGN(CaptureSession session, CaptureSession::begin(streams_));
  SessionScope scope(call.device, session);
  Status said = call.function.record({call.device, scope, call.bindings, call.constants});
  return session.end(call.function.name(), std::move(said));
}

Status Capture::same_shape(const ForeignCall& call, const Segment& first, const Segment& second) const {
  BATON_TRY_ASSIGN(const auto a, facts_of(streams_.context().symbols(), first.graph()));
  BATON_TRY_ASSIGN(const auto b, facts_of(streams_.context().symbols(), second.graph()));
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
  if (check_twice_) {
    BATON_TRY_ASSIGN(const Segment second, run_once(call));
    BATON_TRY(same_shape(call, first, second));
  }
  return first;
}

Status call_on_stream(const ForeignCall& call, PrimaryContext& context, CUstream stream) {
  StreamScope scope(call.device, context, stream);
  Status status = call.function.record({call.device, scope, call.bindings, call.constants});
  return status.ok() ? std::move(status) : named(std::move(status), call.function.name());
}

}  // namespace baton::hal::drivers::cuda
