// What a file NAME.library.mlir says: which products, convolutions and attentions the commands of a native module take.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mlir/IR/BuiltinOps.h"

namespace baton::compiler_lite::schedule {

// What stands behind a product, element by element.
struct Epilogue {
  bool bias = false;            // A number for each column is added.
  std::string activation = {};  // "relu", "gelu" or none.
};

// One row of `library.products`.
struct LibraryProduct {
  std::string command;
  std::vector<std::string> elements;     // "f32 f32 f32": of A, B and C.
  std::vector<std::string> activations;  // That the command knows.
  bool bias = false;
  // The smallest that it takes: multiplications, rows, columns and steps of one matrix.
  int64_t work = 0, rows = 0, columns = 0, steps = 0;
};

// One row of `library.convolutions`.
struct LibraryConvolution {
  std::string command;                // With _filter_gradient, _input_gradient behind it for those.
  std::vector<std::string> elements;  // "f32 f32 f32": of both operands and the result.
  std::vector<std::string> kinds;     // "forward", "filter_gradient", "input_gradient".
  int64_t work = 0;                   // The smallest that it takes, in multiplications.
  // How often each element of a filter must be read for a copy of it to be worth it; nothing: it takes none that it must copy.
  std::optional<int64_t> moved_filter_uses = {};
};

// One row of `library.attentions`.
struct LibraryAttention {
  std::string command;
  std::vector<std::string> elements;  // "f16": of all tensors.
  int64_t work = 0, rows = 0;         // The smallest that it takes, in multiplications and in rows of Q.
  // Elements of a row of Q, K and V: of how many it takes a multiple, and the most; 0: any.
  int64_t depth_multiple = 0, depth = 0;
};

struct LibraryFile {
  std::string name;  // Of the native module.
  std::vector<LibraryProduct> products;
  std::vector<LibraryConvolution> convolutions;
  std::vector<LibraryAttention> attentions;
};

mlir::FailureOr<LibraryFile> read_library_file(mlir::MLIRContext* context, const std::string& path,
                                               mlir::Location location);

}  // namespace baton::compiler_lite::schedule
