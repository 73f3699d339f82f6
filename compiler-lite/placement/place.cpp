#include "compiler-lite/placement/place.hpp"

#include "compiler-lite/dialects/flow/dialect.hpp"
#include "compiler-lite/dialects/hal/dialect.hpp"
#include "compiler-lite/dialects/hal_calls.hpp"
#include "compiler-lite/dialects/util/dialect.hpp"
#include "compiler-lite/placement/write_transfers.hpp"
#include "llvm/ADT/SetVector.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace baton::compiler_lite::placement {

using namespace mlir;  // NOLINT: this file rewrites MLIR.

namespace {

constexpr StringLiteral kTargets = "hal.device.targets";
constexpr StringLiteral kDefaultAffinity = "stream.affinity.default";
constexpr StringLiteral kAffinities[] = {kAffinity, kDefaultAffinity, kBoundaryAffinity};

bool is_device(Attribute value) {
  if (const auto select = dyn_cast_or_null<hal::DeviceSelectAttr>(value)) {
    return !select.getDevices().empty() && llvm::all_of(select.getDevices(), is_device);
  }
  return isa_and_nonnull<hal::DeviceTargetAttr, hal::DeviceAliasAttr, hal::DeviceOrdinalAttr>(value);
}

bool is_tensor(Type type) { return isa<TensorType>(type); }

// What an attribute means, in the words of hal.devices.find.
std::string choices_of(Attribute device) {
  const auto numbered = [](StringRef kind, int64_t number) { return (kind + "[" + Twine(number) + "]").str(); };
  if (const auto target = dyn_cast<hal::DeviceTargetAttr>(device)) {
    const auto ordinal = target.getConfiguration() ? target.getConfiguration().getAs<IntegerAttr>("ordinal") : nullptr;
    return numbered(target.getDevice(), ordinal ? ordinal.getInt() : 0);
  }
  if (const auto alias = dyn_cast<hal::DeviceAliasAttr>(device)) {
    return numbered(alias.getDevice(), alias.getOrdinal().value_or(0));
  }
  if (const auto ordinal = dyn_cast<hal::DeviceOrdinalAttr>(device)) return numbered("", ordinal.getOrdinal());
  std::string choices;
  for (const Attribute each : cast<hal::DeviceSelectAttr>(device).getDevices()) {
    choices += (choices.empty() ? "" : ",") + choices_of(each);
  }
  return choices;
}

// Of all that it may be.
void add_targets(Attribute device, SmallVector<hal::ExecutableTargetAttr>& targets) {
  if (const auto target = dyn_cast<hal::DeviceTargetAttr>(device)) {
    for (const hal::ExecutableTargetAttr each : target.getTargets()) {
      if (!llvm::is_contained(targets, each)) targets.push_back(each);
    }
  }
  const auto select = dyn_cast<hal::DeviceSelectAttr>(device);
  for (const Attribute each : select ? select.getDevices().getValue() : ArrayRef<Attribute>()) {
    add_targets(each, targets);
  }
}

class Placing {
 public:
  explicit Placing(ModuleOp module) : module_(module), symbols_(module) {}

