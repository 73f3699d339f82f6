#include "hal/drivers/cuda/graph_shape.hpp"

#include <algorithm>

namespace baton::hal::drivers::cuda {
namespace {

constexpr uint32_t kRootsMax = 2;

}  // namespace

Status GraphShape::add_empty(std::span<const CUgraphNode> dependencies, CUgraphNode& node) {
  return context_.status_of(
      context_.symbols().cuGraphAddEmptyNode(&node, graph_, dependencies.data(), dependencies.size()),
      "cuGraphAddEmptyNode");
}

Status GraphShape::add_root(CUgraphNode& node) {
  CUDA_KERNEL_NODE_PARAMS parameters = {};
  BATON_TRY_ASSIGN(parameters.kern, builtins_.nothing());
  parameters.ctx = context_.handle();
  parameters.gridDimX = parameters.gridDimY = parameters.gridDimZ = 1;
  parameters.blockDimX = parameters.blockDimY = parameters.blockDimZ = 1;
  return context_.status_of(context_.symbols().cuGraphAddKernelNode(&node, graph_, nullptr, 0, &parameters),
                            "cuGraphAddKernelNode");
}

Status GraphShape::join() {
  if (lane_count_ == 1) return {};
  std::array<CUgraphNode, kLanes> ends{};
  size_t count = 0;
  for (uint32_t lane = 0; lane < lane_count_; ++lane) {
    if (tails_[lane] && std::find(ends.begin(), ends.begin() + count, tails_[lane]) == ends.begin() + count) {
      ends[count++] = tails_[lane];
    }
  }
  CUgraphNode end = count == 0 ? nullptr : ends[0];
  if (count > 1) BATON_TRY(add_empty({ends.data(), count}, end));
  tails_[0] = end;
  lane_count_ = 1;
  lane_ = 0;
  return {};
}

Status GraphShape::begin_phase(uint32_t command_count) {
  BATON_TRY(join());
  lane_count_ = std::clamp(command_count, 1u, kLanes);
  next_ = 0;
  if (lane_count_ == 1) return {};
  if (lane_count_ > kRootsMax && !tails_[0]) BATON_TRY(add_root(tails_[0]));
  tails_.fill(tails_[0]);
  return {};
}

void GraphShape::begin_command() {
  lane_ = next_;
  if (++next_ == lane_count_) next_ = 0;
}

}  // namespace baton::hal::drivers::cuda
