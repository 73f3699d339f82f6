// cuDNN's graph interface, opened at run time: descriptors whose attributes are set by number. The declarations and numbers are those of
// cudnn_graph.h; handles and descriptors are void*.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "modules/libraries/cuda_calls.hpp"

namespace baton::libraries {

struct Cudnn {
  using Handle = void*;
  using Descriptor = void*;

  enum DescriptorType : int {
    kPointwise = 0,
    kConvolution = 1,
    kEngine = 2,
    kConfiguration = 3,  // Of an engine.
    kHeuristics = 4,
    kPlan = 5,
    kForward = 10,
    kFilterGradient = 11,
    kInputGradient = 12,
    kPointwiseOperation = 13,
    kGraph = 15,
    kVariants = 16,
    kTensor = 17,
    kProduct = 18,
    kProductOperation = 19,
    kReduction = 21,
    kReductionOperation = 22
  };
  enum ValueType : int {
    kHandleValue = 0,
    kElementValue = 1,
    kBoolValue = 2,
    kInt64Value = 3,
    kFloatValue = 4,
    kPointerValue = 6,
    kModeValue = 7,
    kHeuristicValue = 8,
    kNoteValue = 11,
    kPointwiseValue = 14,
    kDescriptorValue = 15,
    kReductionValue = 18
  };
  enum Attribute : int {
    kPointwiseMode = 0,
    kPointwiseElement = 1,  // In which it is computed.
    kPointwiseAxis = 9,
    kConvolutionSums = 100,
    kConvolutionMode = 101,
    kConvolutionDilations = 102,
    kConvolutionStrides = 103,
    kConvolutionAfter = 104,
    kConvolutionBefore = 105,
    kConvolutionDimensions = 106,
    kHeuristicsMode = 200,
    kHeuristicsGraph = 201,
    kHeuristicsResults = 202,
    kConfigurationEngine = 300,
    kPlanHandle = 400,
    kPlanConfiguration = 401,
    kPlanWorkspaceBytes = 402,
    kForwardAlpha = 700,  // And beta, the convolution, w, x and y behind it.
    kInputGradientAlpha = 706,
    kFilterGradientAlpha = 712,
    kOfPointwise = 750,  // And x, b and y behind it.
    kPointwiseCondition = 758,
    kGraphHandle = 800,
    kGraphOperations = 801,
    kTensorAlignment = 900,
    kTensorElement = 901,
    kTensorSizes = 902,
    kTensorStrides = 903,
    kTensorId = 906,
    kTensorVirtual = 907,
    kTensorByValue = 908,
    kVariantIds = 1000,
    kVariantPointers = 1001,
    kVariantWorkspace = 1003,
    kEngineNotes = 1303,
    kProductElement = 1500,
    kProductA = 1520,  // And B, C and the product's descriptor behind it.
    kReductionMode = 1600,
    kReductionElement = 1601,
    kReductionX = 1610  // And y and the reduction's descriptor behind it.
  };
  enum Element : int { kF32 = 0, kF64 = 1, kF16 = 2, kI32 = 4, kBf16 = 9, kBool = 11 };
  enum PointwiseMode : int {
    kAdd = 0,
    kMultiply = 1,
    kDivide = 6,
    kSubtract = 9,
    kExp = 13,
    kLog = 15,
    kIsAtLeast = 303,
    kIndex = 501,
    kSelect = 601
  };
  enum ReductionMode : int { kSum = 0, kLargest = 3 };
  enum Note : int { kTensorCores = 0, kLessPreciseInputs = 1, kLessPreciseSums = 2 };
  static constexpr int kCrossCorrelation = 1;
  enum Heuristic : int { kAtOnce = 0, kFallback = 2, kByShape = 3 };

