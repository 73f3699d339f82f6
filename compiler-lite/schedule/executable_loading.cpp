// The part of the initializer that loads executables: of each the variants whose conditions hold, with their constants.
#include "compiler-lite/dialects/util/dialect.hpp"
#include "compiler-lite/schedule/executables.hpp"
#include "compiler-lite/schedule/objects.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace baton::compiler_lite {

using llvm::SmallVector;
using llvm::SmallVectorImpl;
using llvm::StringRef;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;

// A format that no device takes stands for a variant whose condition doesn't hold.
Value Executables::write_format(OpBuilder& builder, HalCalls& hal, Value device, Location location,
                                const Blob& variant) {
  const Value format = hal.bytes(builder, location, variant.format);
  if (variant.host.condition.empty()) return format;
  auto holds = builder.create<util::CallOp>(location, variant.host.condition, mlir::TypeRange(builder.getI1Type()),
                                            mlir::ValueRange(device));
  const Value none = hal.bytes(builder, location, "not chosen by its condition: " + variant.format);
  return builder.create<mlir::arith::SelectOp>(location, holds.getResult(0), format, none);
}

Value Executables::write_load(OpBuilder& builder, HalCalls& hal, Value device, const Executable& executable) {
  const Location location = executable.location;
  if (executable.variants.empty()) return write_lookup(builder, hal, device, executable);
  SmallVector<Value> constants, variants;
  for (const Blob& variant : executable.variants) {
    variants.push_back(write_format(builder, hal, device, location, variant));
    variants.push_back(write_bytes(builder, location, variant.bytes));
    for (const HostCode::Constants& block : variant.host.constants) {
      mlir::Region& body = module_.lookupSymbol<util::FuncOp>(block.function).getBody();
      const mlir::ValueRange arguments = body.getNumArguments() == 0 ? mlir::ValueRange() : mlir::ValueRange(device);
      const SmallVector<mlir::Type> types(block.count, builder.getI32Type());
      llvm::append_range(constants,
                         builder.create<util::CallOp>(location, block.function, types, arguments).getResults());
    }
    variants.push_back(hal.i32(builder, location, static_cast<int64_t>(variant.host.keys.size())));
  }
  const auto count = static_cast<int32_t>(executable.variants.size());
  SmallVector<Value> operands = {device};
  if (constants.empty()) {
    for (size_t i = 0; i < variants.size(); ++i) {
      if (i % 3 != 2) operands.push_back(variants[i]);
    }
    if (executable.launches.empty()) return hal.call(builder, location, "executable.create", operands, {count});
    write_launches(builder, hal, device, executable, executable.launches, operands);
    const auto launches = static_cast<int32_t>(executable.launches.size());
    const int32_t attributes = write_launch_attributes(builder, hal, executable, executable.launches, operands);
    if (attributes == 0) {
      return hal.call(builder, location, "executable.create_with_entry_points", operands, {count, launches});
    }
    return hal.call(builder, location, "executable.create_with_launch_attributes", operands,
                    {count, launches, attributes});
  }
  llvm::append_range(operands, constants);
  llvm::append_range(operands, variants);
  return hal.call(builder, location, "executable.create_specialized", operands,
                  {static_cast<int32_t>(constants.size()), count});
}

Value Executables::write_lookup(OpBuilder& builder, HalCalls& hal, Value device, const Executable& executable) {
  const Location location = executable.location;
  const bool renamed = !executable.registered_name.empty();
  SmallVector<Value> operands = {device,
                                 hal.bytes(builder, location, renamed ? executable.registered_name : executable.name)};
  const llvm::ArrayRef<Launch> launches = executable.registered_launches;
  if (launches.empty()) return hal.call(builder, location, "executable.lookup", operands);
  write_launches(builder, hal, device, executable, launches, operands);
  const int32_t attributes = write_launch_attributes(builder, hal, executable, launches, operands);
  return hal.call(builder, location, "executable.lookup_with_entry_points", operands,
                  {static_cast<int32_t>(launches.size()), attributes});
}

namespace {

// "cuda-ptx-compute_80" after "cuda-ptx-compute_75": a device takes the code for the last one of those that it knows.
bool is_older(StringRef a, StringRef b) {
  unsigned first = 0, second = 0;
  (void)a.rsplit('_').second.rtrim("af").getAsInteger(10, first);
  (void)b.rsplit('_').second.rtrim("af").getAsInteger(10, second);
  return first < second;
}

}  // namespace

// Whether the device takes code of this format, as i1.
Value Executables::write_takes(OpBuilder& builder, HalCalls& hal, Value device, Location location, StringRef format) {
  const Value known =
      hal.call(builder, location, "device.query",
               {device, hal.bytes(builder, location, "hal.executable.format"), hal.bytes(builder, location, format)});
  const Value answer = known.getDefiningOp()->getResult(1);
  return builder.create<mlir::arith::CmpIOp>(location, mlir::arith::CmpIPredicate::ne, answer,
                                             builder.create<mlir::arith::ConstantIndexOp>(location, 0));
}

