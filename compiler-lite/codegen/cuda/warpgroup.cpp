#include "compiler-lite/codegen/cuda/warpgroup.hpp"

#include "compiler-lite/codegen/llvm/llvm_values.hpp"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace baton::compiler_lite::codegen::cuda::warpgroup {
namespace {

namespace LLVM = mlir::LLVM;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;
using mlir::ValueRange;

// Instructions with side effects, in this order. The sums are results that begin as operands: registers that are read
// and written in place.
Values issue(OpBuilder& builder, Location location, const std::string& text, ValueRange operands, ValueRange sums) {
  const auto type = LLVM::LLVMStructType::getLiteral(builder.getContext(),
                                                     llvm::SmallVector<mlir::Type>(sums.size(), builder.getF32Type()));
  std::string constraints;
  const auto add = [&](llvm::StringRef each) { constraints += (constraints.empty() ? "" : ",") + each.str(); };
  for (size_t i = 0; i < sums.size(); ++i) add("=f");
  for (const Value each : operands) add(each.getType().isInteger(32) ? "r" : "l");
  for (size_t i = 0; i < sums.size(); ++i) add(std::to_string(i));
  Values all(operands);
  llvm::append_range(all, sums);
  const mlir::TypeRange results = sums.empty() ? mlir::TypeRange() : mlir::TypeRange(type);
  auto op = builder.create<LLVM::InlineAsmOp>(location, results, all, text, constraints, /*has_side_effects=*/true,
                                              /*is_align_stack=*/false, LLVM::AsmDialectAttr(), mlir::ArrayAttr());
  Values each;
  for (size_t i = 0; i < sums.size(); ++i) {
    each.push_back(builder.create<LLVM::ExtractValueOp>(location, op->getResult(0), static_cast<int64_t>(i)));
  }
  return each;
}

std::string operand(size_t number) { return "$" + std::to_string(number); }

// The instruction for 64 rows and 16 steps, with its sums: `count` of each thread.
std::string name_of(mlir::Type element, size_t count) {
  const std::string kind = element.isBF16() ? "bf16" : "f16";
  std::string registers;
  for (size_t i = 0; i < count; ++i) registers += (i ? ", " : "") + operand(i);
  return "wgmma.mma_async.sync.aligned.m64n" + std::to_string(count * 2) + "k16.f32." + kind + "." + kind + " {" +
         registers + "}, ";
}

}  // namespace

Value describe(OpBuilder& builder, Location location, Value address, bool along_k, int64_t panel_bytes) {
  constexpr int64_t kUnit = 16, kOrderOfLines128 = 1;
  // Along k: atoms follow each other, and the other distance is not read. Across: atoms of eight steps follow each
  // other, and so do panels of 64.
  const int64_t leading = along_k ? 1 : panel_bytes / kUnit, stride = kAtomBytes / kUnit;
  const int64_t layout = leading << 16 | stride << 32 | kOrderOfLines128 << 62;
  const Value bits = builder.create<LLVM::AndOp>(location, address, make_i64(builder, location, 0x3ffff));
  const Value units = builder.create<LLVM::LShrOp>(location, bits, make_i64(builder, location, 4));
  return builder.create<LLVM::OrOp>(location, units, make_i64(builder, location, layout));
}

Values multiply(OpBuilder& builder, Location location, mlir::Type element, ValueRange a, ValueRange b, bool a_along_k,
                bool b_along_k, ValueRange sums, size_t sum_count) {
  Values start(sums);
  if (sums.empty()) start.append(sum_count, builder.create<LLVM::UndefOp>(location, builder.getF32Type()));
  const std::string name = name_of(element, start.size());
  const std::string form = std::string(", 1, 1, ") + (a_along_k ? "0, " : "1, ") + (b_along_k ? "0;\n" : "1;\n");
  std::string text = "wgmma.fence.sync.aligned;\n";
  for (size_t i = 0; i < a.size(); ++i) {
    const bool goes_on = i > 0 || !sums.empty();
    text += name + operand(start.size() + i) + ", " + operand(start.size() + a.size() + i) + (goes_on ? ", 1" : ", 0") +
            form;
  }
  text += "wgmma.commit_group.sync.aligned;";
  Values operands(a);
  llvm::append_range(operands, b);
  return issue(builder, location, text, operands, start);
}

Values multiply_registers(OpBuilder& builder, Location location, mlir::Type element, llvm::ArrayRef<Values> a,
                          ValueRange b, bool b_along_k, ValueRange sums) {
  const std::string form = std::string(", 1, 1, 1, ") + (b_along_k ? "0;\n" : "1;\n");
  Values operands;
  std::string text = "wgmma.fence.sync.aligned;\n";
  for (size_t i = 0; i < a.size(); ++i) {
    std::string registers;
    for (const Value each : a[i]) {
      registers += (registers.empty() ? "" : ", ") + operand(sums.size() + operands.size());
      operands.push_back(each);
    }
    text += name_of(element, sums.size()) + "{" + registers + "}, " + operand(sums.size() + operands.size()) + form;
    operands.push_back(b[i]);
  }
  text += "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;";
  return issue(builder, location, text, operands, sums);
}

void wait_for_groups(OpBuilder& builder, Location location, int64_t count) {
  issue(builder, location, "wgmma.wait_group.sync.aligned " + std::to_string(count) + ";", {}, {});
}

Values wait_for_sums(OpBuilder& builder, Location location, ValueRange sums) {
  return issue(builder, location, "wgmma.wait_group.sync.aligned 0;", {}, sums);
}

void show_writes(OpBuilder& builder, Location location) {
  issue(builder, location, "fence.proxy.async.shared::cta;", {}, {});
}

}  // namespace baton::compiler_lite::codegen::cuda::warpgroup
