// fusion_rules: which producers become part of what reads them. It may only save work: an element that is read often is
// computed once, unless that is cheaper than keeping it.
#pragma once

#include "llvm/ADT/SmallPtrSet.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace baton::compiler_lite::codegen {

// Whether one kernel may read all of these. hal/interface/numbers.hpp has the devices' limits; results and checks take
// a part of them.
bool is_narrow(const llvm::SmallPtrSetImpl<mlir::Value>& read);

// Of one element, roughly: instructions that `op` is, with all that is inside of it.
int64_t count_steps(mlir::Operation* op);
// A kernel of more steps for each element waits for no memory, and LLVM's time grows with the square of a loop's body.
constexpr int64_t kStepsMax = 1000;

// Nothing but a constant, a copy or a conversion to a wider type: everyone who reads it may do it again.
bool is_free(mlir::linalg::LinalgOp producer);
// A choice for each element, as padding makes it, would be made again for each reader, and vectors of none.
bool is_branchy(mlir::linalg::LinalgOp op);

// Whether a branch of the body asks where it is.
bool has_index_in_branch(mlir::linalg::LinalgOp op);

// Whether the reader, when it computes what it reads of the producer, is still narrow, and short.
bool stays_small(mlir::linalg::LinalgOp producer, mlir::Operation* reader, mlir::Value read);
// In a program, before it is divided into kernels.
bool fuses_in_program(mlir::OpOperand* operand);
// The same where blocks of threads compute: what chooses between parts is computed by its reader, too.
bool fuses_in_program_on_blocks(mlir::OpOperand* operand);
// Within a kernel. Writing it out is no reading: a result of the kernel that others read on is computed for itself and
// for them.
bool fuses_in_kernel(mlir::OpOperand* operand);

}  // namespace baton::compiler_lite::codegen