  int (*create)(Handle* handle);
  int (*destroy)(Handle handle);
  int (*set_stream)(Handle handle, void* stream);
  int (*create_descriptor)(int type, Descriptor* made);
  int (*destroy_descriptor)(Descriptor made);
  int (*finalize)(Descriptor of);
  int (*set)(Descriptor of, int attribute, int type, int64_t count, const void* values);
  int (*get)(Descriptor of, int attribute, int type, int64_t wanted, int64_t* count, void* values);
  int (*execute)(Handle handle, Descriptor plan, Descriptor variants);
  // Of the older interface: tensors that are copied into another order.
  int (*create_tensor)(Descriptor* made);
  int (*destroy_tensor)(Descriptor made);
  int (*set_tensor)(Descriptor of, int element, int dimensions, const int* sizes, const int* strides);
  int (*transform)(Handle handle, const void* alpha, Descriptor from_is, const void* from, const void* beta,
                   Descriptor to_is, void* to);

  static sdk::Result<Cudnn> open(const std::string& path) {
    BATON_ASSIGN_OR_RETURN(const SharedLibrary library, path.empty()
                                                            ? SharedLibrary::open({"libcudnn.so.9", "libcudnn.so"})
                                                            : SharedLibrary::open({path}));
    Cudnn all = {};
    BATON_OR_RETURN(library.find("cudnnCreate", all.create));
    BATON_OR_RETURN(library.find("cudnnDestroy", all.destroy));
    BATON_OR_RETURN(library.find("cudnnSetStream", all.set_stream));
    BATON_OR_RETURN(library.find("cudnnBackendCreateDescriptor", all.create_descriptor));
    BATON_OR_RETURN(library.find("cudnnBackendDestroyDescriptor", all.destroy_descriptor));
    BATON_OR_RETURN(library.find("cudnnBackendFinalize", all.finalize));
    BATON_OR_RETURN(library.find("cudnnBackendSetAttribute", all.set));
    BATON_OR_RETURN(library.find("cudnnBackendGetAttribute", all.get));
    BATON_OR_RETURN(library.find("cudnnBackendExecute", all.execute));
    BATON_OR_RETURN(library.find("cudnnCreateTensorDescriptor", all.create_tensor));
    BATON_OR_RETURN(library.find("cudnnDestroyTensorDescriptor", all.destroy_tensor));
    BATON_OR_RETURN(library.find("cudnnSetTensorNdDescriptor", all.set_tensor));
    BATON_OR_RETURN(library.find("cudnnTransformTensor", all.transform));
    return all;
  }
};

// One descriptor, as long as it is needed. Its first failure is kept, and told when it is finished.
class CudnnDescriptor {
 public:
  CudnnDescriptor(const Cudnn& use, int type) : use_(&use) {
    status_ = status_of_call("cudnnBackendCreateDescriptor", use.create_descriptor(type, &made_));
  }
  CudnnDescriptor(CudnnDescriptor&& other) noexcept
      : use_(other.use_), made_(std::exchange(other.made_, nullptr)), status_(std::move(other.status_)) {}
  CudnnDescriptor& operator=(CudnnDescriptor&&) = delete;
  ~CudnnDescriptor() {
    if (made_) use_->destroy_descriptor(made_);
  }
  Cudnn::Descriptor get() const { return made_; }

  CudnnDescriptor& set(int attribute, int type, const void* values, size_t count) {
    if (status_.ok()) {
      status_ = status_of_call("cudnnBackendSetAttribute",
                               use_->set(made_, attribute, type, static_cast<int64_t>(count), values));
    }
    return *this;
  }
  template <typename T>
  CudnnDescriptor& set(int attribute, int type, const T& value) {
    return set(attribute, type, &value, 1);
  }
  CudnnDescriptor& set(int attribute, const std::vector<int64_t>& values) {
    return set(attribute, Cudnn::kInt64Value, values.data(), values.size());
  }
  CudnnDescriptor& set(int attribute, const CudnnDescriptor& value) {
    return set(attribute, Cudnn::kDescriptorValue, value.made_);
  }
  sdk::Status finish() {
    if (!status_.ok()) return std::move(status_);
    return status_of_call("cudnnBackendFinalize", use_->finalize(made_));
  }

 private:
  const Cudnn* use_;
  Cudnn::Descriptor made_ = nullptr;
  sdk::Status status_;
};

}  // namespace baton::libraries
