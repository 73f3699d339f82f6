#include "compiler-lite/schedule/executable_loading.hpp"

#include "compiler-lite/dialects/util/dialect.hpp"
#include "compiler-lite/dialects/vm/executable.hpp"
#include "hal/interface/numbers.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace baton::compiler_lite::schedule {

using llvm::SmallVector;
using llvm::StringRef;
using mlir::Location;
using mlir::ModuleOp;
using mlir::OpBuilder;
using mlir::Value;

namespace {

using baton::hal::Access;

uint8_t number_of(Access access) { return static_cast<uint8_t>(access); }

// How dispatches use each binding, as far as the compiler knows.
std::vector<uint8_t> accesses_of(const EntryPoint& entry) {
  std::vector<uint8_t> accesses;
  if (entry.kernel) {
    for (const codegen::KernelBinding& binding : entry.kernel->bindings) {
      const bool is_result = binding.source == codegen::KernelBinding::Source::kResult;
      accesses.push_back(number_of(is_result ? Access::kWrite : binding.written ? Access::kReadWrite : Access::kRead));
    }
  } else if (entry.layout) {
    for (const hal::PipelineBindingAttr binding : entry.layout.getBindings()) {
      accesses.push_back(number_of(binding.getReadOnly() ? Access::kRead : Access::kNone));
    }
  }
  return accesses;
}

bytecode::EntryPointRow row_of(const EntryPoint& entry) {
  bytecode::EntryPointRow row{entry.name};
  if (entry.kernel) {
    row.constants = entry.kernel->word_count;
  } else if (entry.layout) {
    row.constants = static_cast<uint32_t>(entry.layout.getConstants());
  }
  row.bindings = accesses_of(entry);
  return row;
}

// How it is launched in code of this format; where that says nothing, as in the last one that does.
bytecode::LaunchRow launch_row(const Launch& launch, StringRef format) {
  bytecode::LaunchRow row = launch.by_format.empty() ? launch.stated : launch.by_format.back().second;
  for (const auto& [of_format, wanted] : launch.by_format) {
    if (of_format == format) row = wanted;
  }
  row.local_memory_bytes = std::max(row.local_memory_bytes, launch.stated.local_memory_bytes);
  return row;
}

bytecode::EntryPointRow launched_row(const Executable& executable, const Launch& launch) {
  bytecode::EntryPointRow row{launch.name, static_cast<uint32_t>(launch.constants)};
  row.bindings.assign(static_cast<size_t>(launch.bindings), number_of(Access::kNone));
  for (const EntryPoint* entry : executable.entry_points) {
    if (entry->name != launch.name) continue;
    std::vector<uint8_t> known = accesses_of(*entry);
    if (known.size() == row.bindings.size()) row.bindings = std::move(known);
  }
  row.launch = launch_row(launch, {});
  for (const LaunchAttribute& each : launch.attributes) row.attributes.push_back({each.name, each.value});
  return row;
}

vm::ExecutableContents contents_of(const Executable& executable) {
  vm::ExecutableContents contents;
  contents.row.name = executable.name;
  const bool from_host = executable.variants.empty();
  if (from_host) {
    contents.row.registered_name = executable.registered_name.empty() ? executable.name : executable.registered_name;
  }
  const std::vector<Launch>& launches = from_host ? executable.registered_launches : executable.launches;
  for (const Launch& launch : launches) contents.row.entry_points.push_back(launched_row(executable, launch));
  if (launches.empty()) {
    for (const EntryPoint* entry : executable.entry_points) contents.row.entry_points.push_back(row_of(*entry));
  }
  for (const Executable::Code& code : executable.variants) {
    bytecode::VariantRow row{code.format};
    row.target = code.target;
    row.constants = static_cast<uint32_t>(code.host.keys.size());
    bool differs = false;
    for (size_t i = 0; i < launches.size(); ++i) {
      row.launches.push_back(code.says_launches ? launches[i].stated : launch_row(launches[i], code.format));
      differs |= row.launches.back() != *contents.row.entry_points[i].launch;
    }
    if (!differs) row.launches.clear();
    contents.row.variants.push_back(std::move(row));
    contents.variants.push_back({code.bytes, code.host.condition});
  }
  return contents;
}

class Loading {
 public:
  Loading(ModuleOp program, OpBuilder& initializer, HalCalls& hal, const LoadingDevice& device)
      : program_(program), builder_(initializer), hal_(hal), device_(device.device), number_(device.number) {}

  void write(const Executable& executable);

 private:
  mlir::ValueRange write_constants(Location location, const HostCode::Constants& block);
  Value write_load(const Executable& executable);
  void write_blocks(Value made, const Executable& executable);
  void declare_global(const Executable& executable, StringRef name, mlir::Type type);

