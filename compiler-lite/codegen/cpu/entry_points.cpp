#include "compiler-lite/codegen/cpu/entry_points.hpp"

#include "compiler-lite/codegen/cpu/calls.hpp"
#include "compiler-lite/codegen/cpu/dispatch_pointers.hpp"
#include "compiler-lite/codegen/cpu/library_layout.hpp"
#include "compiler-lite/codegen/interface_ops.hpp"
#include "compiler-lite/codegen/llvm/llvm_values.hpp"
#include "compiler-lite/codegen/llvm/subspan_descriptor.hpp"
#include "compiler-lite/codegen/temporaries.hpp"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace baton::compiler_lite::codegen::cpu {
namespace {

namespace LLVM = mlir::LLVM;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;

// One kernel's operations, rewritten one by one.
class EntryLowering {
 public:
  EntryLowering(mlir::func::FuncOp body, const ImportTable& imports, const mlir::LLVMTypeConverter& types)
      : body_(body), types_(types), pointers_(body), calls_(body, imports, types, pointers_) {}

  mlir::LogicalResult run() {
    llvm::SmallVector<mlir::Operation*> operations;
    body_.walk([&](mlir::Operation* op) { operations.push_back(op); });
    for (mlir::Operation* op : operations) {
      if (mlir::failed(lower(op))) return mlir::failure();
    }
    return mlir::success();
  }

 private:
  mlir::LogicalResult lower(mlir::Operation* op) {
    OpBuilder builder(op);
    if (is_operation(op, kWorkgroupId)) return replace(op, workgroup_id(builder, op));
    if (is_operation(op, kWorkgroupCount)) {
      return replace(op, dispatch_size(builder, op, layout::kDispatchWorkgroupCount));
    }
    if (is_operation(op, kWorkgroupSize)) {
      return replace(op, dispatch_size(builder, op, layout::kDispatchWorkgroupSize));
    }
    if (is_operation(op, kConstantLoad)) {
      return lower_constant(builder, op, pointers_.dispatch(), layout::kDispatchConstants);
    }
    if (is_operation(op, kSpecializationLoad)) {
      return lower_constant(builder, op, pointers_.environment(), layout::kEnvironmentConstants);
    }
    if (is_operation(op, kBindingSubspan)) {
      const Value pointer = pointers_.binding(static_cast<unsigned>(view_subspan(op).binding));
      return replace(op, make_subspan_descriptor(builder, op, pointer, types_));
    }
    if (auto global = llvm::dyn_cast<mlir::memref::GetGlobalOp>(op); global && global.getName() == kLocalMemory) {
      return replace(op, local_memory(builder, op));
    }
    if (auto call = llvm::dyn_cast<mlir::func::CallOp>(op)) return calls_.lower(call);
    if (llvm::isa<mlir::func::ReturnOp>(op)) {
      builder.create<mlir::func::ReturnOp>(op->getLoc(), make_i32(builder, op->getLoc(), 0));
      op->erase();
    }
    return mlir::success();
  }

  mlir::LogicalResult replace(mlir::Operation* op, Value value) {
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
    return mlir::success();
  }

  Value workgroup_id(OpBuilder& builder, mlir::Operation* op) {
    const uint64_t at = layout::kWorkgroupId + 4 * number_of(op, "dimension");
    return pointers_.load_index(builder, op->getLoc(), pointers_.workgroup(), at);
  }

  Value dispatch_size(OpBuilder& builder, mlir::Operation* op, uint64_t base) {
    return pointers_.load_index(builder, op->getLoc(), pointers_.dispatch(), base + 4 * number_of(op, "dimension"));
  }

  // Words are 32 bits; a smaller or other type takes its bits from the low end.
  mlir::LogicalResult lower_constant(OpBuilder& builder, mlir::Operation* op, Value state, uint64_t words_at) {
    const Location location = op->getLoc();
    const mlir::Type type = op->getResult(0).getType();
    const Value words = pointers_.load_pointer(builder, location, state, words_at);
    const uint64_t at = 4 * number_of(op, "ordinal");
    if (llvm::isa<mlir::IndexType>(type)) return replace(op, pointers_.load_index(builder, location, words, at));
    const Value word = pointers_.load(builder, location, words, at, builder.getI32Type());
    const Value value = constant_in_word(builder, op, word);
    return value ? replace(op, value) : mlir::failure();
  }

