// An attention as one of cuDNN's engines computes it: the graph of operations that it knows as one.
//
//   scores = Q K       scaled = scores * scale       masked = row >= key ? scaled : the least number
//   weights = exp(masked - largest) / sum            result = weights V
//
// Engines for this are found only where the graph has the logarithm of the sums, too, which nobody reads.
#pragma once

#include <deque>
#include <limits>
#include <memory>
#include <vector>

#include "modules/libraries/attention.hpp"
#include "modules/libraries/cudnn_engine.hpp"

namespace baton::libraries {

// Threads: whoever has the device's handle locked.
class CudnnAttention {
 public:
  static sdk::Result<std::shared_ptr<CudnnAttention>> make(const CudnnOnDevice& on, const Attention& of,
                                                           CudnnElement element) {
    auto made = std::shared_ptr<CudnnAttention>(new CudnnAttention(on.use(), of, element));
    BATON_OR_RETURN(made->describe(on.handle()));
    BATON_ASSIGN_OR_RETURN(std::vector<CudnnDescriptor> found,
                           cudnn_configurations(on.use(), made->descriptors_.back(), Cudnn::kAtOnce));
    for (CudnnDescriptor& configuration : found) {
      std::optional<CudnnEngine> engine = CudnnEngine::make(on, configuration, element.type == Cudnn::kF32);
      if (!engine) continue;
      made->engine_.emplace(std::move(*engine));
      return made;
    }
    return sdk::failure(sdk::StatusCode::kUnimplemented, "cuDNN has no engine for an attention of ", of.describe(),
                        " on this device.");
  }

  uint64_t workspace_bytes() const { return engine_->workspace_bytes(); }
  static constexpr uint64_t kAlignment = 16;  // Of all tensors.

  // Addresses of Q, K, V and the result, and of the workspace. On the stream that the handle has.
  sdk::Status enqueue(const CudnnOnDevice& on, const std::array<uint64_t, 4>& tensors, uint64_t workspace) const {
    const int64_t ids[] = {kQ, kK, kV, kResult, kScale, kLeast};
    float scale = of_.scale, least = std::numeric_limits<float>::lowest();
    void* pointers[6] = {nullptr, nullptr, nullptr, nullptr, &scale, &least};
    for (size_t i = 0; i < tensors.size(); ++i) pointers[i] = reinterpret_cast<void*>(tensors[i]);
    const size_t count = of_.is_causal ? 6 : 5;
    return engine_->enqueue(on, {std::span(ids).first(count), std::span(pointers).first(count)}, workspace);
  }

 private:
  enum Id : int64_t { kQ = 1, kK, kV, kResult, kScale, kLeast, kFirstBetween };
  using Shape = std::vector<int64_t>;

  CudnnAttention(const Cudnn& use, const Attention& of, CudnnElement element) : use_(use), of_(of), element_(element) {}

  // The first failure is kept; what comes after it has no effect.
  void finish(CudnnDescriptor& made) {
    if (status_.ok()) status_ = made.finish();
  }
  CudnnDescriptor& make_descriptor(int type) { return descriptors_.emplace_back(use_, type); }

