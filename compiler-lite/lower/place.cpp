// place: devices that a program names → the one that it runs on.
//
// A compiled program works on the first device that its host gives it. Affinities that all mean one device say nothing
// else; globals of the type hal.device hold that device. A program that means several is refused where it says so.

#include "compiler-lite/dialects/flow/dialect.hpp"
#include "compiler-lite/dialects/hal/dialect.hpp"
#include "compiler-lite/dialects/util/dialect.hpp"
#include "compiler-lite/lower/lower.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace baton::compiler_lite::lower {

using namespace mlir;  // NOLINT: this file rewrites MLIR.

namespace {

constexpr StringLiteral kDevicesGet = "hal.devices.get";
constexpr StringLiteral kTargets = "hal.device.targets";
constexpr StringLiteral kAffinities[] = {"stream.affinity", "stream.affinity.default", "iree.abi.affinity"};

bool is_device(Attribute value) {
  return isa_and_nonnull<hal::DeviceTargetAttr, hal::DeviceAliasAttr, hal::DeviceOrdinalAttr, hal::DeviceSelectAttr>(
      value);
}

class Placement {
 public:
  explicit Placement(ModuleOp module) : module_(module), symbols_(module) {}

  LogicalResult run() {
    const WalkResult walked = module_.walk([&](Operation* op) {
      return failed(read_attributes(op)) || failed(read_global(op)) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (walked.wasInterrupted()) return failure();
    SmallVector<flow::TensorTransferOp> transfers;
    module_.walk([&](flow::TensorTransferOp op) { transfers.push_back(op); });
    for (flow::TensorTransferOp op : transfers) {
      op.replaceAllUsesWith(op.getOperand());
      op.erase();
    }
    for (util::GlobalOp global : llvm::to_vector(module_.getOps<util::GlobalOp>())) {
      if (!is_device(global.getInitialValueAttr())) continue;
      if (!first_) first_ = global;
      if (global == first_) tell_targets();
      initialize(global);
    }
    return success();
  }

 private:
  static bool is_affinity(Attribute attribute) {
    return isa<hal::DeviceAffinityAttr, hal::DevicePromiseAttr>(attribute);
  }

  // Affinities anywhere in what the operation says.
  LogicalResult read_attributes(Operation* op) {
    for (const NamedAttribute& each : op->getDiscardableAttrs()) {
      if (llvm::is_contained(kAffinities, each.getName()) && !is_affinity(each.getValue())) {
        return op->emitOpError("says ") << each.getName().getValue() << " = " << each.getValue()
                                        << ", which is no #hal.device.affinity";
      }
    }
    if (auto transfer = dyn_cast<flow::TensorTransferOp>(op); transfer && !is_affinity(transfer.getTarget())) {
      return op->emitOpError("goes to ") << transfer.getTarget() << ", which is no #hal.device.affinity";
    }
    LogicalResult result = success();
    AttrTypeWalker walker;
    const auto read = [&](auto affinity) {
      result = affinity.getQueues() ? LogicalResult(op->emitOpError("chooses queues of a device: ") << affinity)
                                    : mean(op, affinity.getDevice());
      return failed(result) ? WalkResult::interrupt() : WalkResult::advance();
    };
    walker.addWalk([&](hal::DeviceAffinityAttr affinity) { return read(affinity); });
    walker.addWalk([&](hal::DevicePromiseAttr affinity) { return read(affinity); });
    walker.walk(op->getAttrDictionary());
    return result;
  }

  LogicalResult read_global(Operation* op) {
    auto load = dyn_cast<util::GlobalLoadOp>(op);
    if (!load || !isa<hal::DeviceType>(load.getType())) return success();
    auto global = dyn_cast_or_null<util::GlobalOp>(symbols_.lookup(load.getGlobal()));
    return global && is_device(global.getInitialValueAttr()) ? mean(op, global.getSymName()) : success();
  }

  LogicalResult mean(Operation* op, FlatSymbolRefAttr device) { return mean(op, device.getValue()); }
  LogicalResult mean(Operation* op, StringRef device) {
    auto global = dyn_cast_or_null<util::GlobalOp>(symbols_.lookup(device));
    if (!global || !isa<hal::DeviceType>(global.getType())) {
      return op->emitOpError("is on @") << device << ", which is no global of the type !hal.device";
    }
    const Attribute value = global.getInitialValueAttr();
    if (!first_) first_ = global;
    if (global == first_ || (value && value == first_.getInitialValueAttr())) return success();
    return (op->emitOpError("is on @") << device << ", and other work on @" << first_.getSymName()
                                       << "; a compiled program works on one device")
               .attachNote(first_.getLoc())
           << "that one is declared here";
  }

  // What code is made for, unless the program or the command line says it elsewhere.
  void tell_targets() {
    const auto device = dyn_cast<hal::DeviceTargetAttr>(first_.getInitialValueAttr());
    if (!device || device.getTargets().empty() || module_->hasAttr(kTargets)) return;
    module_->setAttr(kTargets, ArrayAttr::get(module_.getContext(), device));
  }

  void initialize(util::GlobalOp global) {
    OpBuilder builder(module_.getContext());
    builder.setInsertionPointAfter(global);
    const Location location = global.getLoc();
    const Type device = hal::DeviceType::get(builder.getContext());
    global.removeInitialValueAttr();
    auto initializer = builder.create<util::InitializerOp>(location);
    builder.createBlock(&initializer.getBody());
    const Value first = builder.create<arith::ConstantIndexOp>(location, 0);
    if (!symbols_.lookup(kDevicesGet)) {
      OpBuilder start = OpBuilder::atBlockBegin(module_.getBody());
      auto get = start.create<util::FuncOp>(location, kDevicesGet, builder.getFunctionType(first.getType(), device));
      get.setPrivate();
      symbols_.insert(get);
    }
    auto get = builder.create<util::CallOp>(location, kDevicesGet, TypeRange(device), ValueRange(first));
    builder.create<util::GlobalStoreOp>(location, get.getResult(0), global.getSymName());
    builder.create<util::ReturnOp>(location, ValueRange());
  }

  ModuleOp module_;
  SymbolTable symbols_;
  util::GlobalOp first_;  // The device that was meant first.
};

}  // namespace

LogicalResult place(ModuleOp module) { return Placement(module).run(); }

}  // namespace baton::compiler_lite::lower