  // The workgroup's memory, as bytes.
  Value local_memory(OpBuilder& builder, mlir::Operation* op) {
    const Location location = op->getLoc();
    const auto type = llvm::cast<mlir::MemRefType>(op->getResult(0).getType());
    const Value pointer =
        pointers_.load_pointer(builder, location, pointers_.workgroup(), layout::kWorkgroupLocalMemory);
    const Value descriptor = mlir::MemRefDescriptor::fromStaticShape(builder, location, types_, type, pointer);
    return cast(builder, location, descriptor, type);
  }

  mlir::func::FuncOp body_;
  const mlir::LLVMTypeConverter& types_;
  DispatchPointers pointers_;
  ExternalCalls calls_;
};

// `kernel` with its blocks moved into a private function of pointers.
mlir::func::FuncOp make_body(mlir::func::FuncOp kernel, const EntryPoint& entry) {
  mlir::MLIRContext* context = kernel.getContext();
  OpBuilder builder(kernel);
  const mlir::Type pointer = LLVM::LLVMPointerType::get(context);
  const llvm::SmallVector<mlir::Type> arguments(DispatchPointers::kFirstBinding + entry.binding_count, pointer);
  auto body = builder.create<mlir::func::FuncOp>(kernel.getLoc(), entry.body,
                                                 builder.getFunctionType(arguments, builder.getI32Type()));
  body.setPrivate();
  body->setAttr("passthrough", builder.getStrArrayAttr({"alwaysinline"}));
  for (unsigned i = 0; i < arguments.size(); ++i) {
    body.setArgAttr(i, "llvm.nonnull", builder.getUnitAttr());
    body.setArgAttr(i, "llvm.noundef", builder.getUnitAttr());
    if (i >= DispatchPointers::kFirstBinding) body.setArgAttr(i, "llvm.noalias", builder.getUnitAttr());
  }
  body.getBody().takeBody(kernel.getBody());
  for (const mlir::Type type : arguments) body.getBody().front().addArgument(type, kernel.getLoc());
  return body;
}

}  // namespace

mlir::FailureOr<std::vector<EntryPoint>> lower_entry_points(mlir::ModuleOp kernels, const ImportTable& imports) {
  if (mlir::failed(rename_declarations(kernels))) return mlir::failure();
  const mlir::LLVMTypeConverter types(kernels.getContext());
  std::vector<EntryPoint> entries;
  llvm::SmallVector<mlir::func::FuncOp> functions(kernels.getOps<mlir::func::FuncOp>());
  for (mlir::func::FuncOp kernel : functions) {
    if (kernel.isExternal() || kernel.isPrivate()) continue;
    if (kernel.getNumArguments() != 0 || kernel.getNumResults() != 0) {
      return kernel.emitError("The kernel '")
             << kernel.getSymName() << "' has arguments or results; entry points have none.";
    }
    EntryPoint entry{{kernel.getSymName().str()}, (kernel.getSymName() + ".body").str()};
    const KernelLayout needed = noted_layout(kernel).value_or(layout_of(kernel));
    entry.constant_count = static_cast<unsigned>(needed.constant_count);
    entry.binding_count = static_cast<unsigned>(needed.binding_count);
    entry.local_memory_bytes = static_cast<unsigned>(number_of(kernel, kLocalMemoryBytes));
    read_workgroup_size(kernel, entry.workgroup_size);
    if (mlir::failed(EntryLowering(make_body(kernel, entry), imports, types).run())) return mlir::failure();
    kernel.erase();
    entries.push_back(std::move(entry));
  }
  erase_declarations(kernels);
  if (auto global = kernels.lookupSymbol<mlir::memref::GlobalOp>(kLocalMemory)) global.erase();
  return entries;
}

}  // namespace baton::compiler_lite::codegen::cpu