  struct Kind {
    int64_t id;
    int element;
    bool is_virtual = false, is_by_value = false;
  };
  CudnnDescriptor& make_tensor(const Kind& kind, const Shape& sizes, const Shape& strides) {
    CudnnDescriptor& made = make_descriptor(Cudnn::kTensor);
    made.set(Cudnn::kTensorElement, Cudnn::kElementValue, kind.element)
        .set(Cudnn::kTensorSizes, sizes)
        .set(Cudnn::kTensorStrides, strides)
        .set(Cudnn::kTensorId, Cudnn::kInt64Value, kind.id)
        .set(Cudnn::kTensorAlignment, Cudnn::kInt64Value, static_cast<int64_t>(kAlignment))
        .set(Cudnn::kTensorVirtual, Cudnn::kBoolValue, kind.is_virtual)
        .set(Cudnn::kTensorByValue, Cudnn::kBoolValue, kind.is_by_value);
    finish(made);
    return made;
  }
  CudnnDescriptor& make_operand(Id id, Attention::Tensor tensor) {
    const std::array<int64_t, 4> sizes = of_.sizes(tensor);
    const Attention::Strides& strides = of_.strides[tensor];
    Shape all_sizes(sizes.begin(), sizes.end()), all_strides = {strides[0], strides[1], strides[2], 1};
    for (size_t i = 0; i < 3; ++i) {  // A stride that no step takes says nothing, and mustn't be 0.
      if (all_sizes[i] == 1 && all_strides[i] == 0) all_strides[i] = all_strides[i + 1] * all_sizes[i + 1];
    }
    if (tensor == Attention::kK) {
      std::swap(all_sizes[2], all_sizes[3]);
      std::swap(all_strides[2], all_strides[3]);
    }
    return make_tensor({id, element_.type}, all_sizes, all_strides);
  }
  CudnnDescriptor& make_number(Id id) {
    return make_tensor({id, Cudnn::kF32, /*is_virtual=*/false, /*is_by_value=*/true}, {1, 1, 1, 1}, {1, 1, 1, 1});
  }
  // What is computed on the way: as large as the scores, or a number for each row.
  CudnnDescriptor& make_scores(int element = Cudnn::kF32) {
    return make_tensor({next_id_++, element, true}, {of_.batches, of_.heads, of_.rows, of_.keys},
                       {of_.heads * of_.rows * of_.keys, of_.rows * of_.keys, of_.keys, 1});
  }
  CudnnDescriptor& make_row_numbers() {
    return make_tensor({next_id_++, Cudnn::kF32, true}, {of_.batches, of_.heads, of_.rows, 1},
                       {of_.heads * of_.rows, of_.rows, 1, 1});
  }

  // Computed in elements of `element`; `axis`: of a place, whose; 0: none.
  CudnnDescriptor& pointwise(Cudnn::PointwiseMode mode, Cudnn::Element element = Cudnn::kF32, int64_t axis = 0) {
    CudnnDescriptor& made = make_descriptor(Cudnn::kPointwise);
    made.set(Cudnn::kPointwiseMode, Cudnn::kPointwiseValue, static_cast<int>(mode))
        .set(Cudnn::kPointwiseElement, Cudnn::kElementValue, static_cast<int>(element));
    if (axis != 0) made.set(Cudnn::kPointwiseAxis, Cudnn::kInt64Value, axis);
    finish(made);
    return made;
  }
  struct Operands {
    const CudnnDescriptor *x, *b = nullptr, *condition = nullptr;
  };
  CudnnDescriptor& apply(const CudnnDescriptor& kind, const Operands& operands, CudnnDescriptor& y) {
    CudnnDescriptor& made = make_descriptor(Cudnn::kPointwiseOperation);
    made.set(Cudnn::kOfPointwise, kind).set(Cudnn::kOfPointwise + 1, *operands.x);
    if (operands.b) made.set(Cudnn::kOfPointwise + 2, *operands.b);
    if (operands.condition) made.set(Cudnn::kPointwiseCondition, *operands.condition);
    made.set(Cudnn::kOfPointwise + 3, y);
    return add(made, y);
  }
  CudnnDescriptor& multiply(const CudnnDescriptor& a, const CudnnDescriptor& b, CudnnDescriptor& c) {
    CudnnDescriptor& product = make_descriptor(Cudnn::kProduct);
    product.set(Cudnn::kProductElement, Cudnn::kElementValue, static_cast<int>(Cudnn::kF32));
    finish(product);
    CudnnDescriptor& made = make_descriptor(Cudnn::kProductOperation);
    made.set(Cudnn::kProductA, a)
        .set(Cudnn::kProductA + 1, b)
        .set(Cudnn::kProductA + 2, c)
        .set(Cudnn::kProductA + 3, product);
    return add(made, c);
  }
  CudnnDescriptor& reduce(Cudnn::ReductionMode mode, const CudnnDescriptor& x) {
    CudnnDescriptor& reduction = make_descriptor(Cudnn::kReduction);
    reduction.set(Cudnn::kReductionMode, Cudnn::kReductionValue, static_cast<int>(mode))
        .set(Cudnn::kReductionElement, Cudnn::kElementValue, static_cast<int>(Cudnn::kF32));
    finish(reduction);
    CudnnDescriptor& y = make_row_numbers();
    CudnnDescriptor& made = make_descriptor(Cudnn::kReductionOperation);
    made.set(Cudnn::kReductionX, x).set(Cudnn::kReductionX + 1, y).set(Cudnn::kReductionX + 2, reduction);
    return add(made, y);
  }
  CudnnDescriptor& add(CudnnDescriptor& operation, CudnnDescriptor& result) {
    finish(operation);
    operations_.push_back(operation.get());
    return result;
  }

