// A convolution of tensors without gaps as one of cuDNN's engines computes it: the graph, what heuristics say of it, and which engine is
// taken.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "modules/libraries/convolution.hpp"
#include "modules/libraries/cudnn_engine.hpp"
#include "modules/libraries/trial.hpp"

namespace baton::libraries {

enum class ConvolutionKind { kForward, kFilterGradient, kInputGradient };

// An engine that computes one convolution of tensors without gaps.
class CudnnPlan {
 public:
  struct Request {
    Convolution convolution;
    ConvolutionKind kind;
    CudnnElement element;
    bool tf32;
    bool measures;  // Which engine is the fastest; else heuristics say.
    int64_t alignment;
  };
  static sdk::Result<std::shared_ptr<CudnnPlan>> make(const CudnnOnDevice& on, const Request& request) {
    auto plan = std::shared_ptr<CudnnPlan>(new CudnnPlan(on.use(), request));
    BATON_OR_RETURN(plan->describe(on.handle()));
    for (const int mode : {Cudnn::kByShape, Cudnn::kFallback}) {
      BATON_OR_RETURN(plan->choose(on, mode));
      if (plan->engine_) return plan;
    }
    return sdk::failure(sdk::StatusCode::kUnimplemented, "cuDNN has no engine for a convolution of ",
                        request.convolution.describe(), ".");
  }

  uint64_t workspace_bytes() const { return engine_->workspace_bytes(); }
  // On the stream that the handle has.
  sdk::Status enqueue(const CudnnOnDevice& on, const Places& places) const { return enqueue(on, places, *engine_); }

 private:
  static constexpr size_t kMeasuredMax = 24;
  static constexpr int64_t kX = 'x', kW = 'w', kY = 'y';  // Names of tensors.

  CudnnPlan(const Cudnn& use, const Request& request) : use_(use), request_(request) {}

  static sdk::Status enqueue(const CudnnOnDevice& on, const Places& places, const CudnnEngine& engine) {
    const int64_t ids[] = {kX, kW, kY};
    void* const pointers[] = {reinterpret_cast<void*>(places.x), reinterpret_cast<void*>(places.w),
                              reinterpret_cast<void*>(places.y)};
    return engine.enqueue(on, {ids, pointers}, places.workspace);
  }

  // Two dimensions of images at least, which is what engines know.
  size_t spatial_count() const {
    const Convolution::Along& first = request_.convolution.along[0];
    return first.image == 1 && first.window == 1 && first.result == 1 ? 2 : 3;
  }
  uint64_t bytes(const Convolution::Sizes& sizes, const Convolution::Strides& strides) const {
    return Convolution::extent(sizes, strides) * static_cast<uint64_t>(request_.element.bytes);
  }
  template <typename Numbers>
  std::vector<int64_t> without_missing(const Numbers& all) const {
    std::vector<int64_t> made(all.begin(), all.end());
    if (spatial_count() == 2) made.erase(made.begin() + 2);
    return made;
  }

  sdk::Status tensor(int64_t id, const Convolution::Sizes& all_sizes, const Convolution::Strides& all_strides) {
    const std::vector<int64_t> sizes = without_missing(all_sizes);
    const std::vector<int64_t> strides = without_missing(all_strides);
    CudnnDescriptor& made = kept_.emplace_back(use_, Cudnn::kTensor);
    made.set(Cudnn::kTensorElement, Cudnn::kElementValue, request_.element.type)
        .set(Cudnn::kTensorSizes, sizes)
        .set(Cudnn::kTensorStrides, strides)
        .set(Cudnn::kTensorId, Cudnn::kInt64Value, id)
        .set(Cudnn::kTensorAlignment, Cudnn::kInt64Value, request_.alignment);
    return made.finish();
  }

