#include "compiler-lite/dialects/later_collectives.hpp"

#include "mlir/IR/OpImplementation.h"

namespace baton::compiler_lite {
namespace {

// The parser puts the operation's name in front.
mlir::ParseResult refuse(mlir::OpAsmParser& parser, mlir::OperationState&) {
  return parser.emitError(parser.getNameLoc())
         << "is what IREE makes of flow's; write flow.channel.default or flow.channel.split for a channel, "
            "flow.collective.* or a command of the module 'collective' for what ranks do together";
}

}  // namespace

// A hook is a reference to a function, which must stay.
std::optional<mlir::Dialect::ParseOpHook> refusal_of_later_collective(llvm::StringRef name) {
  if (!name.contains(".channel.") && !name.ends_with(".collective")) return std::nullopt;
  return mlir::Dialect::ParseOpHook(refuse);
}

}  // namespace baton::compiler_lite