// What the code that the device takes wants of local memory.
Value Executables::write_local_memory(OpBuilder& builder, HalCalls& hal, Value device, Location location,
                                      const Launch& launch, llvm::StringMap<Value>& takes) {
  auto wants = launch.local_memory;
  llvm::sort(wants, [](const auto& a, const auto& b) { return is_older(a.first, b.first); });
  for (auto& [format, bytes] : wants) bytes = std::max(bytes, launch.local_memory_bytes);
  Value bytes = hal.i32(builder, location, wants.empty() ? launch.local_memory_bytes : wants.front().second);
  const bool all_alike = llvm::all_of(wants, [&](const auto& each) { return each.second == wants.front().second; });
  for (size_t i = 1; i < wants.size() && !all_alike; ++i) {
    Value& is_taken = takes[wants[i].first];
    if (!is_taken) is_taken = write_takes(builder, hal, device, location, wants[i].first);
    bytes =
        builder.create<mlir::arith::SelectOp>(location, is_taken, hal.i32(builder, location, wants[i].second), bytes);
  }
  return bytes;
}

void Executables::write_launches(OpBuilder& builder, HalCalls& hal, Value device, const Executable& executable,
                                 llvm::ArrayRef<Launch> launches, SmallVectorImpl<Value>& operands) {
  const Location location = executable.location;
  llvm::StringMap<Value> takes;
  for (const Launch& launch : launches) {
    operands.push_back(hal.bytes(builder, location, launch.name));
    for (const int64_t number : {launch.constants, launch.bindings, launch.workgroup_size[0], launch.workgroup_size[1],
                                 launch.workgroup_size[2]}) {
      operands.push_back(hal.i32(builder, location, number));
    }
    operands.push_back(write_local_memory(builder, hal, device, location, launch, takes));
  }
}

// How many there are.
int32_t Executables::write_launch_attributes(OpBuilder& builder, HalCalls& hal, const Executable& executable,
                                             llvm::ArrayRef<Launch> launches, SmallVectorImpl<Value>& operands) {
  int32_t count = 0;
  for (size_t i = 0; i < launches.size(); ++i) {
    for (const LaunchAttribute& attribute : launches[i].attributes) {
      operands.push_back(hal.i32(builder, executable.location, static_cast<int64_t>(i)));
      operands.push_back(hal.bytes(builder, executable.location, attribute.name));
      operands.push_back(builder.create<mlir::arith::ConstantIntOp>(executable.location, attribute.value, 64));
      ++count;
    }
  }
  return count;
}

// Whether the device took a variant whose workgroups are blocks of threads, where kernels have a grid for each.
void Executables::write_blocks(OpBuilder& builder, HalCalls& hal, Value made, const Executable& executable) {
  const auto blocks =
      llvm::find_if(executable.entry_points, [](const EntryPoint* entry) { return entry->block_kernel; });
  if (blocks == executable.entry_points.end()) return;
  const Location location = executable.location;
  declare_global(executable, (*blocks)->blocks_global, builder.getI1Type());
  const Value variant = hal.call(builder, location, "executable.variant", {made});
  const Value first = hal.i32(builder, location, static_cast<int64_t>(executable.core_variants));
  const Value is_blocks =
      builder.create<mlir::arith::CmpIOp>(location, mlir::arith::CmpIPredicate::uge, variant, first);
  builder.create<util::GlobalStoreOp>(location, is_blocks, (*blocks)->blocks_global);
}

void Executables::declare_global(const Executable& executable, StringRef name, mlir::Type type) {
  OpBuilder globals = OpBuilder::atBlockBegin(module_.getBody());
  globals.create<util::GlobalOp>(executable.location, globals.getStringAttr(name), globals.getStringAttr("private"),
                                 mlir::UnitAttr(), mlir::TypeAttr::get(type), mlir::Attribute());
}

void Executables::write(OpBuilder& initializer, HalCalls& hal, Value device) {
  for (const std::unique_ptr<Executable>& executable : executables_) {
    if (executable->entry_points.empty()) continue;
    const Location location = executable->location;
    const std::string global = "executable." + executable->name;
    declare_global(*executable, global, hal.executable_type());
    const Value made = write_load(initializer, hal, device, *executable);
    initializer.create<util::GlobalStoreOp>(location, made, global);
    write_blocks(initializer, hal, made, *executable);
    for (const EntryPoint* entry : executable->entry_points) {
      declare_global(*executable, entry->ordinal_global, initializer.getI32Type());
      const Value ordinal = hal.call(initializer, location, "executable.entry_point",
                                     {made, hal.bytes(initializer, location, entry->name)});
      initializer.create<util::GlobalStoreOp>(location, ordinal, entry->ordinal_global);
    }
  }
}

}  // namespace baton::compiler_lite
