// Capture: foreign work becomes a graph of its own, a segment. And the guard: what can go wrong in it is found here,
// told by the name of the function, and cleaned up, so that the device goes on.
//
// The capturing streams are not the queue's. With cuda_legacy_stream=guarded, as the tools have it, they are blocking
// ones: use of the legacy stream by the foreign call is an error then, and not work that silently runs outside the
// graph. But so is use of it by another thread meanwhile, and the driver (580) has been seen to crash in that thread. A
// host whose frameworks work on the legacy stream, as they do, must not be harmed by our captures: by default they are
// on streams that take no notice of it. The mode is thread-local: what else other threads do is no business of a
// capture.
#pragma once

#include <vector>

#include "hal/drivers/cuda/foreign_extensions.hpp"
#include "hal/drivers/cuda/primary_context.hpp"
#include "hal/foreign_function.hpp"

namespace baton::hal::drivers::cuda {

struct Execution;

// A graph that owns itself. Whoever holds it keeps the context. Threads: externally synchronized.
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

// Streams to capture on, kept for the next capture. Threads: internally synchronized.
class CaptureStreams {
 public:
  CaptureStreams(Ref<PrimaryContext> context, bool share_legacy_stream)
      : context_(std::move(context)), flags_(share_legacy_stream ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT) {}
  ~CaptureStreams();
  PrimaryContext& context() const { return *context_; }
  Result<CUstream> take();
  void give(CUstream stream);

 private:
  const Ref<PrimaryContext> context_;
  const unsigned flags_;
  std::atomic<CUstream> nearest_{nullptr};  // The one that mostly is enough.
  std::mutex mutex_;
  std::vector<CUstream> spare_;  // Guarded by mutex_.
};

// One capture, from its begin to its end. Threads: that of begin().
class CaptureSession {
 public:
  static Result<CaptureSession> begin(CaptureStreams& streams);
  CaptureSession(CaptureSession&& other) noexcept
      : streams_(other.streams_), segment_(std::move(other.segment_)), stream_(std::exchange(other.stream_, nullptr)) {}
  // Whatever was captured is dropped.
  ~CaptureSession();

  CUstream stream() const { return stream_; }
  CUgraph graph() const { return segment_.graph(); }
  // Fills what `name` stands for. UNIMPLEMENTED for other names. A graph holds until the session is moved.
  Status extension(std::string_view name, void* out);
  // The guard. `said` is what the function itself returned: its failure is told too, and alone if the capture is whole.
  Result<Segment> end(std::string_view function, Status said);

 private:
  CaptureSession(CaptureStreams& streams, Segment segment, CUstream stream)
      : streams_(streams), segment_(std::move(segment)), stream_(stream) {}
  Result<GraphV1> graph_here();
  static void* join(void* self, void* const* nodes, uint64_t node_count);
  Status broken(std::string_view function, Status said, CUresult ended) const;

  CaptureStreams& streams_;
  Segment segment_;
  CUstream stream_;                        // Null: ended.
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
      : streams_(std::move(context), options.share_legacy_stream), check_twice_(options.check_twice) {}

  CaptureStreams& streams() { return streams_; }
  // Calls the function with a stream that captures. FAILED_PRECONDITION when the call broke the capture, or recorded
  // nothing.
  Result<Segment> run(const ForeignCall& call);

 private:
  Result<Segment> run_once(const ForeignCall& call);
  Status same_shape(const ForeignCall& call, const Segment& first, const Segment& second) const;

  CaptureStreams streams_;
  const bool check_twice_;
};

// The same outside a graph: the function enqueues on the stream of the execution itself. If it asks for a graph, its
// work is captured all the same, and launched there.
Status call_on_stream(const ForeignCall& call, const Execution& execution);

}  // namespace baton::hal::drivers::cuda
