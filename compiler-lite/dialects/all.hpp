// The dialects that programs may use: ours, and those of MLIR that we lower.
#pragma once

namespace mlir {
class DialectRegistry;
}

namespace baton::compiler_lite {

void register_dialects(mlir::DialectRegistry& registry);

}  // namespace baton::compiler_lite
