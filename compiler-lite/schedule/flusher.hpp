// Flusher: executes what is gathered where the host needs it, and gives buffers and operands that are ready.
#pragma once

#include "compiler-lite/schedule/gatherer.hpp"

namespace baton::compiler_lite::schedule {

class Flusher {
 public:
  Flusher(ScheduledFunction& function, Places& places, Gatherer& gatherer)
      : function_(function), hal_(function.hal), builder_(function.builder), places_(places), gatherer_(gatherer) {}

  // Executes the gathered work before `op`. When one device has all of it, the execution signals `signal` if that is
  // given; otherwise a fence of its own. Returns the fences that will be signalled, one for each device.
  llvm::SmallVector<mlir::Value> flush(mlir::Operation* op, mlir::Value signal = {});
  // What is gathered for one device.
  mlir::Value flush(mlir::Operation* op, unsigned device, mlir::Value signal = {});
  // The place of a tensor that nothing gathered makes, once it is in memory of another device.
  Place transfer(mlir::Location location, mlir::Value tensor, unsigned device);
  // The host waits until the tensors are computed.
  void await(mlir::Location location, llvm::ArrayRef<mlir::Value> tensors);
  void await_memory(mlir::Location location, const Memory& memory) {
    const mlir::Value fence = memory.fence;  // The memory's own is taken from it.
    await_fences(location, fence);
  }
  // Until those custom commands are done whose results were not waited for: they may work on what the caller lent.
  void await_commands(mlir::Location location);
  // A fence that the caller sees stands for them.
  void hand_over_commands() { commands_done_.clear(); }
  mlir::Value join(mlir::Location location, llvm::ArrayRef<mlir::Value> fences);

  // The buffer that the tensor lies in, at its place's offset, and the one that begins with it.
  mlir::Value whole_buffer(mlir::Location location, mlir::Value tensor);
  mlir::Value exact_buffer(mlir::Location location, mlir::Value tensor);
  // Operands where tensors leave a function or a block: the buffer and the open sizes of each.
  void expand(mlir::Location location, mlir::ValueRange values, llvm::SmallVectorImpl<mlir::Value>& out);

 private:
  mlir::Value buffer_of(mlir::Location location, const Memory& memory);
  void await_fences(mlir::Location location, llvm::ArrayRef<mlir::Value> fences);

  struct Slab {
    mlir::Value buffer = {};  // Null: nothing is transient.
    mlir::Value bytes = {};
    llvm::SmallVector<mlir::Value> region_offsets = {};
  };
  mlir::Value allocate(mlir::Location location, unsigned device, mlir::Value& after, mlir::Value bytes, int memory_kind,
                       int usage);
  mlir::Value slab_bytes(mlir::Location location, const Recording& recording,
                         llvm::SmallVectorImpl<mlir::Value>& region_offsets);
  void plan(Gathered& gathered);
  // The binding table's rows of three, in the order of slots. Allocations move `after` on.
  llvm::SmallVector<mlir::Value> make_table(const Gathered& gathered, mlir::Value& after, Slab& slab);
  mlir::Value make_recording(const Recording& recording, llvm::ArrayRef<mlir::Value> region_offsets);
  mlir::Value recorded_once(const Recording& recording);

  ScheduledFunction& function_;
  HalCalls& hal_;
  mlir::OpBuilder& builder_;
  Places& places_;
  Gatherer& gatherer_;
  unsigned recording_count_ = 0;
  llvm::SmallVector<mlir::Value> commands_done_;  // Fences of recordings with custom commands.
};

}  // namespace baton::compiler_lite::schedule
