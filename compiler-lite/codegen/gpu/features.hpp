// What a target of blocks and threads says of its devices, for the code in this folder.
#pragma once

#include <cstdint>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace baton::compiler_lite::codegen {
struct Product;
}

namespace baton::compiler_lite::codegen::gpu {

class Block;

// Writes the product of two matrices by instructions that only this target has. False, and nothing is written: it has
// none for such a product. `from_zero`: C holds nothing that counts.
using ProductWriter = bool (*)(mlir::OpBuilder& builder, mlir::Location location, const Product& product, Block& block,
                               bool from_zero);

// What not every device does.
struct Features {
  // Copies to shared memory during which threads go on; products of bf16 on tensor cores, and of f16 in larger pieces;
  // instructions that round to bf16.
  bool has_async_copy = false;
  // Products by four warps at once, of what lies in shared memory (cuda/warpgroup.hpp).
  bool has_warpgroups = false;
  // Blocks that follow each other run side by side where a kernel asks for it (kClusterBlocks), and read each other's
  // shared memory.
  bool has_clusters = false;
  // What a block may have of shared memory, by the programming guide; the device is asked again when it loads the code.
  int64_t shared_bytes_max = 64 * 1024;
  // Threads side by side that run together and hand each other what they hold; 0: they meet in shared memory only, all of
  // a block.
  int64_t warp = 32;
  bool has_warps() const { return warp != 0; }
  ProductWriter write_product = nullptr;
  // It makes the turns of a product itself, or refuses those that it can't.
  bool makes_turns = false;
  // Writes a kernel of attention (codegen/attention.hpp); null where targets say that they take none.
  mlir::LogicalResult (*write_attention)(mlir::func::FuncOp kernel, const Features& features) = nullptr;
};

}  // namespace baton::compiler_lite::codegen::gpu
