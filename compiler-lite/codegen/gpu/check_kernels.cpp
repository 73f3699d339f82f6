#include "compiler-lite/codegen/gpu/check_kernels.hpp"

#include "compiler-lite/codegen/llvm/llvm_values.hpp"
#include "hal/interface/access_checks.hpp"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace baton::compiler_lite::codegen::gpu {
namespace {

namespace LLVM = mlir::LLVM;
namespace NVVM = mlir::NVVM;
using hal::FailedAccess;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;

constexpr llvm::StringLiteral kNote = "baton_note_failed_access";

Value field(OpBuilder& builder, Location location, Value report, size_t offset) {
  return builder.create<LLVM::GEPOp>(location, report.getType(), builder.getI8Type(), report,
                                     llvm::ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
}

// void note(report, number, x, y, z, offset, size): the one that finds no number there writes the rest.
LLVM::LLVMFuncOp add_note(mlir::ModuleOp kernels) {
  const Location location = kernels.getLoc();
  OpBuilder builder = OpBuilder::atBlockEnd(kernels.getBody());
  mlir::MLIRContext* context = builder.getContext();
  const mlir::Type i32 = builder.getI32Type(), i64 = builder.getI64Type();
  const mlir::Type parameters[] = {LLVM::LLVMPointerType::get(context), i32, i32, i32, i32, i64, i64};
  auto note = builder.create<LLVM::LLVMFuncOp>(
      location, kNote, LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), parameters));
  note.setLinkage(LLVM::Linkage::Internal);
  note.setPassthroughAttr(builder.getStrArrayAttr({"noinline"}));
  mlir::Block* entry = note.addEntryBlock(builder);
  auto* first = new mlir::Block;
  auto* end = new mlir::Block;
  note.getBody().push_back(first);
  note.getBody().push_back(end);
  builder.setInsertionPointToEnd(entry);
  const Value report = entry->getArgument(0);
  auto exchange = builder.create<LLVM::AtomicCmpXchgOp>(
      location, field(builder, location, report, offsetof(FailedAccess, number)), make_i32(builder, location, 0),
      entry->getArgument(1), LLVM::AtomicOrdering::monotonic, LLVM::AtomicOrdering::monotonic, "",
      alignof(FailedAccess));
  const Value is_first = builder.create<LLVM::ExtractValueOp>(location, exchange, llvm::ArrayRef<int64_t>{1});
  builder.create<LLVM::CondBrOp>(location, is_first, first, end);
  builder.setInsertionPointToEnd(first);
  const size_t places[] = {offsetof(FailedAccess, workgroup), offsetof(FailedAccess, workgroup) + 4,
                           offsetof(FailedAccess, workgroup) + 8, offsetof(FailedAccess, offset),
                           offsetof(FailedAccess, size)};
  for (unsigned i = 0; i < std::size(places); ++i) {
    builder.create<LLVM::StoreOp>(location, entry->getArgument(2 + i), field(builder, location, report, places[i]));
  }
  builder.create<LLVM::BrOp>(location, end);
  builder.setInsertionPointToEnd(end);
  builder.create<LLVM::ReturnOp>(location, mlir::ValueRange());
  return note;
}

class ThreadMemory final : public KernelMemory {
 public:
  ThreadMemory(LLVM::LLVMFuncOp kernel, const EntryPoint& entry, LLVM::LLVMFuncOp note)
      : kernel_(kernel), entry_(entry), note_(note) {
    add_parameters();
    find_workgroup();
  }

  std::optional<Object> object_at(Value base) override {
    if (const auto argument = llvm::dyn_cast<mlir::BlockArgument>(base)) {
      const unsigned number = argument.getArgNumber();
      if (!argument.getOwner()->isEntryBlock() || number >= entry_.binding_count) return std::nullopt;
      return Object{base, lengths_[number], "binding " + std::to_string(number)};
    }
    const auto pointer = llvm::cast<LLVM::LLVMPointerType>(base.getType());
    if (pointer.getAddressSpace() != NVVM::kSharedMemorySpace) return std::nullopt;
    OpBuilder builder = OpBuilder::atBlockBegin(&kernel_.getBody().front());
    return Object{base, make_i64(builder, kernel_.getLoc(), entry_.local_memory_bytes), "local memory"};
  }

  bool leaves() const override { return false; }

  void fail(OpBuilder& builder, Location location, Value number, Value offset, Value size) override {
    const Value arguments[] = {report_, number, workgroup_[0], workgroup_[1], workgroup_[2], offset, size};
    builder.create<LLVM::CallOp>(location, note_, arguments);
  }

 private:
  void add_parameters() {
    OpBuilder builder(kernel_.getContext());
    llvm::SmallVector<mlir::Type> types(kernel_.getArgumentTypes());
    llvm::SmallVector<mlir::DictionaryAttr> facts;
    kernel_.getAllArgAttrs(facts);
    const auto add = [&](mlir::Type type) -> Value {
      types.push_back(type);
      return kernel_.getBody().front().addArgument(type, kernel_.getLoc());
    };
    for (unsigned i = 0; i < entry_.binding_count; ++i) lengths_.push_back(add(builder.getI64Type()));
    report_ = add(LLVM::LLVMPointerType::get(builder.getContext()));
    facts.resize(types.size());
    kernel_.setFunctionType(LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()), types));
    kernel_.setAllArgAttrs(facts);
  }

  // Axes that the kernel doesn't ask for tell its work nothing, and asking would tell targets that it does.
  void find_workgroup() {
    OpBuilder builder = OpBuilder::atBlockBegin(&kernel_.getBody().front());
    find_axis<NVVM::BlockIdXOp>(builder, workgroup_[0]);
    find_axis<NVVM::BlockIdYOp>(builder, workgroup_[1]);
    find_axis<NVVM::BlockIdZOp>(builder, workgroup_[2]);
  }
  template <typename Op>
  void find_axis(OpBuilder& builder, Value& axis) {
    const bool asks = kernel_.walk([](Op) { return mlir::WalkResult::interrupt(); }).wasInterrupted();
    axis = asks ? Value(builder.create<Op>(kernel_.getLoc(), builder.getI32Type()))
                : make_i32(builder, kernel_.getLoc(), 0);
  }

  LLVM::LLVMFuncOp kernel_;
  const EntryPoint& entry_;
  LLVM::LLVMFuncOp note_;
  llvm::SmallVector<Value> lengths_;  // By binding.
  Value report_;
  Value workgroup_[3];
};

}  // namespace

mlir::FailureOr<std::vector<AccessCheck>> check_kernels(mlir::ModuleOp kernels, llvm::ArrayRef<EntryPoint> entries) {
  std::vector<AccessCheck> checks;
  llvm::SmallPtrSet<mlir::Operation*, 8> bodies;
  for (const EntryPoint& entry : entries) bodies.insert(kernels.lookupSymbol(entry.name));
  if (mlir::failed(refuse_other_accesses(kernels, bodies))) return mlir::failure();
  LLVM::LLVMFuncOp note = add_note(kernels);
  for (const EntryPoint& entry : entries) {
    auto kernel = kernels.lookupSymbol<LLVM::LLVMFuncOp>(entry.name);
    ThreadMemory memory(kernel, entry, note);
    if (mlir::failed(check_accesses(kernel, memory, checks))) return mlir::failure();
  }
  return checks;
}

std::string access_check_rows(llvm::ArrayRef<AccessCheck> checks) {
  std::string rows;
  for (const AccessCheck& check : checks) rows += check.access + "\t" + check.line + "\n";
  return rows;
}

}  // namespace baton::compiler_lite::codegen::gpu
