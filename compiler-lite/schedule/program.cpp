#include "compiler-lite/schedule/program.hpp"

#include "compiler-lite/constant_limit.hpp"
#include "compiler-lite/schedule/constant_bytes.hpp"
#include "compiler-lite/schedule/executable_loading.hpp"
#include "compiler-lite/schedule/tensors.hpp"

namespace baton::compiler_lite::schedule {

using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;

Program::Program(mlir::ModuleOp module, const Executables& executables, const placement::Devices& devices,
                 const placement::Assignment& assignment, bool for_blocks, std::string* dump)
    : module_(module),
      hal_(module),
      executables_(executables),
      devices_(devices),
      assignment_(assignment),
      for_blocks_(for_blocks),
      dump_(dump),
      initializer_(module.getContext()) {
  const Location location = module.getLoc();
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  initializer_op_ = builder.create<util::InitializerOp>(location);
  mlir::Block* body = builder.createBlock(&initializer_op_.getBody());
  builder.setInsertionPointToEnd(body);
  auto end = builder.create<util::ReturnOp>(location, mlir::ValueRange());
  initializer_.setInsertionPoint(end);

  find_devices();
  const ExecutableUses uses = uses_of_executables(module, assignment);
  for (unsigned number = 0; number < devices.count(); ++number) {
    load_executables(module, executables, uses, initializer_, hal_, {number, initializer_devices_[number]});
  }
}

// The first one that the host gives; those that the program names, where it names several.
void Program::find_devices() {
  const Location location = module_.getLoc();
  for (unsigned number = 0; number < devices_.count(); ++number) {
    Value found;
    if (devices_.several()) {
      const placement::NamedDevice& device = devices_[number];
      found = hal_.call(
          initializer_, location, "devices.find",
          {hal_.bytes(initializer_, location, device.name), hal_.bytes(initializer_, location, device.choices)});
      device_globals_.push_back(device.name);
    } else {
      device_globals_.push_back(add_global("device", hal_.device_type(), location));
      found = hal_.call(initializer_, location, "devices.get", {hal_.index(initializer_, location, 0)});
    }
    initializer_.create<util::GlobalStoreOp>(location, found, device_globals_.back());
    initializer_devices_.push_back(found);
  }
}

std::string Program::add_global(llvm::StringRef stem, mlir::Type type, Location location, bool is_mutable) {
  std::string name = stem.str();
  while (module_.lookupSymbol(name)) name = stem.str() + "." + std::to_string(names_[stem]++);
  OpBuilder builder(initializer_op_);
  builder.create<util::GlobalOp>(location, builder.getStringAttr(name), builder.getStringAttr("private"),
                                 is_mutable ? builder.getUnitAttr() : mlir::UnitAttr(), mlir::TypeAttr::get(type),
                                 mlir::Attribute());
  return name;
}

Value Program::load_device(OpBuilder& builder, Location location, unsigned number) {
  return builder.create<util::GlobalLoadOp>(
      location, hal_.device_type(), mlir::UnitAttr(),
      mlir::FlatSymbolRefAttr::get(builder.getContext(), device_globals_[number]));
}

std::string Program::constant(mlir::DenseElementsAttr elements, Location location, unsigned device) {
  std::string& global = constants_[{elements, device}];
  if (!global.empty()) return global;
  global = add_global("constant", hal_.buffer_type(), location);
  const auto type = llvm::cast<mlir::RankedTensorType>(elements.getType());
  const double size = static_cast<double>(element_bytes(type.getElementType())) *
                      static_cast<double>(std::max<int64_t>(type.getNumElements(), 0));
  if (size > kConstantBytesMax) {
    mlir::emitError(location) << "a constant of " << type << " has more than 2 GiB, which a program doesn't hold; "
                              << "make it by an operation, or take it as a parameter.";
    refused_ = true;
    return global;
  }
  const Value blob = write_elements(initializer_, location, elements);
  const Value buffer = hal_.call(initializer_, location, "device.constant",
                                 {initializer_devices_[device], blob, hal_.index(initializer_, location, 0),
                                  hal_.index(initializer_, location, static_cast<int64_t>(size))});
  initializer_.create<util::GlobalStoreOp>(location, buffer, global);
  return global;
}

mlir::LogicalResult Program::convert_globals() {
  const llvm::SmallVector<util::GlobalOp> globals(module_.getOps<util::GlobalOp>());
  for (util::GlobalOp global : globals) {
    const auto type = llvm::dyn_cast<mlir::RankedTensorType>(global.getType());
    if (!type) continue;
    for (int64_t i = 0; i < type.getNumDynamicDims(); ++i) {
      const std::string stem = global.getSymName().str() + ".size";
      size_globals_[global.getSymName()].push_back(
          add_global(stem, initializer_.getIndexType(), global.getLoc(), true));
    }
    const auto value = llvm::dyn_cast_or_null<mlir::DenseElementsAttr>(global.getInitialValueAttr());
    if (global.getInitialValueAttr() && !value) return global.emitOpError("has a value whose elements aren't known");
    global.setType(hal_.buffer_type());
    global.removeInitialValueAttr();
    if (!value) continue;
    const unsigned device = devices_.number_in(global->getDiscardableAttrDictionary());
    const Value first = initializer_.create<util::GlobalLoadOp>(
        global.getLoc(), hal_.buffer_type(), mlir::UnitAttr(),
        mlir::FlatSymbolRefAttr::get(module_.getContext(), constant(value, global.getLoc(), device)));
    initializer_.create<util::GlobalStoreOp>(global.getLoc(), first, global.getSymName());
  }
  return mlir::success();
}

llvm::ArrayRef<std::string> Program::size_globals(llvm::StringRef global) const {
  const auto found = size_globals_.find(global);
  return found == size_globals_.end() ? llvm::ArrayRef<std::string>() : llvm::ArrayRef(found->second);
}

mlir::LogicalResult Program::finish() {
  if (refused_) return mlir::failure();
  erase_unused_device();
  return mlir::success();
}

void Program::erase_unused_device() {
  if (devices_.several()) return;
  auto device = module_.lookupSymbol<util::GlobalOp>(device_globals_.front());
  const bool only_device = initializer_op_.getBody().front().getOperations().size() == 4;
  if (!only_device || !llvm::hasSingleElement(*mlir::SymbolTable::getSymbolUses(device, module_))) return;
  initializer_op_.erase();
  device.erase();
  mlir::Operation* get = module_.lookupSymbol("hal.devices.get");
  if (mlir::SymbolTable::symbolKnownUseEmpty(get, module_)) get->erase();
}

}  // namespace baton::compiler_lite::schedule
