#include "compiler-lite/schedule/library_commands.hpp"

#include "compiler-lite/dialects/hal/dialect.hpp"
#include "compiler-lite/dialects/util/dialect.hpp"
#include "compiler-lite/dialects/vm/dialect.hpp"
#include "compiler-lite/schedule/dispatches.hpp"
#include "compiler-lite/schedule/element_numbers.hpp"
#include "compiler-lite/schedule/libraries.hpp"
#include "compiler-lite/schedule/tensors.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace baton::compiler_lite::schedule {

using llvm::SmallVector;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;

namespace {

constexpr llvm::StringLiteral kAbsent = "library.absent";

// What `available` is where no module provides the command.
void declare_absent(mlir::ModuleOp module, mlir::FunctionType type) {
  if (module.lookupSymbol(kAbsent)) return;
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  auto function = builder.create<util::FuncOp>(module.getLoc(), kAbsent, type);
  function.setPrivate();
  mlir::Block* body = function.addEntryBlock();
  builder.setInsertionPointToStart(body);
  const Value no = builder.create<mlir::arith::ConstantIntOp>(module.getLoc(), 0, 32);
  builder.create<util::ReturnOp>(module.getLoc(), no);
}

std::string declare_available(mlir::ModuleOp module, llvm::StringRef library) {
  std::string name = (library + ".available").str();
  if (module.lookupSymbol(name)) return name;
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  const auto type = builder.getFunctionType(hal::DeviceType::get(module.getContext()), builder.getI32Type());
  auto import = builder.create<util::FuncOp>(module.getLoc(), name, type);
  import.setSymVisibilityAttr(builder.getStringAttr("private"));
  import->setAttr("vm.fallback", mlir::FlatSymbolRefAttr::get(module.getContext(), kAbsent));
  declare_absent(module, type);
  return name;
}

}  // namespace

std::string library_flag(Program& program, llvm::StringRef library, Location location, unsigned device) {
  const std::string wanted = global_on(device, ("library." + library).str());
  mlir::ModuleOp module = program.module();
  if (module.lookupSymbol<util::GlobalOp>(wanted)) return wanted;
  OpBuilder& initializer = program.initializer();
  const std::string global = program.add_global(wanted, initializer.getI1Type(), location);
  const std::string available = declare_available(module, library);
  auto said = initializer.create<util::CallOp>(location, available, mlir::TypeRange(initializer.getI32Type()),
                                               mlir::ValueRange(program.initializer_device(device)));
  const Value none = program.hal().i32(initializer, location, 0);
  const Value is_there =
      initializer.create<mlir::arith::CmpIOp>(location, mlir::arith::CmpIPredicate::ne, said.getResult(0), none);
  initializer.create<util::GlobalStoreOp>(location, is_there, global);
  return global;
}

std::string declare_library_command(mlir::ModuleOp module, llvm::StringRef library, llvm::StringRef command,
                                    size_t tensor_count) {
  std::string name = (library + "." + command).str();
  if (module.lookupSymbol(name)) return name;
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  mlir::MLIRContext* context = module.getContext();
  const mlir::Type index = builder.getIndexType(), buffer = hal::BufferType::get(context);
  SmallVector<mlir::Type> types = {hal::CommandBufferType::get(context)};
  for (size_t i = 0; i < tensor_count; ++i) types.append({index, buffer, index, index});
  SmallVector<bool> repeated(types.size(), false);
  types.push_back(index);
  repeated.push_back(true);
  builder.create<vm::ImportOp>(module.getLoc(), builder.getStringAttr("private"), builder.getUnitAttr(),
                               builder.getStringAttr(name), mlir::TypeAttr::get(builder.getFunctionType(types, {})),
                               builder.getDenseBoolArrayAttr(repeated));
  return name;
}

// Calls that are recorded in place of a dispatch, where their library is there.
void Dispatches::add_library_calls(flow::DispatchOp op, Command& command) {
  const Location location = op.getLoc();
  const auto value_of = [&](const LibraryNumber& number) {
    Value product = hal_.index(builder_, location, number.factor);
    for (const auto& [argument, dimension] : number.sizes) {
      const Value size = places_.all_sizes(location, op.getArguments()[argument])[dimension];
      product = builder_.createOrFold<mlir::arith::MulIOp>(location, product, size);
    }
    return product;
  };
  const auto range_of_argument = [&](unsigned argument) {
    const auto before = op.getArguments().take_front(argument);
    Range range =
        command.ranges[static_cast<size_t>(llvm::count_if(before, [](Value each) { return is_tensor(each); }))];
    range.type = type_in_slot(op.getArguments()[argument]);
    return range;
  };
  // On other devices other libraries may be there.
  if (!function_.program.devices().several()) {
    for (const std::string& library : needless_beside(op)) {
      command.needless_flags.push_back(library_flag(function_.program, library, location, function_.number_of(op)));
    }
  }
  for (const LibraryCall& call : library_calls(op)) {
    Command::Alternative alternative;
    for (const unsigned argument : call.arguments) alternative.ranges.push_back(range_of_argument(argument));
    alternative.ranges.push_back(command.ranges.back());
    alternative.ranges.back().type = type_in_slot(op.getResult(0));
    for (const LibraryNumber& number : call.numbers) alternative.numbers.push_back(value_of(number));
    alternative.flag = library_flag(function_.program, call.module, location, function_.number_of(op));
    alternative.callee =
        declare_library_command(function_.program.module(), call.module, call.command, alternative.ranges.size());
    command.alternatives.push_back(std::move(alternative));
  }
}

}  // namespace baton::compiler_lite::schedule
