// few_rows: products of few rows, as a token or a small batch makes them. They take as long as their second matrix is read.
#pragma once

#include "compiler-lite/codegen/cpu/lower_bodies.hpp"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace baton::compiler_lite::codegen::cpu {

// Whether `op` was such a product, with a matrix that lies in memory along one of its sides; it is gone then.
bool lower_few_rows(mlir::IRRewriter& rewriter, mlir::linalg::LinalgOp op, const BodyOptions& options);

}  // namespace baton::compiler_lite::codegen::cpu
