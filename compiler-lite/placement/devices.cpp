#include "compiler-lite/placement/devices.hpp"

#include "compiler-lite/dialects/util/dialect.hpp"
#include "mlir/IR/Builders.h"

namespace baton::compiler_lite::placement {
namespace {

using mlir::ArrayAttr;
using mlir::Attribute;
using mlir::StringAttr;

// Each a list of name, choices, targets.
constexpr llvm::StringLiteral kDevices = "hal.program.devices";

bool is_device(mlir::ModuleOp module, Attribute entry) {
  const auto words = llvm::dyn_cast<ArrayAttr>(entry);
  if (!words || words.size() != 3 || !llvm::isa<StringAttr>(words[0]) || !llvm::isa<StringAttr>(words[1])) return false;
  const auto targets = llvm::dyn_cast<ArrayAttr>(words[2]);
  auto global = module.lookupSymbol<util::GlobalOp>(llvm::cast<StringAttr>(words[0]));
  return targets && llvm::all_of(targets, llvm::IsaPred<hal::ExecutableTargetAttr>) && global &&
         llvm::isa<hal::DeviceType>(global.getType());
}

}  // namespace

mlir::FailureOr<bool> has_devices(mlir::ModuleOp module) {
  const Attribute devices = module->getAttr(kDevices);
  if (!devices) return false;
  const auto list = llvm::dyn_cast<ArrayAttr>(devices);
  if (list && llvm::all_of(list, [&](Attribute each) { return is_device(module, each); })) return true;
  return module.emitError() << kDevices << " is " << devices
                            << ", and each of it is the name of a global, what the device is, and its targets";
}

llvm::SmallVector<llvm::StringRef> NamedDevice::kinds() const {
  llvm::SmallVector<llvm::StringRef> kinds;
  llvm::StringRef(choices).split(kinds, ',');
  for (llvm::StringRef& kind : kinds) kind = kind.split('[').first;
  return kinds;
}

Devices::Devices(mlir::ModuleOp module) {
  const auto list = module->getAttrOfType<ArrayAttr>(kDevices);
  if (!list) return;
  for (const auto each : list.getAsRange<ArrayAttr>()) {
    NamedDevice device{llvm::cast<StringAttr>(each[0]).str(), llvm::cast<StringAttr>(each[1]).str()};
    llvm::append_range(device.targets, llvm::cast<ArrayAttr>(each[2]).getAsRange<hal::ExecutableTargetAttr>());
    devices_.push_back(std::move(device));
  }
}

unsigned Devices::number_of(Attribute affinity) const {
  const llvm::StringRef name = device_of(affinity);
  const auto* found = llvm::find_if(devices_, [&](const NamedDevice& each) { return each.name == name; });
  return found == devices_.end() ? 0 : static_cast<unsigned>(found - devices_.begin());
}

unsigned Devices::number_in(mlir::DictionaryAttr attributes) const {
  if (!attributes) return 0;
  const Attribute boundary = attributes.get(kBoundaryAffinity);
  return number_of(boundary ? boundary : attributes.get(kAffinity));
}

void write_devices(mlir::ModuleOp module, llvm::ArrayRef<NamedDevice> devices) {
  mlir::Builder builder(module.getContext());
  llvm::SmallVector<Attribute> list;
  for (const NamedDevice& device : devices) {
    const llvm::SmallVector<Attribute> targets(device.targets.begin(), device.targets.end());
    list.push_back(builder.getArrayAttr(
        {builder.getStringAttr(device.name), builder.getStringAttr(device.choices), builder.getArrayAttr(targets)}));
  }
  module->setAttr(kDevices, builder.getArrayAttr(list));
}

Attribute affinity_on(mlir::MLIRContext* context, llvm::StringRef device) {
  return hal::DeviceAffinityAttr::get(context, mlir::FlatSymbolRefAttr::get(context, device), ArrayAttr());
}

llvm::StringRef device_of(Attribute affinity) {
  if (const auto known = llvm::dyn_cast_or_null<hal::DeviceAffinityAttr>(affinity)) return known.getDevice().getValue();
  if (const auto later = llvm::dyn_cast_or_null<hal::DevicePromiseAttr>(affinity)) return later.getDevice().getValue();
  return {};
}

}  // namespace baton::compiler_lite::placement