  ModuleOp program_;
  OpBuilder& builder_;
  HalCalls& hal_;
  Value device_;
  unsigned number_;
};

void Loading::write(const Executable& executable) {
  const Location location = executable.location;
  const std::string global = global_on(number_, executable.entry_points.front()->executable_global);
  declare_global(executable, global, hal_.executable_type());
  const Value made = write_load(executable);
  builder_.create<util::GlobalStoreOp>(location, made, global);
  write_blocks(made, executable);
  for (const EntryPoint* entry : executable.entry_points) {
    const std::string ordinal_global = global_on(number_, entry->ordinal_global);
    declare_global(executable, ordinal_global, builder_.getI32Type());
    const Value ordinal =
        hal_.call(builder_, location, "executable.entry_point", {made, hal_.bytes(builder_, location, entry->name)});
    builder_.create<util::GlobalStoreOp>(location, ordinal, ordinal_global);
  }
}

// The words that a block makes on the device.
mlir::ValueRange Loading::write_constants(Location location, const HostCode::Constants& block) {
  mlir::Region& body = program_.lookupSymbol<util::FuncOp>(block.function).getBody();
  const mlir::ValueRange arguments = body.getNumArguments() == 0 ? mlir::ValueRange() : mlir::ValueRange(device_);
  const SmallVector<mlir::Type> types(block.count, builder_.getI32Type());
  return builder_.create<util::CallOp>(location, block.function, types, arguments).getResults();
}

Value Loading::write_load(const Executable& executable) {
  const Location location = executable.location;
  SmallVector<Value> conditions, constants;
  for (const Executable::Code& variant : executable.variants) {
    for (const HostCode::Constants& block : variant.host.constants) {
      llvm::append_range(constants, write_constants(location, block));
    }
    if (variant.host.condition.empty()) continue;
    auto holds = builder_.create<util::CallOp>(location, variant.host.condition, mlir::TypeRange(builder_.getI1Type()),
                                               mlir::ValueRange(device_));
    conditions.push_back(builder_.create<mlir::arith::ExtUIOp>(location, builder_.getI32Type(), holds.getResult(0)));
  }
  SmallVector<Value> operands = {device_, builder_.create<vm::ConstExecutableOp>(
                                              location, vm::ExecutableType::get(builder_.getContext()),
                                              mlir::FlatSymbolRefAttr::get(builder_.getContext(), executable.name))};
  llvm::append_range(operands, conditions);
  llvm::append_range(operands, constants);
  return hal_.call(builder_, location, "executable.load", operands,
                   {static_cast<int32_t>(conditions.size()), static_cast<int32_t>(constants.size())});
}

// Whether the device took a variant whose workgroups are blocks of threads, where kernels have a grid for each.
void Loading::write_blocks(Value made, const Executable& executable) {
  const auto blocks =
      llvm::find_if(executable.entry_points, [](const EntryPoint* entry) { return entry->block_kernel; });
  if (blocks == executable.entry_points.end()) return;
  const Location location = executable.location;
  const std::string global = global_on(number_, (*blocks)->blocks_global);
  declare_global(executable, global, builder_.getI1Type());
  const Value variant = hal_.call(builder_, location, "executable.variant", {made});
  const Value first = hal_.i32(builder_, location, static_cast<int64_t>(executable.core_variants));
  const Value is_blocks =
      builder_.create<mlir::arith::CmpIOp>(location, mlir::arith::CmpIPredicate::uge, variant, first);
  builder_.create<util::GlobalStoreOp>(location, is_blocks, global);
}

void Loading::declare_global(const Executable& executable, StringRef name, mlir::Type type) {
  OpBuilder globals = OpBuilder::atBlockBegin(program_.getBody());
  globals.create<util::GlobalOp>(executable.location, globals.getStringAttr(name), globals.getStringAttr("private"),
                                 mlir::UnitAttr(), mlir::TypeAttr::get(type), mlir::Attribute());
}

}  // namespace

void load_executables(ModuleOp program, const Executables& executables, const ExecutableUses& uses,
                      OpBuilder& initializer, HalCalls& hal, const LoadingDevice& device) {
  Loading loading(program, initializer, hal, device);
  for (const std::unique_ptr<Executable>& executable : executables.all()) {
    const auto used = uses.find(executable->name);
    const bool is_used = used == uses.end() ? device.number == 0 : llvm::is_contained(used->second, device.number);
    if (is_used && !executable->entry_points.empty()) loading.write(*executable);
  }
}

static void write_flops(ModuleOp program, const Executables& executables) {
  mlir::NamedAttrList entries;
  for (const std::unique_ptr<Executable>& executable : executables.all()) {
    for (const EntryPoint* entry : executable->entry_points) {
      if (!entry->kernel || entry->kernel->flops.empty()) continue;
      entries.set(executable->name + "." + entry->name,
                  mlir::StringAttr::get(program.getContext(), entry->kernel->flops));
    }
  }
  if (!entries.empty()) program->setAttr(vm::kFlops, entries.getDictionary(program.getContext()));
}

void write_rows(ModuleOp program, const Executables& executables) {
  OpBuilder rows = OpBuilder::atBlockBegin(program.getBody());
  for (const std::unique_ptr<Executable>& executable : executables.all()) {
    if (executable->entry_points.empty()) continue;
    vm::write_executable(rows, executable->location, contents_of(*executable));
  }
  write_flops(program, executables);
}

}  // namespace baton::compiler_lite::schedule
