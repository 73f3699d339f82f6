// GraphShape: decides on which nodes the next node of a graph depends.
//
// The shape of a graph decides its cost. 1000 kernels on an H200: all of them roots, 736 us on the host and as much on
// the device; in a chain, 2 and 1049 us; dealt into eight chains between one root and one join, 1.3 and 206 us. So the
// commands of a phase (independent of each other) are dealt into lanes, lanes meet in a join where a barrier stands,
// and a phase of many that would begin the graph gets a root to hang from. The root is a kernel that does nothing: the
// driver removes an empty node, and then eight lanes are eight roots again (9.5 us to launch instead of 2.8). A
// join may be empty. Two lanes are cheaper as two roots.
// Threads: externally synchronized.
#pragma once

#include <array>
#include <span>

#include "hal/drivers/cuda/builtins.hpp"

namespace baton::hal::drivers::cuda {

class GraphShape {
 public:
  static constexpr uint32_t kLanes = 8;

  // Asked for the kernel that does nothing when a root is needed.
  GraphShape(PrimaryContext& context, Builtins& builtins, CUgraph graph)
      : context_(context), builtins_(builtins), graph_(graph) {}

  // A phase of `command_count` commands begins behind everything added so far.
  Status begin_phase(uint32_t command_count);
  // The next command of the phase: its nodes go on in the lane where the last of that lane ended.
  void begin_command();
  std::span<const CUgraphNode> dependencies() const { return {&tails_[lane_], tails_[lane_] ? size_t{1} : 0}; }
  // `node` was added behind dependencies().
  void added(CUgraphNode node, bool is_kernel) {
    tails_[lane_] = node;
    if (is_kernel) last_kernel_ = node;
  }
  // Whether dependencies() is a kernel that was added last.
  bool behind_kernel() const { return tails_[lane_] && tails_[lane_] == last_kernel_; }
  // One join at the end.
  Status finish() { return join(); }

 private:
  Status join();
  Status add_root(CUgraphNode& node);
  Status add_empty(std::span<const CUgraphNode> dependencies, CUgraphNode& node);

  PrimaryContext& context_;
  Builtins& builtins_;
  CUgraph graph_;
  std::array<CUgraphNode, kLanes> tails_{};  // Of lane_count_ lanes; null: nothing before.
  uint32_t lane_count_ = 1;                  // Of this phase.
  uint32_t lane_ = 0;
  uint32_t next_ = 0;
  CUgraphNode last_kernel_ = nullptr;
};

}  // namespace baton::hal::drivers::cuda
