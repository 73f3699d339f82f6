#include "compiler-lite/codegen/llvm/subspan_descriptor.hpp"

#include "compiler-lite/codegen/interface_ops.hpp"
#include "compiler-lite/codegen/llvm/llvm_values.hpp"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace baton::compiler_lite::codegen {
namespace {

namespace LLVM = mlir::LLVM;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;

// Sizes as the type and the operands say; strides as the type says, contiguous where it says nothing.
void set_shape(OpBuilder& builder, Location location, mlir::MemRefDescriptor& descriptor, mlir::MemRefType type,
               mlir::ValueRange dynamic_sizes, llvm::ArrayRef<int64_t> strides) {
  size_t next = dynamic_sizes.size();
  Value running = make_i64(builder, location, 1);
  for (unsigned i = static_cast<unsigned>(type.getRank()); i-- > 0;) {
    const Value size = type.isDynamicDim(i) ? cast(builder, location, dynamic_sizes[--next], builder.getI64Type())
                                            : make_i64(builder, location, type.getDimSize(i));
    descriptor.setSize(builder, location, i, size);
    const bool known = !mlir::ShapedType::isDynamic(strides[i]);
    descriptor.setStride(builder, location, i, known ? make_i64(builder, location, strides[i]) : running);
    running = builder.create<LLVM::MulOp>(location, running, size);
  }
}

}  // namespace

Value make_subspan_descriptor(OpBuilder& builder, mlir::Operation* subspan, Value pointer,
                              const mlir::LLVMTypeConverter& types) {
  const Location location = subspan->getLoc();
  const SubspanView view = view_subspan(subspan);
  const auto type = llvm::cast<mlir::MemRefType>(subspan->getResult(0).getType());
  llvm::SmallVector<int64_t> strides;
  int64_t offset = 0;
  if (mlir::failed(mlir::getStridesAndOffset(type, strides, offset))) {
    strides.assign(static_cast<size_t>(type.getRank()), 1);
  }
  Value element_offset = make_i64(builder, location, 0);
  if (view.byte_offset) {
    const Value bytes = cast(builder, location, *view.byte_offset, builder.getI64Type());
    if (mlir::ShapedType::isDynamic(offset)) {
      const unsigned element_bytes = (type.getElementTypeBitWidth() + 7) / 8;
      element_offset = builder.create<LLVM::UDivOp>(location, bytes, make_i64(builder, location, element_bytes));
    } else {
      pointer = builder.create<LLVM::GEPOp>(location, pointer.getType(), builder.getI8Type(), pointer,
                                            mlir::ValueRange{bytes});
    }
  }
  auto descriptor = mlir::MemRefDescriptor::undef(builder, location, types.convertType(type));
  descriptor.setAllocatedPtr(builder, location, pointer);
  descriptor.setAlignedPtr(builder, location, pointer);
  descriptor.setOffset(builder, location, element_offset);
  set_shape(builder, location, descriptor, type, view.sizes, strides);
  return cast(builder, location, descriptor, type);
}

}  // namespace baton::compiler_lite::codegen
