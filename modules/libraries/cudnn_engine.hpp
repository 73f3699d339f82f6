// What plans of cuDNN share: the handle on a device, the configurations that heuristics name for a graph, and an engine that computes it.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "modules/libraries/cuda_library.hpp"
#include "modules/libraries/cudnn_backend.hpp"

namespace baton::libraries {

struct CudnnElement {
  Cudnn::Element type;
  int64_t bytes;
};

// Threads: whoever has it locked.
class CudnnOnDevice : public LibraryOnDevice<Cudnn> {
 public:
  using LibraryOnDevice::LibraryOnDevice;

  sdk::Status use_stream(void* stream) const {
    return status_of_call("cudnnSetStream", use().set_stream(handle(), stream));
  }

  std::mutex mutex;
};

// Tensors by their numbers: addresses of the device, and of the host for those by value.
struct CudnnTensors {
  std::span<const int64_t> ids;
  std::span<void* const> pointers;
};

// For a graph, the best first.
inline sdk::Result<std::vector<CudnnDescriptor>> cudnn_configurations(const Cudnn& use, const CudnnDescriptor& graph,
                                                                      int mode) {
  constexpr size_t kMost = 32;
  CudnnDescriptor heuristics(use, Cudnn::kHeuristics);
  heuristics.set(Cudnn::kHeuristicsGraph, graph).set(Cudnn::kHeuristicsMode, Cudnn::kHeuristicValue, mode);
  BATON_OR_RETURN(heuristics.finish());
  std::vector<CudnnDescriptor> found;
  std::vector<Cudnn::Descriptor> handles;
  found.reserve(kMost);
  for (size_t i = 0; i < kMost; ++i) handles.push_back(found.emplace_back(use, Cudnn::kConfiguration).get());
  int64_t count = 0;
  BATON_OR_RETURN(status_of_call("cudnnBackendGetAttribute",
                                 use.get(heuristics.get(), Cudnn::kHeuristicsResults, Cudnn::kDescriptorValue,
                                         static_cast<int64_t>(kMost), &count, handles.data())));
  while (found.size() > static_cast<size_t>(count)) found.pop_back();
  return found;
}

class CudnnEngine {
 public:
  // Nothing where the engine doesn't take the graph, or computes less precisely: in sums of less than f32, and, where it
  // `keeps_f32`, with less of an f32 than there is.
  static std::optional<CudnnEngine> make(const CudnnOnDevice& on, CudnnDescriptor& configuration, bool keeps_f32) {
    const Cudnn& use = on.use();
    if (!is_precise(use, configuration, keeps_f32)) return std::nullopt;
    const Cudnn::Handle handle = on.handle();
    CudnnDescriptor plan(use, Cudnn::kPlan);
    plan.set(Cudnn::kPlanHandle, Cudnn::kHandleValue, handle).set(Cudnn::kPlanConfiguration, configuration);
    if (!plan.finish().ok()) return std::nullopt;
    int64_t bytes = 0, one = 0;
    const int code = use.get(plan.get(), Cudnn::kPlanWorkspaceBytes, Cudnn::kInt64Value, 1, &one, &bytes);
    if (code != 0 || bytes > kWorkspaceMax) return std::nullopt;
    return CudnnEngine(std::move(configuration), std::move(plan), static_cast<uint64_t>(bytes));
  }

  uint64_t workspace_bytes() const { return workspace_bytes_; }

  // On the stream that the handle has.
  sdk::Status enqueue(const CudnnOnDevice& on, const CudnnTensors& tensors, uint64_t workspace) const {
    void* const work = reinterpret_cast<void*>(workspace);
    CudnnDescriptor variants(on.use(), Cudnn::kVariants);
    variants.set(Cudnn::kVariantIds, Cudnn::kInt64Value, tensors.ids.data(), tensors.ids.size())
        .set(Cudnn::kVariantPointers, Cudnn::kPointerValue, tensors.pointers.data(), tensors.pointers.size())
        .set(Cudnn::kVariantWorkspace, Cudnn::kPointerValue, work);
    BATON_OR_RETURN(variants.finish());
    return status_of_call("cudnnBackendExecute", on.use().execute(on.handle(), plan_.get(), variants.get()));
  }

 private:
  static constexpr int64_t kWorkspaceMax = int64_t{1} << 30;

  CudnnEngine(CudnnDescriptor configuration, CudnnDescriptor plan, uint64_t workspace_bytes)
      : configuration_(std::move(configuration)), plan_(std::move(plan)), workspace_bytes_(workspace_bytes) {}

  static bool is_precise(const Cudnn& use, const CudnnDescriptor& configuration, bool keeps_f32) {
    CudnnDescriptor engine(use, Cudnn::kEngine);
    Cudnn::Descriptor of = engine.get();
    int64_t count = 0;
    if (use.get(configuration.get(), Cudnn::kConfigurationEngine, Cudnn::kDescriptorValue, 1, &count, &of) != 0) {
      return false;
    }
    int notes[16] = {};
    if (use.get(of, Cudnn::kEngineNotes, Cudnn::kNoteValue, 16, &count, notes) != 0) return false;
    for (int64_t i = 0; i < count && i < 16; ++i) {
      const bool rounds = notes[i] == Cudnn::kTensorCores || notes[i] == Cudnn::kLessPreciseInputs;
      if (notes[i] == Cudnn::kLessPreciseSums || (rounds && keeps_f32)) return false;
    }
    return true;
  }

  CudnnDescriptor configuration_, plan_;
  uint64_t workspace_bytes_;
};

}  // namespace baton::libraries
