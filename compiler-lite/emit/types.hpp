// What MLIR types are in the virtual machine (the table of INPUT types is in README.md).
#pragma once

#include <optional>
#include <string>

#include "bytecode/value_type.hpp"
#include "compiler-lite/emit/machine.hpp"
#include "mlir/IR/TypeRange.h"
#include "mlir/IR/Types.h"

namespace baton::compiler_lite::emit {

// Null when a type has no place in a register: tensors, vectors, integers wider than 64 bits.
std::optional<bytecode::ValueType> value_type(mlir::Type type);
Bank bank_of(mlir::Type type);

// The name of a reference's type, `custom.string` for !custom.string; empty for any type.
std::string ref_type_name(mlir::Type type);

// Integers below 32 bits, which a register holds zero-extended. At the boundary of a module they are sign-extended (i1
// is 0 or 1), and whoever receives them normalizes.
bool is_narrow(mlir::Type type);

// "iI_r<blob>"; `variadic` marks argument types that stand in a segment of their own, tuples being several types.
std::string signature_text(mlir::TypeRange arguments, mlir::TypeRange results, llvm::ArrayRef<bool> variadic = {});

}  // namespace baton::compiler_lite::emit
