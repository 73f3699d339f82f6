// Bytes in programs: files that executables name, and constants.
#pragma once

#include <string>
#include <vector>

#include "compiler-lite/dialects/hal/dialect.hpp"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace baton::compiler_lite {

// Elements as a buffer holds them: little-endian, packed, i1 as bytes.
std::vector<char> bytes_of(mlir::DenseElementsAttr elements);

// A binary as it is: its data, or the file: absolute, else from the working directory, else from the paths in order.
mlir::FailureOr<std::vector<char>> read_object(hal::ExecutableObjectAttr object, mlir::Location location,
                                               const std::vector<std::string>& search_paths);

// Bytes that the program carries, at 64 in the file so that they can be used in place.
mlir::Value write_bytes(mlir::OpBuilder& builder, mlir::Location location, llvm::ArrayRef<char> bytes);

}  // namespace baton::compiler_lite
