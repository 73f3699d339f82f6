#include "compiler-lite/codegen/gpu/accesses.hpp"

#include "compiler-lite/codegen/llvm/llvm_values.hpp"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace baton::compiler_lite::codegen::gpu {
namespace {

namespace arith = mlir::arith;
namespace LLVM = mlir::LLVM;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;

mlir::VectorType vector_of(const Memory& memory, int64_t count) {
  return mlir::VectorType::get({count}, stored_type(memory.element));
}

unsigned bytes_of(const Memory& memory, int64_t count) {
  return static_cast<unsigned>(count * stored_bytes(memory.element));
}

}  // namespace

mlir::Type stored_type(mlir::Type element) {
  if (element.isF32() || element.isF64()) return element;
  return mlir::IntegerType::get(element.getContext(), std::max(8u, element.getIntOrFloatBitWidth()));
}

int64_t stored_bytes(mlir::Type element) { return stored_type(element).getIntOrFloatBitWidth() / 8; }

Value from_stored(OpBuilder& builder, Location location, Value value, mlir::Type element) {
  if (value.getType() == element) return value;
  if (llvm::isa<mlir::IntegerType>(element)) return builder.create<arith::TruncIOp>(location, element, value);
  return builder.create<arith::BitcastOp>(location, element, value);
}

Value to_stored(OpBuilder& builder, Location location, Value value) {
  const mlir::Type type = stored_type(value.getType());
  if (value.getType() == type) return value;
  if (llvm::isa<mlir::IntegerType>(value.getType())) return builder.create<arith::ExtUIOp>(location, type, value);
  return builder.create<arith::BitcastOp>(location, type, value);
}

Memory open_memory(OpBuilder& builder, Location location, Value memory) {
  const mlir::LLVMTypeConverter types(builder.getContext());
  const auto type = llvm::cast<mlir::MemRefType>(memory.getType());
  Memory opened{type.getElementType(), {}, {}};
  mlir::MemRefDescriptor descriptor(cast(builder, location, memory, types.convertType(type)));
  for (unsigned i = 0; i < type.getRank(); ++i) opened.strides.push_back(descriptor.stride(builder, location, i));
  const Value pointer = descriptor.alignedPtr(builder, location);
  opened.base = builder.create<LLVM::GEPOp>(location, pointer.getType(), stored_type(type.getElementType()), pointer,
                                            mlir::ValueRange{descriptor.offset(builder, location)});
  return opened;
}

Value address_of(OpBuilder& builder, Location location, const Memory& memory, mlir::ValueRange indices) {
  Value offset = cast(builder, location, indices.back(), builder.getI64Type());
  for (size_t i = 0; i + 1 < indices.size(); ++i) {
    const Value index = cast(builder, location, indices[i], builder.getI64Type());
    const Value rows = builder.create<LLVM::MulOp>(location, index, memory.strides[i]);
    offset = builder.create<LLVM::AddOp>(location, offset, rows);
  }
  return builder.create<LLVM::GEPOp>(location, memory.base.getType(), stored_type(memory.element), memory.base,
                                     mlir::ValueRange{offset});
}

Value strided_address_of(OpBuilder& builder, Location location, const Memory& memory, mlir::ValueRange indices) {
  Value offset = make_i64(builder, location, 0);
  for (size_t i = 0; i < indices.size(); ++i) {
    const Value index = cast(builder, location, indices[i], builder.getI64Type());
    const Value steps = builder.create<LLVM::MulOp>(location, index, memory.strides[i]);
    offset = builder.create<LLVM::AddOp>(location, offset, steps);
  }
  return builder.create<LLVM::GEPOp>(location, memory.base.getType(), stored_type(memory.element), memory.base,
                                     mlir::ValueRange{offset});
}

Value unaligned_bits(OpBuilder& builder, Location location, const Memory& memory, int64_t bytes, int fastest) {
  Value bits = builder.create<LLVM::PtrToIntOp>(location, builder.getI64Type(), memory.base);
  const Value element = make_i64(builder, location, stored_bytes(memory.element));
  const size_t skipped = fastest < 0 ? memory.strides.size() - 1 : static_cast<size_t>(fastest);
  for (size_t i = 0; i < memory.strides.size(); ++i) {
    if (i == skipped) continue;
    const Value step = builder.create<LLVM::MulOp>(location, memory.strides[i], element);
    bits = builder.create<LLVM::OrOp>(location, bits, step);
  }
  return builder.create<LLVM::AndOp>(location, bits, make_i64(builder, location, bytes - 1));
}

Values load_elements(OpBuilder& builder, Location location, const Memory& memory, Value address, int64_t count) {
  const Value vector =
      builder.create<LLVM::LoadOp>(location, vector_of(memory, count), address, bytes_of(memory, count));
  Values elements;
  for (int64_t i = 0; i < count; ++i) {
    const Value stored = builder.create<LLVM::ExtractElementOp>(location, vector, make_i32(builder, location, i));
    elements.push_back(from_stored(builder, location, stored, memory.element));
  }
  return elements;
}

void store_elements(OpBuilder& builder, Location location, const Memory& memory, Value address,
                    mlir::ValueRange elements) {
  const auto count = static_cast<int64_t>(elements.size());
  Value vector = builder.create<LLVM::UndefOp>(location, vector_of(memory, count));
  for (int64_t i = 0; i < count; ++i) {
    const Value stored = to_stored(builder, location, elements[static_cast<size_t>(i)]);
    vector = builder.create<LLVM::InsertElementOp>(location, vector, stored, make_i32(builder, location, i));
  }
  builder.create<LLVM::StoreOp>(location, vector, address, bytes_of(memory, count));
}

}  // namespace baton::compiler_lite::codegen::gpu
