#include "compiler-lite/dialects/all.hpp"

#include "compiler-lite/dialects/check/dialect.hpp"
#include "compiler-lite/dialects/flow/dialect.hpp"
#include "compiler-lite/dialects/hal/dialect.hpp"
#include "compiler-lite/dialects/iree_codegen/dialect.hpp"
#include "compiler-lite/dialects/iree_linalg_ext.hpp"
#include "compiler-lite/dialects/later_linalg.hpp"
#include "compiler-lite/dialects/stream/dialect.hpp"
#include "compiler-lite/dialects/tm_tensor/dialect.hpp"
#include "compiler-lite/dialects/torch/dialect.hpp"
#include "compiler-lite/dialects/tosa/dialect.hpp"
#include "compiler-lite/dialects/util/dialect.hpp"
#include "compiler-lite/dialects/vm/dialect.hpp"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace baton::compiler_lite {

void register_dialects(mlir::DialectRegistry& registry) {
  register_dialects_but_tosa(registry);
  registry.insert<tosa::TosaDialect>();
}

void register_dialects_but_tosa(mlir::DialectRegistry& registry) {
  registry.insert<check::CheckDialect, flow::FlowDialect, hal::HalDialect, iree_codegen::IREECodegenDialect,
                  iree_linalg_ext::LinalgExtDialect, stream::StreamDialect, tm_tensor::TmTensorDialect,
                  torch::TorchDialect, torch_c::TorchCDialect, util::UtilDialect, vm::VMDialect>();
  registry.insert<mlir::affine::AffineDialect, mlir::arith::ArithDialect, mlir::bufferization::BufferizationDialect,
                  mlir::cf::ControlFlowDialect, mlir::func::FuncDialect, mlir::linalg::LinalgDialect,
                  mlir::math::MathDialect, mlir::memref::MemRefDialect, mlir::ml_program::MLProgramDialect,
                  mlir::scf::SCFDialect, mlir::tensor::TensorDialect, mlir::vector::VectorDialect>();
  register_later_forms(registry);
}

}  // namespace baton::compiler_lite