  LogicalResult run() {
    declare_targets();
    const WalkResult walked = module_.walk([&](Operation* op) {
      return failed(read_attributes(op)) || failed(read_global(op)) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (walked.wasInterrupted()) return failure();
    return means_several() ? place_several() : place_one();
  }

 private:
  // hal.device.targets may be asked for by number, as @__device_1, where the program has no global of that name.
  void declare_targets() {
    const auto targets = module_->getAttrOfType<ArrayAttr>(kTargets);
    for (const auto& [number, target] : llvm::enumerate(targets ? targets.getValue() : ArrayRef<Attribute>())) {
      const std::string name = "__device_" + std::to_string(number);
      if (!isa<hal::DeviceTargetAttr>(target) || symbols_.lookup(name)) continue;
      if (SymbolTable::symbolKnownUseEmpty(StringAttr::get(module_.getContext(), name), module_)) continue;
      OpBuilder start = OpBuilder::atBlockBegin(module_.getBody());
      symbols_.insert(start.create<util::GlobalOp>(module_.getLoc(), start.getStringAttr(name),
                                                   start.getStringAttr("private"), UnitAttr(),
                                                   TypeAttr::get(hal::DeviceType::get(module_.getContext())), target));
    }
  }

  LogicalResult place_one() {
    if (!meant_.empty()) first_ = meant_.front();
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

  bool means_several() {
    return llvm::any_of(meant_, [&](util::GlobalOp each) { return is_other(each, meant_.front()); });
  }
  static bool is_other(util::GlobalOp a, util::GlobalOp b) {
    return a != b && !(a.getInitialValueAttr() && a.getInitialValueAttr() == b.getInitialValueAttr());
  }

  // Takes the devices in the order of their declarations, the default one first.
  LogicalResult place_several() {
    SmallVector<util::GlobalOp> order;
    const StringRef usual = device_of(module_->getAttr(kDefaultAffinity));
    for (auto global : module_.getOps<util::GlobalOp>()) {
      if (!meant_.contains(global)) continue;
      order.insert(global.getSymName() == usual ? order.begin() : order.end(), global);
    }
    SmallVector<NamedDevice> devices;
    SmallVector<Attribute> values;
    llvm::StringMap<int> numbers;
    for (util::GlobalOp global : order) {
      const Attribute value = global.getInitialValueAttr();
      if (!is_device(value))
        return global.emitOpError("doesn't say which device it is, and the program works on several");
      const auto* known = llvm::find(values, value);
      numbers[global.getSymName()] = static_cast<int>(known - values.begin());
      if (known != values.end()) continue;
      values.push_back(value);
      devices.push_back({global.getSymName().str(), choices_of(value)});
      add_targets(value, devices.back().targets);
    }
    if (failed(refuse_empty_words())) return failure();
    PlacedProgram program(module_, numbers);
    if (failed(write_transfers(module_, program, devices))) return failure();
    for (util::GlobalOp global : llvm::to_vector(module_.getOps<util::GlobalOp>())) {
      if (!is_device(global.getInitialValueAttr())) continue;
      if (!meant_.contains(global)) {
        global.erase();
        continue;
      }
      rename_loads(global, devices[static_cast<size_t>(numbers[global.getSymName()])].name);
      global.removeInitialValueAttr();
    }
    write_devices(module_, devices);
    return success();
  }

  // A second name of the same device.
  void rename_loads(util::GlobalOp global, StringRef name) {
    module_.walk([&](util::GlobalLoadOp load) {
      if (load.getGlobal() == global.getSymName()) load.setGlobal(name);
    });
  }

  // An affinity of what has no tensors would be left out.
  LogicalResult refuse_empty_words() {
    const WalkResult walked = module_.walk([&](Operation* op) {
      if (auto function = dyn_cast<FunctionOpInterface>(op)) return refuse_in_signature(function);
      if (!op->hasAttr(kAffinity) || isa<ModuleOp, util::InitializerOp>(op)) return WalkResult::advance();
      if (auto global = dyn_cast<util::GlobalOp>(op); global && is_tensor(global.getType()))
        return WalkResult::advance();
      const bool has_tensors = op->walk([](Operation* inner) {
                                   const bool any = llvm::any_of(inner->getOperandTypes(), is_tensor) ||
                                                    llvm::any_of(inner->getResultTypes(), is_tensor);
                                   return any ? WalkResult::interrupt() : WalkResult::advance();
                                 }).wasInterrupted();
      if (has_tensors) return WalkResult::advance();
      op->emitOpError("says a device and has no tensors: it runs on the host");
      return WalkResult::interrupt();
    });
    return failure(walked.wasInterrupted());
  }

  static WalkResult refuse_in_signature(FunctionOpInterface function) {
    const auto is_wrong = [](DictionaryAttr attributes, Type type) {
      return attributes && !is_tensor(type) &&
             (attributes.contains(kAffinity) || attributes.contains(kBoundaryAffinity));
    };
    bool wrong = false;
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      wrong |= is_wrong(function.getArgAttrDict(i), function.getArgumentTypes()[i]);
    }
    for (unsigned i = 0; i < function.getNumResults(); ++i) {
      wrong |= is_wrong(function.getResultAttrDict(i), function.getResultTypes()[i]);
    }
    if (!wrong) return WalkResult::advance();
    function.emitOpError("says a device of something that is no tensor");
    return WalkResult::interrupt();
  }

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
    meant_.insert(global);
    return success();
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
    global.removeInitialValueAttr();
    auto initializer = builder.create<util::InitializerOp>(location);
    builder.createBlock(&initializer.getBody());
    const Value first = builder.create<arith::ConstantIndexOp>(location, 0);
    const Value got = HalCalls(module_).call(builder, location, "devices.get", first);
    builder.create<util::GlobalStoreOp>(location, got, global.getSymName());
    builder.create<util::ReturnOp>(location, ValueRange());
  }

  ModuleOp module_;
  SymbolTable symbols_;
  llvm::SetVector<util::GlobalOp> meant_;
  util::GlobalOp first_;  // The device that was meant first.
};

}  // namespace

LogicalResult place(ModuleOp module) {
  const FailureOr<bool> is_placed = has_devices(module);
  if (failed(is_placed) || *is_placed) return is_placed;
  return Placing(module).run();
}

}  // namespace baton::compiler_lite::placement
