#include "compiler-lite/codegen/cuda/tensor_core.hpp"

#include "compiler-lite/codegen/llvm/llvm_values.hpp"
#include "compiler-lite/codegen/product.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace baton::compiler_lite::codegen::cuda::tensor_core {
namespace {

namespace LLVM = mlir::LLVM;
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

// One instruction: "mma.sync... {sums}, {a}, {b}, {sums};"
Values issue(OpBuilder& builder, Location location, llvm::StringRef shape, llvm::StringRef kind, ValueRange a,
             ValueRange b, ValueRange sums) {
  Values operands(a);
  llvm::append_range(operands, b);
  llvm::append_range(operands, sums);
  size_t next = 4;
  const auto list = [&](size_t count) {
    std::string text = "{";
    for (size_t i = 0; i < count; ++i) text += (i ? ", $" : "$") + std::to_string(next++);
    return text + "}, ";
  };
  std::string text =
      ("mma.sync.aligned." + shape + ".row.col.f32." + kind + "." + kind + ".f32 {$0, $1, $2, $3}, ").str();
  text += list(a.size());
  text += list(b.size());
  text += "{$0, $1, $2, $3};";
  std::string constraints = "=f,=f,=f,=f";
  for (size_t i = 0; i < a.size() + b.size(); ++i) constraints += ",r";
  constraints += ",0,1,2,3";
  auto product = builder.create<LLVM::InlineAsmOp>(location, repeat(builder.getF32Type(), 4), operands, text,
                                                   constraints, /*has_side_effects=*/false, /*is_align_stack=*/false,
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

Values multiply(OpBuilder& builder, Location location, mlir::Type element, bool wide, ValueRange a, ValueRange b,
                ValueRange sums) {
  const llvm::StringRef kind = element.isBF16() ? "bf16" : "f16";
  if (wide) return issue(builder, location, "m16n8k16", kind, a, b, sums);
  const Values half = issue(builder, location, "m16n8k8", kind, a.take_front(2), b.take_front(1), sums);
  return issue(builder, location, "m16n8k8", kind, a.drop_front(2), b.drop_front(1), half);
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
