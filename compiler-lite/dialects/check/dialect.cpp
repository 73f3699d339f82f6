#include "compiler-lite/dialects/check/dialect.hpp"

#include "mlir/IR/Builders.h"

using namespace mlir;  // NOLINT: the generated code speaks MLIR.

#include "compiler-lite/dialects/check/check.dialect.cpp.inc"

namespace baton::compiler_lite::check {

void CheckDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "compiler-lite/dialects/check/check.ops.cpp.inc"
      >();
}

namespace {

// `, atol 1.0e-03, rtol 1.0e-05`, each of them optional; the first may be called tolerance, or be a number alone.
ParseResult parseTolerances(OpAsmParser& parser, FloatAttr& atol, FloatAttr& rtol) {
  const Type f32 = parser.getBuilder().getF32Type();
  atol = FloatAttr::get(f32, 1e-4);
  rtol = FloatAttr::get(f32, 0.0);
  while (succeeded(parser.parseOptionalComma())) {
    StringRef word = "atol";
    double value = 0;
    const SMLoc where = parser.getCurrentLocation();
    const bool is_named = succeeded(parser.parseOptionalKeyword(&word));
    if (is_named && word != "atol" && word != "rtol" && word != "tolerance") {
      return parser.emitError(where, "expected 'atol' or 'rtol'");
    }
    if (parser.parseFloat(value)) return failure();
    (word == "rtol" ? rtol : atol) = FloatAttr::get(f32, value);
  }
  return success();
}

void printTolerances(OpAsmPrinter& printer, Operation*, FloatAttr atol, FloatAttr rtol) {
  if (atol && atol.getValue().convertToFloat() != 1e-4f) printer << ", atol " << atol.getValue();
  if (rtol && rtol.getValue().convertToFloat() != 0.0f) printer << ", rtol " << rtol.getValue();
}

}  // namespace
}  // namespace baton::compiler_lite::check

#define GET_OP_CLASSES
#include "compiler-lite/dialects/check/check.ops.cpp.inc"