  // The graph, which is one operation.
  sdk::Status describe(Cudnn::Handle handle) {
    const Convolution& of = request_.convolution;
    kept_.reserve(6);
    BATON_OR_RETURN(tensor(kX, of.x_sizes(), of.x));
    BATON_OR_RETURN(tensor(kW, of.w_sizes(), of.w));
    BATON_OR_RETURN(tensor(kY, of.y_sizes(), of.y));
    std::vector<int64_t> dilations, steps, before, after;
    for (size_t i = Convolution::kSpatial - spatial_count(); i < Convolution::kSpatial; ++i) {
      dilations.push_back(of.along[i].dilation);
      steps.push_back(of.along[i].step);
      before.push_back(of.along[i].before);
      after.push_back(of.along[i].after());
    }
    const Cudnn::Element sums = request_.element.type == Cudnn::kF64 ? Cudnn::kF64 : Cudnn::kF32;
    const int mode = Cudnn::kCrossCorrelation;
    CudnnDescriptor& convolution = kept_.emplace_back(use_, Cudnn::kConvolution);
    convolution.set(Cudnn::kConvolutionSums, Cudnn::kElementValue, sums)
        .set(Cudnn::kConvolutionMode, Cudnn::kModeValue, mode)
        .set(Cudnn::kConvolutionDimensions, Cudnn::kInt64Value, static_cast<int64_t>(spatial_count()))
        .set(Cudnn::kConvolutionDilations, dilations)
        .set(Cudnn::kConvolutionStrides, steps)
        .set(Cudnn::kConvolutionBefore, before)
        .set(Cudnn::kConvolutionAfter, after);
    BATON_OR_RETURN(convolution.finish());
    BATON_OR_RETURN(operation(convolution));
    CudnnDescriptor& graph = kept_.emplace_back(use_, Cudnn::kGraph);
    graph.set(Cudnn::kGraphHandle, Cudnn::kHandleValue, handle).set(Cudnn::kGraphOperations, kept_[4]);
    return graph.finish();
  }

  // Attributes of each kind follow each other: alpha, beta, the convolution, w, x and y.
  sdk::Status operation(const CudnnDescriptor& convolution) {
    static constexpr int kTypes[] = {Cudnn::kForward, Cudnn::kFilterGradient, Cudnn::kInputGradient};
    static constexpr int kFirst[] = {Cudnn::kForwardAlpha, Cudnn::kFilterGradientAlpha, Cudnn::kInputGradientAlpha};
    const int first = kFirst[static_cast<int>(request_.kind)];
    const float one = 1, zero = 0;
    CudnnDescriptor& made = kept_.emplace_back(use_, kTypes[static_cast<int>(request_.kind)]);
    made.set(first, Cudnn::kFloatValue, one)
        .set(first + 1, Cudnn::kFloatValue, zero)
        .set(first + 2, convolution)
        .set(first + 3, kept_[1])
        .set(first + 4, kept_[0])
        .set(first + 5, kept_[2]);
    return made.finish();
  }

  // The first engine that heuristics name, takes the graph, and computes as precisely as the program says; or the fastest of some.
  sdk::Status choose(const CudnnOnDevice& on, int mode) {
    const Convolution& of = request_.convolution;
    BATON_ASSIGN_OR_RETURN(std::vector<CudnnDescriptor> found, cudnn_configurations(use_, kept_[5], mode));
    const bool keeps_f32 = request_.element.type == Cudnn::kF32 && !request_.tf32;
    std::optional<Trial> trial =
        request_.measures ? Trial::make(bytes(of.x_sizes(), of.x), bytes(of.w_sizes(), of.w), bytes(of.y_sizes(), of.y))
                          : std::nullopt;
    size_t left = trial ? kMeasuredMax : 1;
    std::chrono::nanoseconds least = std::chrono::nanoseconds::max();
    for (size_t i = 0; i < found.size() && left > 0; ++i) {
      std::optional<CudnnEngine> engine = CudnnEngine::make(on, found[i], keeps_f32);
      if (!engine) continue;
      --left;
      const auto run = [&](void* stream, const Places& places) -> sdk::Status {
        BATON_OR_RETURN(on.use_stream(stream));
        return enqueue(on, places, *engine);
      };
      const std::chrono::nanoseconds took =
          trial ? trial->measure(engine->workspace_bytes(), run) : std::chrono::nanoseconds::zero();
      // Who is a little faster may be so by chance; heuristics name the best first.
      if (trial ? took >= least / 20 * 19 : took >= least) continue;
      least = took;
      engine_.reset();
      engine_.emplace(std::move(*engine));
    }
    return {};
  }

  const Cudnn use_;
  const Request request_;
  std::vector<CudnnDescriptor> kept_;  // x, w, y, the convolution, the operation, the graph.
  std::optional<CudnnEngine> engine_;
};

}  // namespace baton::libraries
