// What IREE's compiler makes of flow.channel.* and flow.collective.* later: no program is written with it, and a printed
// one that has it is told what to write.
#pragma once

#include <optional>

#include "mlir/IR/Dialect.h"

namespace baton::compiler_lite {

// For Dialect::getParseOperationHook: what refuses an operation of that name, such as hal.channel.create; nothing for another.
std::optional<mlir::Dialect::ParseOpHook> refusal_of_later_collective(llvm::StringRef name);

}  // namespace baton::compiler_lite
