#include "compiler-lite/dialects/stream/dialect.hpp"

#include "compiler-lite/dialects/later_collectives.hpp"
#include "compiler-lite/dialects/shaped_types.hpp"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;                  // NOLINT: the generated code speaks MLIR.
using namespace baton::compiler_lite;  // NOLINT: the shared pieces of syntax.

#include "compiler-lite/dialects/stream/stream.dialect.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "compiler-lite/dialects/stream/stream.types.cpp.inc"

namespace baton::compiler_lite::stream {

std::optional<Dialect::ParseOpHook> StreamDialect::getParseOperationHook(StringRef name) const {
  return refusal_of_later_collective(name);
}

void StreamDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "compiler-lite/dialects/stream/stream.types.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "compiler-lite/dialects/stream/stream.ops.cpp.inc"
      >();
}

Type ResourceType::parse(AsmParser& parser) {
  StringRef lifetime = "*";
  if (parser.parseLess()) return {};
  if (failed(parser.parseOptionalStar()) && parser.parseKeyword(&lifetime)) return {};
  if (parser.parseGreater()) return {};
  return get(parser.getContext(), lifetime);
}
void ResourceType::print(AsmPrinter& printer) const { printer << "<" << getLifetime() << ">"; }

}  // namespace baton::compiler_lite::stream

#define GET_OP_CLASSES
#include "compiler-lite/dialects/stream/stream.ops.cpp.inc"
