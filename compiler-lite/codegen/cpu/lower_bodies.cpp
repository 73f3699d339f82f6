#include "compiler-lite/codegen/cpu/lower_bodies.hpp"

#include "compiler-lite/codegen/cpu/product.hpp"
#include "compiler-lite/codegen/cpu/split_loops.hpp"
#include "compiler-lite/codegen/cpu/turned_blocks.hpp"
#include "compiler-lite/codegen/loops.hpp"
#include "compiler-lite/codegen/lower_to_buffers.hpp"
#include "compiler-lite/codegen/temporaries.hpp"
#include "hal/interface/numbers.hpp"

namespace baton::compiler_lite::codegen::cpu {
namespace {

constexpr uint64_t kStackBytesMax = 4 * 1024;

}  // namespace

mlir::LogicalResult lower_bodies(mlir::ModuleOp kernels, const BodyOptions& options) {
  if (mlir::failed(lower_products(kernels, options))) return mlir::failure();
  turn_blocks(kernels, options);
  if (mlir::failed(lower_to_loops(kernels))) return mlir::failure();
  split_loops(kernels);
  if (mlir::failed(place_temporaries(kernels, {baton::hal::kLocalMemoryBytesMax, kStackBytesMax})))
    return mlir::failure();
  return clean_up(kernels);
}

}  // namespace baton::compiler_lite::codegen::cpu
