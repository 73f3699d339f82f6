#include "compiler-lite/codegen/cpu/dispatch_pointers.hpp"

#include "compiler-lite/codegen/llvm/llvm_values.hpp"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace baton::compiler_lite::codegen::cpu {

namespace LLVM = mlir::LLVM;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;

Value DispatchPointers::address(OpBuilder& builder, Location location, Value base, uint64_t byte_offset) {
  if (byte_offset == 0) return base;
  return builder.create<LLVM::GEPOp>(location, base.getType(), builder.getI8Type(), base,
                                     llvm::ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(byte_offset)},
                                     /*inbounds=*/true);
}

Value DispatchPointers::load(OpBuilder& builder, Location location, Value base, uint64_t byte_offset, mlir::Type type) {
  return builder.create<LLVM::LoadOp>(location, type, address(builder, location, base, byte_offset));
}

Value DispatchPointers::load_pointer(OpBuilder& builder, Location location, Value base, uint64_t byte_offset) {
  return load(builder, location, base, byte_offset, LLVM::LLVMPointerType::get(builder.getContext()));
}

Value DispatchPointers::load_index(OpBuilder& builder, Location location, Value base, uint64_t byte_offset) {
  const Value word = load(builder, location, base, byte_offset, builder.getI32Type());
  const Value wide = builder.create<LLVM::ZExtOp>(location, builder.getI64Type(), word);
  return cast(builder, location, wide, builder.getIndexType());
}

}  // namespace baton::compiler_lite::codegen::cpu
