#include "compiler-lite/codegen/cpu/check_kernels.hpp"

#include "compiler-lite/codegen/cpu/dispatch_pointers.hpp"
#include "compiler-lite/codegen/cpu/library_layout.hpp"
#include "compiler-lite/codegen/llvm/llvm_values.hpp"
#include "llvm/ADT/SmallPtrSet.h"

namespace baton::compiler_lite::codegen::cpu {
namespace {

namespace LLVM = mlir::LLVM;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;

// The memory of a body: its arguments are those of DispatchPointers.
class BodyMemory final : public KernelMemory {
 public:
  explicit BodyMemory(LLVM::LLVMFuncOp body) : body_(body) {}

  std::optional<Object> object_at(Value base) override {
    if (const auto argument = llvm::dyn_cast<mlir::BlockArgument>(base)) {
      if (argument.getArgNumber() < DispatchPointers::kFirstBinding) return Object{};
      return binding(argument, argument.getArgNumber() - DispatchPointers::kFirstBinding);
    }
    auto load = base.getDefiningOp<LLVM::LoadOp>();
    if (!load) return std::nullopt;
    auto place = load.getAddr().getDefiningOp<LLVM::GEPOp>();
    const Value state = place ? place.getBase() : load.getAddr();
    const auto argument = llvm::dyn_cast<mlir::BlockArgument>(state);
    if (!argument || argument.getArgNumber() >= DispatchPointers::kFirstBinding) return std::nullopt;
    const bool is_local_memory =
        argument.getArgNumber() == kWorkgroup && place &&
        place.getRawConstantIndices() == llvm::ArrayRef<int32_t>{static_cast<int32_t>(layout::kWorkgroupLocalMemory)};
    return is_local_memory ? local_memory(base) : Object{};
  }

  bool leaves() const override { return true; }

  void fail(OpBuilder& builder, Location location, Value number, Value offset, Value size) override {
    const Value failed =
        load(builder, location, body_.getArgument(kWorkgroup), layout::kWorkgroupFailedCheck, pointer_type(builder));
    const std::pair<Value, uint64_t> words[] = {
        {number, layout::kFailedNumber}, {offset, layout::kFailedOffset}, {size, layout::kFailedSize}};
    for (const auto& [word, at] : words) {
      builder.create<LLVM::StoreOp>(location, word, address(builder, location, failed, at));
    }
    builder.create<LLVM::ReturnOp>(location, make_i32(builder, location, -1));
  }

 private:
  static constexpr unsigned kDispatch = 1, kWorkgroup = 2;

  static mlir::Type pointer_type(OpBuilder& builder) { return LLVM::LLVMPointerType::get(builder.getContext()); }

  static Value address(OpBuilder& builder, Location location, Value base, uint64_t offset) {
    return builder.create<LLVM::GEPOp>(location, base.getType(), builder.getI8Type(), base,
                                       llvm::ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
  }
  static Value load(OpBuilder& builder, Location location, Value base, uint64_t offset, mlir::Type type) {
    return builder.create<LLVM::LoadOp>(location, type, address(builder, location, base, offset));
  }

  // Loads that stand before all that the kernel does.
  OpBuilder at_begin() { return OpBuilder::atBlockBegin(&body_.getBody().front()); }

  Object binding(Value begin, unsigned ordinal) {
    OpBuilder builder = at_begin();
    const Location location = body_.getLoc();
    const Value lengths =
        load(builder, location, body_.getArgument(kDispatch), layout::kDispatchBindingLengths, pointer_type(builder));
    const Value size = load(builder, location, lengths, sizeof(uint64_t) * ordinal, builder.getI64Type());
    return {begin, size, "binding " + std::to_string(ordinal)};
  }

  Object local_memory(Value begin) {
    OpBuilder builder = at_begin();
    const Value size = load(builder, body_.getLoc(), body_.getArgument(kWorkgroup), layout::kWorkgroupLocalMemorySize,
                            builder.getI64Type());
    return {begin, size, "local memory"};
  }

  LLVM::LLVMFuncOp body_;
};

}  // namespace

mlir::FailureOr<std::vector<AccessCheck>> check_kernels(mlir::ModuleOp kernels, llvm::ArrayRef<EntryPoint> entries) {
  std::vector<AccessCheck> checks;
  llvm::SmallPtrSet<mlir::Operation*, 8> bodies;
  for (const EntryPoint& entry : entries) bodies.insert(kernels.lookupSymbol(entry.body));
  if (mlir::failed(refuse_other_accesses(kernels, bodies))) return mlir::failure();
  for (const EntryPoint& entry : entries) {
    auto body = kernels.lookupSymbol<LLVM::LLVMFuncOp>(entry.body);
    BodyMemory memory(body);
    if (mlir::failed(check_accesses(body, memory, checks))) return mlir::failure();
  }
  return checks;
}

}  // namespace baton::compiler_lite::codegen::cpu
