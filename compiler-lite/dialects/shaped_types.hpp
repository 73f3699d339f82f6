// Pieces of syntax that several dialects share: types with their dynamic dimensions, tied results, function signatures,
// workgroup-count regions, visibility. Each pair parses and prints the same text (docs: README.md of this folder).
//
// The pairs are found by the format generator through argument-dependent lookup or `using`, so their names are MLIR's.
#pragma once

#include "mlir/IR/OpImplementation.h"

namespace baton::compiler_lite {

using Unresolved = mlir::OpAsmParser::UnresolvedOperand;
using UnresolvedRef = llvm::ArrayRef<Unresolved>;
using UnresolvedList = llvm::SmallVectorImpl<Unresolved>;
using TypeList = llvm::SmallVectorImpl<mlir::Type>;

// How many index values stand in braces behind a type: one for each `?`, one (its size) for a stream resource.
size_t dynamic_dim_count(mlir::Type type);

// `(tensor<?xf32>{%n}, i32) -> (%x{%n}, tensor<4xf32>)`
mlir::ParseResult parseShapedFunctionType(mlir::OpAsmParser& parser, UnresolvedRef operands, TypeList& operand_types,
                                          UnresolvedList& operand_dims, TypeList& result_types,
                                          UnresolvedList& result_dims, mlir::ArrayAttr& tied);
void printShapedFunctionType(mlir::OpAsmPrinter& printer, mlir::Operation* op, mlir::OperandRange operands,
                             mlir::TypeRange operand_types, mlir::OperandRange operand_dims,
                             mlir::TypeRange result_types, mlir::OperandRange result_dims, mlir::ArrayAttr tied);

// The same without dimensions: `(tensor<?xf32>, i32) -> %x`.
mlir::ParseResult parseTiedFunctionType(mlir::OpAsmParser& parser, UnresolvedRef operands, TypeList& operand_types,
                                        TypeList& result_types, mlir::ArrayAttr& tied);
void printTiedFunctionType(mlir::OpAsmPrinter& printer, mlir::Operation* op, mlir::OperandRange operands,
                           mlir::TypeRange operand_types, mlir::TypeRange result_types, mlir::ArrayAttr tied);

// ` -> (tensor<?xf32>{%n})`, or nothing when there are no results.
mlir::ParseResult parseShapedResults(mlir::OpAsmParser& parser, TypeList& types, UnresolvedList& dims);
void printShapedResults(mlir::OpAsmPrinter& printer, mlir::Operation* op, mlir::TypeRange types,
                        mlir::OperandRange dims);

// `tensor<?xf32>{%n}`
mlir::ParseResult parseShapedType(mlir::OpAsmParser& parser, mlir::Type& type, UnresolvedList& dims);
void printShapedType(mlir::OpAsmPrinter& printer, mlir::Operation* op, mlir::Type type, mlir::ValueRange dims);

// `[2]`
mlir::ParseResult parseDimension(mlir::OpAsmParser& parser, mlir::IntegerAttr& dimension);
void printDimension(mlir::OpAsmPrinter& printer, mlir::Operation* op, mlir::IntegerAttr dimension);

// `public`, `private`, `nested`, or nothing, which means public and prints so.
mlir::ParseResult parseVisibility(mlir::OpAsmParser& parser, mlir::StringAttr& visibility);
void printVisibility(mlir::OpAsmPrinter& printer, mlir::Operation* op, mlir::StringAttr visibility);

// `{ ops }` without a terminator.
mlir::ParseResult parseContainer(mlir::OpAsmParser& parser, mlir::Region& body);
void printContainer(mlir::OpAsmPrinter& printer, mlir::Operation* op, mlir::Region& body);

// `(%device: !hal.device, %n: index) -> (index, index, index) { ... }`
mlir::ParseResult parseWorkgroupCount(mlir::OpAsmParser& parser, mlir::Region& body);
void printWorkgroupCount(mlir::OpAsmPrinter& printer, mlir::Operation* op, mlir::Region& body);
// The same behind `count`, or nothing.
mlir::ParseResult parseOptionalCount(mlir::OpAsmParser& parser, mlir::Region& body);
void printOptionalCount(mlir::OpAsmPrinter& printer, mlir::Operation* op, mlir::Region& body);
// `(args) -> types { ... }`: a region that stands for a function of these types.
mlir::ParseResult parse_region_function(mlir::OpAsmParser& parser, mlir::Region& body, TypeList& result_types);
void print_region_function(mlir::OpAsmPrinter& printer, mlir::Region& body, mlir::TypeRange result_types);

// A function with visibility, arguments, tied results and perhaps a body: util.func and flow.func.
struct SignatureNames {
  mlir::StringAttr name, type, visibility, argument_attributes, result_attributes, tied;
};
mlir::ParseResult parse_function(mlir::OpAsmParser& parser, mlir::OperationState& state, const SignatureNames& names);
void print_function(mlir::OpAsmPrinter& printer, mlir::Operation* op, const SignatureNames& names);

}  // namespace baton::compiler_lite
