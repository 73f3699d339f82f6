#include "compiler-lite/codegen/gpu/entry_points.hpp"

#include "compiler-lite/codegen/gpu/block.hpp"
#include "compiler-lite/codegen/imports.hpp"
#include "compiler-lite/codegen/interface_ops.hpp"
#include "compiler-lite/codegen/llvm/linked_calls.hpp"
#include "compiler-lite/codegen/llvm/llvm_values.hpp"
#include "compiler-lite/codegen/llvm/subspan_descriptor.hpp"
#include "compiler-lite/codegen/temporaries.hpp"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace baton::compiler_lite::codegen::gpu {
namespace {

namespace LLVM = mlir::LLVM;
namespace NVVM = mlir::NVVM;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;

constexpr unsigned kSharedSpace = 3;
constexpr llvm::StringLiteral kSharedMemory = "baton_shared_memory";

template <typename X, typename Y, typename Z>
Value read_axis(OpBuilder& builder, mlir::Operation* op) {
  const mlir::Type i32 = builder.getI32Type();
  const Location location = op->getLoc();
  const uint64_t axis = number_of(op, "dimension");
  Value word;
  if (axis == 0) word = builder.create<X>(location, i32);
  if (axis == 1) word = builder.create<Y>(location, i32);
  if (axis == 2) word = builder.create<Z>(location, i32);
  return builder.create<mlir::arith::IndexCastUIOp>(location, builder.getIndexType(), word);
}

// One kernel's operations, rewritten one by one.
class EntryLowering {
 public:
  EntryLowering(mlir::func::FuncOp kernel, const EntryPoint& entry, const mlir::LLVMTypeConverter& types)
      : kernel_(kernel), entry_(entry), types_(types) {}

  mlir::LogicalResult run() {
    llvm::SmallVector<mlir::Operation*> operations;
    kernel_.walk([&](mlir::Operation* op) { operations.push_back(op); });
    add_parameters();
    for (mlir::Operation* op : operations) {
      if (mlir::failed(lower(op))) return mlir::failure();
    }
    return mlir::success();
  }

 private:
  void add_parameters() {
    OpBuilder builder(kernel_);
    llvm::SmallVector<mlir::Type> types(entry_.binding_count, LLVM::LLVMPointerType::get(builder.getContext()));
    types.append(entry_.constant_count, builder.getI32Type());
    kernel_.setType(builder.getFunctionType(types, {}));
    for (const mlir::Type type : types) kernel_.getBody().front().addArgument(type, kernel_.getLoc());
    for (unsigned i = 0; i < entry_.binding_count; ++i) {
      for (const char* fact : {"llvm.noalias", "llvm.nonnull", "llvm.noundef"}) {
        kernel_.setArgAttr(i, fact, builder.getUnitAttr());
      }
    }
  }

  mlir::LogicalResult lower(mlir::Operation* op) {
    OpBuilder builder(op);
    if (is_operation(op, kWorkgroupId)) {
      return replace(op, read_axis<NVVM::BlockIdXOp, NVVM::BlockIdYOp, NVVM::BlockIdZOp>(builder, op));
    }
    if (is_operation(op, kWorkgroupCount)) {
      return replace(op, read_axis<NVVM::GridDimXOp, NVVM::GridDimYOp, NVVM::GridDimZOp>(builder, op));
    }
    if (is_operation(op, kWorkgroupSize)) {
      return replace(op, read_axis<NVVM::BlockDimXOp, NVVM::BlockDimYOp, NVVM::BlockDimZOp>(builder, op));
    }
    if (is_operation(op, kConstantLoad)) return lower_constant(builder, op);
    if (is_operation(op, kBindingSubspan)) {
      const Value pointer = kernel_.getArgument(static_cast<unsigned>(view_subspan(op).binding));
      return replace(op, make_subspan_descriptor(builder, op, pointer, types_));
    }
    if (auto global = llvm::dyn_cast<mlir::memref::GetGlobalOp>(op); global && global.getName() == kLocalMemory) {
      return replace(op, shared_memory(builder, op));
    }
    if (auto call = llvm::dyn_cast<mlir::func::CallOp>(op)) return lower_call(builder, call);
    return mlir::success();
  }

  mlir::LogicalResult replace(mlir::Operation* op, Value value) {
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
    return mlir::success();
  }

