// convolution_layout: a sum of products over windows as libraries know convolutions, with what stands around it.
//
// Libraries take tensors whose dimensions lie in any order, zeros around an image and zeros between its elements, so what writes these
// for generated code (paddings, transposes, reversed filters) needs no kernel where a library computes: operands are followed up to the
// tensors that those read, and the result down to where it ends in another order.
//
// Which convolution it is say the sizes. A window that is larger than the result sums over images: the gradient of a filter. A
// filter that is read backwards, or zeros between the elements, give the gradient of an image.
#pragma once

#include <string>
#include <vector>

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace baton::compiler_lite::schedule {

enum class ConvolutionKind { kForward, kFilterGradient, kInputGradient };

struct ConvolutionLayout {
  ConvolutionKind kind = ConvolutionKind::kForward;
  mlir::linalg::LinalgOp op = {};
  mlir::Operation* root = nullptr;  // Gives the result; `op` itself where nothing follows.
  // From an operand of `root` up to the tensor that the library reads: the number of an operand of each operation.
  using Path = llvm::SmallVector<int64_t>;
  Path paths[2] = {};                               // Image and filter; of gradients what stands in the place of these.
  llvm::SmallVector<mlir::Operation*> passed = {};  // What stands on the way, which a library reads nothing of.
  std::vector<int64_t> numbers = {};                // In the order of modules/libraries/README.md.
  std::string elements = {};                        // Of both operands and the result.
  std::string sizes = {};                           // For people.
  int64_t work = 0;                                 // Multiplications.
  // Whether a library would copy the filter, whose order is not that of images and results; and how often it reads an element of it.
  bool moves_filter = false;
  int64_t filter_uses = 0;
};

// Or why it is none; an empty reason: it has no windows at all.
struct ConvolutionOrReason {
  std::optional<ConvolutionLayout> layout;
  const char* reason = "";
};
ConvolutionOrReason convolution_layout(mlir::linalg::LinalgOp op);

}  // namespace baton::compiler_lite::schedule
