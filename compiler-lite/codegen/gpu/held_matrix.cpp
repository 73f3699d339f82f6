#include "compiler-lite/codegen/gpu/held_matrix.hpp"

namespace baton::compiler_lite::codegen::gpu {

mlir::MemRefType binding_type(mlir::func::FuncOp kernel, unsigned number) {
  const auto types = kernel->getAttrOfType<mlir::ArrayAttr>(kBindingTypes);
  return llvm::cast<mlir::MemRefType>(llvm::cast<mlir::TypeAttr>(types[number]).getValue());
}

HeldMatrix::HeldMatrix(mlir::func::FuncOp kernel, const Features& features)
    : code_(kernel, features), type_(binding_type(kernel, 0)), element_(type_.getElementType()) {
  rows_ = type_.getDimSize(1);
  const auto panel = kernel->getAttrOfType<mlir::IntegerAttr>(kPanelColumns);
  columns_ = panel ? panel.getInt() : type_.getDimSize(2);
  pitch_ = pitch_of(columns_);
  warps_ = code_.block().threads() / kWarp;
  lane_ = code_.remainder(code_.thread(), kWarp);
  warp_ = code_.quotient(code_.thread(), kWarp);
  matrix_ = code_.workgroup();
  const bool is_panel = panel && !solves(*read_factors(kernel));
  begin_ = is_panel ? code_.to_index(code_.constant_word(0)) : code_.index(0);
}

}  // namespace baton::compiler_lite::codegen::gpu
