#include "compiler-lite/codegen/cuda/tensor_core.hpp"

#include "compiler-lite/codegen/llvm/llvm_values.hpp"
#include "compiler-lite/codegen/product.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace baton::compiler_lite::codegen::cuda::tensor_core {
namespace {

namespace LLVM = mlir::LLVM;
namespace NVVM = mlir::NVVM;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;
using mlir::ValueRange;

mlir::Type repeat(mlir::Type type, size_t count) {
  return LLVM::LLVMStructType::getLiteral(type.getContext(), llvm::SmallVector<mlir::Type>(count, type));
}

Values unpack(OpBuilder& builder, Location location, Value all, size_t count) {
  Values each;
  for (size_t i = 0; i < count; ++i) {
    each.push_back(builder.create<LLVM::ExtractValueOp>(location, all, static_cast<int64_t>(i)));
  }
  return each;
}

void call(OpBuilder& builder, Location location, llvm::StringRef name, ValueRange operands) {
  builder.create<LLVM::CallIntrinsicOp>(location, mlir::TypeRange(), name, operands);
}

llvm::StringRef name_of(Factors factors) {
  if (factors.are_bytes()) return factors.is_unsigned ? "u8" : "s8";
  return factors.element.isBF16() ? "bf16" : "f16";
}

// One instruction: "mma.sync... {sums}, {a}, {b}, {sums};"
Values issue(OpBuilder& builder, Location location, llvm::StringRef shape, Factors factors, ValueRange a, ValueRange b,
             ValueRange sums) {
  Values operands(a);
  llvm::append_range(operands, b);
  llvm::append_range(operands, sums);
  size_t next = 4;
  const auto list = [&](size_t count) {
    std::string text = "{";
    for (size_t i = 0; i < count; ++i) text += (i ? ", $" : "$") + std::to_string(next++);
    return text + "}, ";
  };
  const llvm::StringRef kind = name_of(factors), sum = factors.are_bytes() ? "s32" : "f32";
  std::string text =
      ("mma.sync.aligned." + shape + ".row.col." + sum + "." + kind + "." + kind + "." + sum + " {$0, $1, $2, $3}, ")
          .str();
  text += list(a.size());
  text += list(b.size());
  text += "{$0, $1, $2, $3};";
  std::string constraints = factors.are_bytes() ? "=r,=r,=r,=r" : "=f,=f,=f,=f";
  for (size_t i = 0; i < a.size() + b.size(); ++i) constraints += ",r";
  constraints += ",0,1,2,3";
  auto product = builder.create<LLVM::InlineAsmOp>(location, repeat(sums[0].getType(), 4), operands, text, constraints,
                                                   /*has_side_effects=*/false, /*is_align_stack=*/false,
                                                   LLVM::AsmDialectAttr(), mlir::ArrayAttr());
  return unpack(builder, location, product->getResult(0), 4);
}

}  // namespace

Values load_matrices(OpBuilder& builder, Location location, Value row, bool turned) {
  const llvm::StringRef name = turned ? "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16.p3"
                                      : "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3";
  auto loaded = builder.create<LLVM::CallIntrinsicOp>(location, repeat(builder.getI32Type(), 4), name, ValueRange{row});
  return unpack(builder, location, loaded->getResult(0), 4);
}

Values multiply(OpBuilder& builder, Location location, Factors factors, bool wide, ValueRange a, ValueRange b,
                ValueRange sums) {
  if (factors.are_bytes()) return issue(builder, location, "m16n8k32", factors, a, b, sums);
  if (wide) return issue(builder, location, "m16n8k16", factors, a, b, sums);
  const Values half = issue(builder, location, "m16n8k8", factors, a.take_front(2), b.take_front(1), sums);
  return issue(builder, location, "m16n8k8", factors, a.drop_front(2), b.drop_front(1), half);
}

Value choose_bytes(OpBuilder& builder, Location location, Value a, Value b, int64_t which) {
  auto chosen = builder.create<LLVM::CallIntrinsicOp>(location, builder.getI32Type(), "llvm.nvvm.prmt",
                                                      ValueRange{a, b, make_i32(builder, location, which)});
  return chosen->getResult(0);
}

Value take_from(OpBuilder& builder, Location location, Value value, Value lane) {
  return builder.create<NVVM::ShflOp>(location, value.getType(), make_i32(builder, location, -1), value, lane,
                                      make_i32(builder, location, 31), NVVM::ShflKind::idx, mlir::UnitAttr());
}

void copy_async(OpBuilder& builder, Location location, Value target, Value source, Value bytes) {
  call(builder, location, "llvm.nvvm.cp.async.cg.shared.global.16.s", {target, source, bytes});
}

void end_group(OpBuilder& builder, Location location) {
  call(builder, location, "llvm.nvvm.cp.async.commit.group", {});
}

void wait_for_groups(OpBuilder& builder, Location location, int64_t count) {
  call(builder, location, "llvm.nvvm.cp.async.wait.group", ValueRange{make_i32(builder, location, count)});
}

Value pointer_in(OpBuilder& builder, Location location, Value pointer, unsigned space) {
  return builder.create<LLVM::AddrSpaceCastOp>(location, LLVM::LLVMPointerType::get(builder.getContext(), space),
                                               pointer);
}

}  // namespace baton::compiler_lite::codegen::cuda::tensor_core
