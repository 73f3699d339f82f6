#include "compiler-lite/dialects/torch/dialect.hpp"

#include "llvm/ADT/TypeSwitch.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;  // NOLINT: the generated code speaks MLIR.

#include "compiler-lite/dialects/torch/torch.dialect.cpp.inc"
#include "compiler-lite/dialects/torch_c/torch_c.dialect.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "compiler-lite/dialects/torch/torch.types.cpp.inc"

namespace baton::compiler_lite::torch {

void TorchDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "compiler-lite/dialects/torch/torch.types.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "compiler-lite/dialects/torch/torch.ops.cpp.inc"
      >();
}

// `<[?, 4], f32>`
Type ValueTensorType::parse(AsmParser& parser) {
  SmallVector<int64_t> sizes;
  const auto size = [&]() -> ParseResult {
    if (succeeded(parser.parseOptionalQuestion())) {
      sizes.push_back(ShapedType::kDynamic);
      return success();
    }
    const SMLoc loc = parser.getCurrentLocation();
    if (parser.parseInteger(sizes.emplace_back())) return failure();
    if (sizes.back() >= 0) return success();
    return parser.emitError(loc) << "a size is 0 or more, or ?";
  };
  Type element;
  if (parser.parseLess() || parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, size) || parser.parseComma() ||
      parser.parseType(element) || parser.parseGreater()) {
    return {};
  }
  if (!TensorType::isValidElementType(element)) {
    parser.emitError(parser.getNameLoc()) << element << " is no type of elements";
    return {};
  }
  return get(parser.getContext(), sizes, element);
}

void ValueTensorType::print(AsmPrinter& printer) const {
  printer << "<[";
  llvm::interleave(
      getSizes(), printer.getStream(),
      [&](int64_t size) {
        if (ShapedType::isDynamic(size)) {
          printer << "?";
        } else {
          printer << size;
        }
      },
      ",");
  printer << "]," << getElement() << ">";
}

RankedTensorType ValueTensorType::tensor() const { return RankedTensorType::get(getSizes(), getElement()); }

}  // namespace baton::compiler_lite::torch

namespace baton::compiler_lite::torch_c {

void TorchCDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "compiler-lite/dialects/torch_c/torch_c.ops.cpp.inc"
      >();
}

}  // namespace baton::compiler_lite::torch_c

#define GET_OP_CLASSES
#include "compiler-lite/dialects/torch/torch.ops.cpp.inc"
#define GET_OP_CLASSES
#include "compiler-lite/dialects/torch_c/torch_c.ops.cpp.inc"
