// The dialects that programs may use: ours, and those of MLIR that we lower.
#pragma once

namespace mlir {
class DialectRegistry;
}

namespace baton::compiler_lite {

void register_dialects(mlir::DialectRegistry& registry);

// The same without `tosa`, of which there are two: ours and MLIR 19's.
void register_dialects_but_tosa(mlir::DialectRegistry& registry);

}  // namespace baton::compiler_lite
