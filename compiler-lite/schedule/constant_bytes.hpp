// Bytes in programs: constants.
#pragma once

#include <vector>

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace baton::compiler_lite::schedule {

// Elements as a buffer holds them: little-endian, packed, i1 as bytes.
std::vector<char> bytes_of(mlir::DenseElementsAttr elements);

// Bytes that the program makes when it is loaded, where all elements are the same and are many; else that it carries.
mlir::Value write_elements(mlir::OpBuilder& builder, mlir::Location location, mlir::DenseElementsAttr elements);
// Bytes that the program carries, at 64 in the file so that they can be used in place.
mlir::Value write_bytes(mlir::OpBuilder& builder, mlir::Location location, llvm::ArrayRef<char> bytes);

}  // namespace baton::compiler_lite::schedule