  // Words are 32 bits; a smaller or other type takes its bits from the low end.
  mlir::LogicalResult lower_constant(OpBuilder& builder, mlir::Operation* op) {
    const Location location = op->getLoc();
    const mlir::Type type = op->getResult(0).getType();
    const Value word = kernel_.getArgument(entry_.binding_count + static_cast<unsigned>(number_of(op, "ordinal")));
    if (llvm::isa<mlir::IndexType>(type)) {
      return replace(op, builder.create<mlir::arith::IndexCastUIOp>(location, type, word));
    }
    const Value value = constant_in_word(builder, op, word);
    return value ? replace(op, value) : mlir::failure();
  }

  // The block's memory, as bytes: its size is the launch's, so nothing else is known of it here.
  Value shared_memory(OpBuilder& builder, mlir::Operation* op) {
    const Location location = op->getLoc();
    auto module = kernel_->getParentOfType<mlir::ModuleOp>();
    auto memory = module.lookupSymbol<LLVM::GlobalOp>(kSharedMemory);
    if (!memory) {
      OpBuilder at_start = OpBuilder::atBlockBegin(module.getBody());
      memory = at_start.create<LLVM::GlobalOp>(location, LLVM::LLVMArrayType::get(builder.getI8Type(), 0),
                                               /*isConstant=*/false, LLVM::Linkage::External, kSharedMemory,
                                               mlir::Attribute(), /*alignment=*/64, kSharedSpace);
    }
    const Value shared = builder.create<LLVM::AddressOfOp>(location, memory);
    const mlir::Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
    const Value generic = builder.create<LLVM::AddrSpaceCastOp>(location, pointer, shared);
    const auto type = llvm::cast<mlir::MemRefType>(op->getResult(0).getType());
    const Value descriptor = mlir::MemRefDescriptor::fromStaticShape(builder, location, types_, type, generic);
    return cast(builder, location, descriptor, type);
  }

  mlir::LogicalResult lower_call(OpBuilder& builder, mlir::func::CallOp call) {
    auto declaration =
        mlir::SymbolTable::lookupNearestSymbolFrom<mlir::func::FuncOp>(call, call.getCalleeAttr().getAttr());
    if (!declaration || !declaration.isExternal()) return mlir::success();
    mlir::FailureOr<llvm::SmallVector<Value>> operands =
        flatten_operands(builder, call, has_bare_pointers(declaration), types_);
    if (mlir::failed(operands)) return mlir::failure();
    return call_linked(builder, call, declaration, *operands, types_);
  }

  mlir::func::FuncOp kernel_;
  const EntryPoint& entry_;
  const mlir::LLVMTypeConverter& types_;
};

EntryPoint describe(mlir::func::FuncOp kernel) {
  EntryPoint entry{{kernel.getSymName().str()}};
  const KernelLayout needed = noted_layout(kernel).value_or(layout_of(kernel));
  entry.constant_count = static_cast<unsigned>(needed.constant_count);
  entry.binding_count = static_cast<unsigned>(needed.binding_count);
  entry.local_memory_bytes = static_cast<unsigned>(number_of(kernel, kLocalMemoryBytes));
  entry.blocks_wanted = static_cast<unsigned>(number_of(kernel, kBlocksWanted));
  entry.cluster_blocks = static_cast<unsigned>(number_of(kernel, kClusterBlocks));
  read_workgroup_size(kernel, entry.workgroup_size);
  return entry;
}

}  // namespace

mlir::FailureOr<std::vector<EntryPoint>> lower_entry_points(mlir::ModuleOp kernels) {
  if (mlir::failed(rename_declarations(kernels))) return mlir::failure();
  const mlir::LLVMTypeConverter types(kernels.getContext());
  std::vector<EntryPoint> entries;
  for (mlir::func::FuncOp kernel : llvm::SmallVector<mlir::func::FuncOp>(kernels.getOps<mlir::func::FuncOp>())) {
    if (kernel.isExternal() || kernel.isPrivate()) continue;
    if (kernel.getNumArguments() != 0 || kernel.getNumResults() != 0) {
      return kernel.emitError("The kernel '")
             << kernel.getSymName() << "' has arguments or results; entry points have none.";
    }
    entries.push_back(describe(kernel));
    if (mlir::failed(EntryLowering(kernel, entries.back(), types).run())) return mlir::failure();
  }
  erase_declarations(kernels);
  if (auto global = kernels.lookupSymbol<mlir::memref::GlobalOp>(kLocalMemory)) global.erase();
  return entries;
}

}  // namespace baton::compiler_lite::codegen::gpu