  sdk::Status describe(Cudnn::Handle handle) {
    const CudnnDescriptor &q = make_operand(kQ, Attention::kQ), &k = make_operand(kK, Attention::kK),
                          &v = make_operand(kV, Attention::kV);
    CudnnDescriptor& result = make_operand(kResult, Attention::kResult);
    const CudnnDescriptor* scores = &multiply(q, k, make_scores());
    scores = &apply(pointwise(Cudnn::kMultiply), {scores, &make_number(kScale)}, make_scores());
    if (of_.is_causal) {
      constexpr int64_t kRows = 2, kKeys = 3;
      const CudnnDescriptor& row =
          apply(pointwise(Cudnn::kIndex, Cudnn::kI32, kRows), {scores}, make_scores(Cudnn::kI32));
      const CudnnDescriptor& key =
          apply(pointwise(Cudnn::kIndex, Cudnn::kI32, kKeys), {scores}, make_scores(Cudnn::kI32));
      const CudnnDescriptor& counts =
          apply(pointwise(Cudnn::kIsAtLeast, Cudnn::kBool), {&row, &key}, make_scores(Cudnn::kBool));
      scores = &apply(pointwise(Cudnn::kSelect), {scores, &make_number(kLeast), &counts}, make_scores());
    }
    const CudnnDescriptor& largest = reduce(Cudnn::kLargest, *scores);
    const CudnnDescriptor& difference = apply(pointwise(Cudnn::kSubtract), {scores, &largest}, make_scores());
    const CudnnDescriptor& power = apply(pointwise(Cudnn::kExp), {&difference}, make_scores());
    const CudnnDescriptor& sum = reduce(Cudnn::kSum, power);
    const CudnnDescriptor& logarithm = apply(pointwise(Cudnn::kLog), {&sum}, make_row_numbers());
    apply(pointwise(Cudnn::kAdd), {&largest, &logarithm}, make_row_numbers());
    const CudnnDescriptor& weights = apply(pointwise(Cudnn::kDivide), {&power, &sum}, make_scores(element_.type));
    multiply(weights, v, result);
    CudnnDescriptor& graph = make_descriptor(Cudnn::kGraph);
    graph.set(Cudnn::kGraphHandle, Cudnn::kHandleValue, handle)
        .set(Cudnn::kGraphOperations, Cudnn::kDescriptorValue, operations_.data(), operations_.size());
    finish(graph);
    return std::move(status_);
  }

  const Cudnn use_;
  const Attention of_;
  const CudnnElement element_;
  sdk::Status status_;
  int64_t next_id_ = kFirstBetween;
  std::deque<CudnnDescriptor> descriptors_;  // The graph is the last one.
  std::vector<Cudnn::Descriptor> operations_;
  std::optional<CudnnEngine> engine_;
};

}  // namespace baton::libraries
