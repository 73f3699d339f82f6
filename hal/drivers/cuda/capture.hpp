// Capture: foreign work becomes a graph of its own, a segment. The guard finds what went wrong in it,
// reports it under the name of the function, and cleans up, so that the device goes on.
//
// The capturing streams are not the queue's. With cuda_legacy_stream=guarded, as the tools have it, they are blocking
// ones: use of the legacy stream by the foreign call is an error then, and not work that silently runs outside the
// graph. But so is use of it by another thread meanwhile, and the driver (580) has been seen to crash in that thread.
// Our captures must not harm a host whose frameworks work on the legacy stream, as most do: by default they are on
// streams that do not synchronize with it, and a call that knows that nothing else uses the legacy stream meanwhile asks
// for a guarded one (kGuardedStreamExtension). The mode is thread-local: what other threads do does not end a capture.
#pragma once

#include <vector>

#include "hal/drivers/cuda/foreign_extensions.hpp"
#include "hal/drivers/cuda/primary_context.hpp"
#include "hal/foreign_function.hpp"

namespace baton::hal::drivers::cuda {

struct Execution;

// A graph that owns itself. Its holder keeps the context.
// Threads: externally synchronized.
class Segment {
 public:
  Segment(PrimaryContext& context, CUgraph graph) : context_(&context), graph_(graph) {}
  Segment(Segment&& other) noexcept : context_(other.context_), graph_(std::exchange(other.graph_, nullptr)) {}
  Segment& operator=(Segment&& other) noexcept {
    std::swap(context_, other.context_);
    std::swap(graph_, other.graph_);
    return *this;
  }
  ~Segment();
  CUgraph graph() const { return graph_; }

 private:
  PrimaryContext* context_;
  CUgraph graph_;
};

struct CaptureOptions {
  bool check_twice = false;         // Capture each call a second time and compare what came out.
  bool share_legacy_stream = true;  // Other threads may use it meanwhile; that a call does is not noticed.
};

// Streams to capture on, kept for the next capture.
// Threads: internally synchronized.
class CaptureStreams {
 public:
  // Without `guarded` the streams are guarded ones themselves: use of the legacy stream breaks what they capture.
  CaptureStreams(Ref<PrimaryContext> context, CaptureStreams* guarded)
      : context_(std::move(context)), guarded_(guarded) {}
  ~CaptureStreams();
  PrimaryContext& context() const { return *context_; }
  CaptureStreams& guarded() { return guarded_ ? *guarded_ : *this; }
  Result<CUstream> take();
  void give(CUstream stream);

 private:
  const Ref<PrimaryContext> context_;
  CaptureStreams* const guarded_;
  std::atomic<CUstream> nearest_{nullptr};  // The one that mostly is enough.
  std::mutex mutex_;
  std::vector<CUstream> spare_;  // Guarded by mutex_.
};

// One capture, from its begin to its end.
// Threads: that of begin().
class CaptureSession {
 public:
  static Result<CaptureSession> begin(CaptureStreams& streams);
  CaptureSession(CaptureSession&& other) noexcept
      : streams_(other.streams_),
        segment_(std::move(other.segment_)),
        stream_(std::exchange(other.stream_, nullptr)),
        handed_out_(other.handed_out_) {}
  // Whatever was captured is dropped.
  ~CaptureSession();

  CUstream stream() const { return stream_; }
  CUgraph graph() const { return segment_.graph(); }
  // Fills what `name` stands for. UNIMPLEMENTED for other names. A graph holds until the session is moved.
  Status extension(std::string_view name, void* out);
  // The guard's verdict. `said` is the function's own result: a failure of its own is reported too, and alone when the
  // capture is intact.
  Result<Segment> end(std::string_view function, Status said);

 private:
  CaptureSession(CaptureStreams& streams, Segment segment, CUstream stream)
      : streams_(&streams), segment_(std::move(segment)), stream_(stream) {}
  Status move_to_guarded();
  Result<GraphV1> graph_here();
  static void* join(void* self, void* const* nodes, uint64_t node_count);
  Status broken(std::string_view function, Status said, CUresult ended) const;

  CaptureStreams* streams_;
  Segment segment_;
  CUstream stream_;                        // Null: ended.
  bool handed_out_ = false;                // The stream, or its graph.
  std::vector<CUgraphNode> dependencies_;  // That an extension told of.
};

struct ForeignCall {
  hal::Device& device;
  ForeignFunction& function;
  std::span<const ForeignBinding> bindings;
  std::span<const uint32_t> constants;
};

// Threads: internally synchronized.
class Capture {
 public:
  Capture(Ref<PrimaryContext> context, const CaptureOptions& options)
      : guarded_(context, nullptr), shared_(std::move(context), &guarded_), options_(options) {}

  CaptureStreams& streams() { return options_.share_legacy_stream ? shared_ : guarded_; }
  // Calls the function with a stream that captures. FAILED_PRECONDITION when the call broke the capture, or recorded
  // nothing.
  Result<Segment> run(const ForeignCall& call);

 private:
  Result<Segment> run_once(const ForeignCall& call);
  Status same_shape(const ForeignCall& call, const Segment& first, const Segment& second) const;

  CaptureStreams guarded_;
  CaptureStreams shared_;
  const CaptureOptions options_;
};

// The same outside a graph: the function enqueues on the stream of the execution itself. If it asks for a graph, its
// work is captured all the same, and launched there.
Status call_on_stream(const ForeignCall& call, const Execution& execution);

}  // namespace baton::hal::drivers::cuda
