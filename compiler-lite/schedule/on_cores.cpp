#include "compiler-lite/schedule/on_cores.hpp"

#include "compiler-lite/dialects/flow/dialect.hpp"
#include "compiler-lite/dialects/util/dialect.hpp"
#include "llvm/ADT/SetVector.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/SymbolTable.h"

namespace baton::compiler_lite::schedule {
namespace {

constexpr llvm::StringLiteral kOnCores = "baton.on_cores", kOnBlocks = "baton.on_blocks";
constexpr llvm::StringLiteral kWithAtomics = "baton.with_atomics";
constexpr llvm::StringLiteral kOneKernel = "baton.one_kernel", kWorkgroups = "baton.workgroups";

bool is_known(mlir::Type type) {
  const auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
  return tensor && tensor.hasStaticShape();
}

// The loop whose turns are divided among workgroups, if any; each does as many, the last one what is left.
mlir::FailureOr<int64_t> divide_loop(flow::DispatchRegionOp region) {
  mlir::scf::ForOp loop;
  for (auto each : region.getBody().getOps<mlir::scf::ForOp>()) {
    if (each->hasAttr(kWorkgroups)) loop = each;
  }
  if (!loop) return 1;
  const auto count = llvm::dyn_cast<mlir::IntegerAttr>(loop->removeAttr(kWorkgroups));
  const auto begin = mlir::getConstantIntValue(loop.getLowerBound()),
             end = mlir::getConstantIntValue(loop.getUpperBound());
  const auto step = mlir::getConstantIntValue(loop.getStep());
  if (!count || count.getInt() < 1 || begin != 0 || !end || step != 1) {
    return loop.emitOpError(
        "has turns that are not divided among workgroups: they count from 0 to a constant, one by one");
  }
  const auto divided = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
  const int64_t turns = std::max<int64_t>(1, divided(*end, count.getInt())), workgroups = divided(*end, turns);
  mlir::OpBuilder builder(loop);
  const mlir::Location location = loop.getLoc();
  const auto index = [&](int64_t number) -> mlir::Value {
    return builder.create<mlir::arith::ConstantIndexOp>(location, number);
  };
  const mlir::Value workgroup =
      builder.create<flow::DispatchWorkgroupIDOp>(location, builder.getIndexType(), builder.getIndexAttr(0));
  const mlir::Value first = builder.create<mlir::arith::MulIOp>(location, workgroup, index(turns));
  const mlir::Value next = builder.create<mlir::arith::AddIOp>(location, first, index(turns));
  loop.setLowerBound(first);
  loop.setUpperBound(builder.create<mlir::arith::MinUIOp>(location, next, index(*end)));
  return workgroups;
}

void count_workgroups(flow::DispatchRegionOp region, int64_t count) {
  mlir::OpBuilder builder(region.getContext());
  builder.createBlock(&region.getWorkgroupCount());
  const mlir::Value one = builder.create<mlir::arith::ConstantIndexOp>(region.getLoc(), 1);
  const mlir::Value all = builder.create<mlir::arith::ConstantIndexOp>(region.getLoc(), count);
  builder.create<flow::ReturnOp>(region.getLoc(), mlir::ValueRange{all, one, one});
}

// What a function does stands in a region, which becomes a kernel as it is.
mlir::LogicalResult make_one_kernel(util::FuncOp function) {
  if (!function.getBody().hasOneBlock() || !llvm::all_of(function.getResultTypes(), is_known)) {
    return function.emitOpError("is no kernel: it has several blocks, or results that are no tensors of known sizes");
  }
  mlir::Block& body = function.getBody().front();
  mlir::Operation* end = body.getTerminator();
  mlir::OpBuilder builder(end);
  auto region = builder.create<flow::DispatchRegionOp>(function.getLoc(), end->getOperandTypes(), mlir::ValueRange(),
                                                       mlir::ValueRange());
  mlir::Block* kernel = builder.createBlock(&region.getBody());
  kernel->getOperations().splice(kernel->end(), body.getOperations(), body.begin(), mlir::Block::iterator(region));
  builder.setInsertionPointToEnd(kernel);
  builder.create<flow::ReturnOp>(function.getLoc(), end->getOperands());
  end->setOperands(region.getResults());
  const mlir::FailureOr<int64_t> workgroups = divide_loop(region);
  if (mlir::failed(workgroups)) return mlir::failure();
  if (*workgroups > 1) count_workgroups(region, *workgroups);
  return mlir::success();
}

}  // namespace

namespace {

// The other function that `function` names for some workgroups; null where it names none.
mlir::FailureOr<util::FuncOp> named(util::FuncOp function, llvm::StringRef form, mlir::SymbolTable& symbols) {
  const auto name = function->getAttrOfType<mlir::FlatSymbolRefAttr>(form);
  if (!name) return util::FuncOp();
  auto other = symbols.lookup<util::FuncOp>(name.getAttr());
  if (!other || other.isExternal() || other.getFunctionType() != function.getFunctionType()) {
    return function.emitOpError("has ") << form << " = " << name << ", which is no function of its type";
  }
  function->removeAttr(form);
  return other;
}

// Functions of which one that is gone was the only caller go, too.
void erase_uncalled(mlir::ModuleOp module, mlir::SymbolTable& symbols, llvm::SetVector<mlir::Operation*> left) {
  bool erased = true;
  while (erased) {
    erased = false;
    for (mlir::Operation* function : llvm::to_vector(left)) {
      if (!llvm::cast<util::FuncOp>(function).isPrivate()) continue;
      if (!mlir::SymbolTable::symbolKnownUseEmpty(function, module)) continue;
      function->walk([&](util::CallOp call) {
        if (auto callee = symbols.lookup<util::FuncOp>(call.getCallee()); callee && !callee.isExternal()) {
          left.insert(callee);
        }
      });
      left.remove(function);
      symbols.erase(function);
      erased = true;
    }
  }
}

}  // namespace

mlir::LogicalResult choose_functions(mlir::ModuleOp module, Workgroups workgroups) {
  mlir::SymbolTable symbols(module);
  llvm::DenseMap<mlir::StringAttr, mlir::FlatSymbolRefAttr> chosen;
  llvm::SetVector<mlir::Operation*> left;
  for (util::FuncOp function : module.getOps<util::FuncOp>()) {
    const bool has_atomics = workgroups == Workgroups::kWithAtomics;
    // The last one that fits is taken.
    for (const auto& [form, fits] : {std::pair(kOnCores, workgroups == Workgroups::kOnCores),
                                     std::pair(kOnBlocks, workgroups == Workgroups::kOnBlocks || has_atomics),
                                     std::pair(kWithAtomics, has_atomics)}) {
      const mlir::FailureOr<util::FuncOp> other = named(function, form, symbols);
      if (mlir::failed(other)) return mlir::failure();
      if (!*other) continue;
      if (fits) chosen[function.getSymNameAttr()] = mlir::FlatSymbolRefAttr::get(util::FuncOp(*other).getSymNameAttr());
      left.insert(function);
      left.insert(*other);
    }
  }
  module.walk([&](util::CallOp call) {
    if (const auto name = chosen.lookup(call.getCalleeAttr().getAttr())) call.setCalleeAttr(name);
  });
  erase_uncalled(module, symbols, left);
  if (workgroups != Workgroups::kOnCores) return mlir::success();
  for (util::FuncOp function : module.getOps<util::FuncOp>()) {
    if (function->removeAttr(kOneKernel) && mlir::failed(make_one_kernel(function))) return mlir::failure();
  }
  return mlir::success();
}

}  // namespace baton::compiler_lite::schedule
