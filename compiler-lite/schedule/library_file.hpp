// What a file NAME.library.mlir says: which products the commands of a native module take.
#pragma once

#include <string>
#include <vector>

#include "mlir/IR/BuiltinOps.h"

namespace baton::compiler_lite::schedule {

// What stands behind a product, element by element.
struct Epilogue {
  bool bias = false;            // A number for each column is added.
  std::string activation = {};  // "relu" or none.
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

struct LibraryFile {
  std::string name;  // Of the native module.
  std::vector<LibraryProduct> products;
};

mlir::FailureOr<LibraryFile> read_library_file(mlir::MLIRContext* context, const std::string& path,
                                               mlir::Location location);

}  // namespace baton::compiler_lite::schedule
