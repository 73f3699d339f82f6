#include "compiler-lite/schedule/hal_calls.hpp"

#include "compiler-lite/dialects/hal/dialect.hpp"
#include "compiler-lite/dialects/util/dialect.hpp"
#include "compiler-lite/dialects/vm/dialect.hpp"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/ErrorHandling.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace baton::compiler_lite {
namespace {

using llvm::SmallVector;
using llvm::StringRef;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Type;
using mlir::Value;
using mlir::ValueRange;

// Words: i and I are integers of 32 and 64 bits, I as index; L is 64 bits of data. `{ }` repeats as the call says.
// RES is slot, buffer, offset, length.
struct Import {
  const char* name;
  const char* arguments;
  const char* results;
};
constexpr Import kImports[] = {
    {"devices.get", "I", "device"},
    {"device.query", "device blob blob", "i I"},
    {"device.allocate", "device i i I", "buffer"},
    {"device.constant", "device blob I I", "buffer"},
    {"buffer.length", "buffer", "I"},
    {"buffer.subspan", "buffer I I", "buffer"},
    {"device.load", "device buffer I i", "L"},
    {"buffer_view.create", "buffer I I i i { I }", "buffer_view"},
    {"buffer_view.buffer", "buffer_view", "buffer"},
    {"buffer_view.dim", "buffer_view i", "I"},
    {"buffer_view.assert", "buffer_view blob i i { I }", ""},
    {"queue.allocate", "device fence fence i i I", "buffer"},
    {"queue.free", "device fence fence buffer", ""},
    {"queue.execute", "device fence fence recording { buffer I I } { i }", ""},
    {"queue.barrier", "device fence fence", ""},
    {"fence.create", "device", "fence"},
    {"fence.signal", "fence", ""},
    {"fence.fail", "fence i blob", ""},
    {"fence.join", "{ fence }", "fence"},
    {"fence.await", "i { fence }", "i"},
    {"fence.check", "fence", ""},
    {"executable.create", "device { blob blob }", "executable"},
    {"executable.create_with_entry_points", "device { blob blob } { blob i i i i i i }", "executable"},
    {"executable.create_with_launch_attributes", "device { blob blob } { blob i i i i i i } { i blob L }",
     "executable"},
    {"executable.create_specialized", "device { i } { blob blob i }", "executable"},
    {"executable.lookup", "device blob", "executable"},
    {"executable.lookup_with_entry_points", "device blob { blob i i i i i i } { i blob L }", "executable"},
    {"executable.variant", "executable", "i"},
    {"executable.entry_point", "executable blob", "i"},
    {"command_buffer.create", "device blob i i", "command_buffer"},
    {"command_buffer.fill_buffer", "command_buffer RES L i", ""},
    {"command_buffer.copy_buffer", "command_buffer RES RES", ""},
    {"command_buffer.dispatch", "command_buffer executable i i i i { i } { RES }", ""},
    {"command_buffer.barrier", "command_buffer", ""},
    {"command_buffer.finish", "command_buffer", "recording"},
    // Of the module `check`.
    {"check.expect_true", "i", ""},
    {"check.expect_false", "i", ""},
    {"check.expect_eq", "device buffer_view buffer_view", ""},
    {"check.expect_almost_eq", "device buffer_view buffer_view f f", ""},
};

const Import& find(StringRef name) {
  for (const Import& import : kImports) {
    if (name == import.name) return import;
  }
  llvm::report_fatal_error("hal." + name + " is not in the table of hal_calls.cpp");
}

Type type_of(mlir::MLIRContext* context, StringRef word) {
  return llvm::StringSwitch<Type>(word)
      .Case("i", mlir::IntegerType::get(context, 32))
      .Case("I", mlir::IndexType::get(context))
      .Case("L", mlir::IntegerType::get(context, 64))
      .Case("f", mlir::Float32Type::get(context))
      .Case("blob", util::BufferType::get(context))
      .Case("device", hal::DeviceType::get(context))
      .Case("buffer", hal::BufferType::get(context))
      .Case("buffer_view", hal::BufferViewType::get(context))
      .Case("fence", hal::FenceType::get(context))
      .Case("executable", hal::ExecutableType::get(context))
      .Case("command_buffer", hal::CommandBufferType::get(context))
      .Case("recording", hal::RecordingType::get(context))
      .Default({});
}

struct Arguments {
  SmallVector<Type> types;
  SmallVector<bool> repeated;
};

Arguments parse_arguments(mlir::MLIRContext* context, StringRef text) {
  Arguments arguments;
  SmallVector<StringRef> words;
  text.split(words, ' ', -1, /*KeepEmpty=*/false);
  SmallVector<Type> group;
  bool in_group = false;
  for (const StringRef word : words) {
    SmallVector<Type> types;
    if (word == "RES") {
      for (const char* part : {"I", "buffer", "I", "I"}) types.push_back(type_of(context, part));
    } else if (word == "{") {
      in_group = true;
    } else if (word == "}") {
      arguments.types.push_back(group.size() == 1 ? group[0] : mlir::TupleType::get(context, group));
      arguments.repeated.push_back(true);
      group.clear();
      in_group = false;
    } else {
      types.push_back(type_of(context, word));
    }
    for (const Type type : types) {
      if (in_group) {
        group.push_back(type);
        continue;
      }
      arguments.types.push_back(type);
      arguments.repeated.push_back(false);
    }
  }
  return arguments;
}

std::string symbol_of(StringRef name) { return name.starts_with("check.") ? name.str() : ("hal." + name).str(); }

}  // namespace

HalCalls::HalCalls(mlir::ModuleOp module) : module_(module), context_(module.getContext()) {}

SmallVector<Type> HalCalls::results_of(StringRef name) { return parse_arguments(context_, find(name).results).types; }

void HalCalls::declare(StringRef name) {
  const std::string symbol = symbol_of(name);
  if (module_.lookupSymbol(symbol)) return;
  const Import& import = find(name);
  const Arguments arguments = parse_arguments(context_, import.arguments);
  const SmallVector<Type> results = results_of(name);
  const auto type = mlir::FunctionType::get(context_, arguments.types, results);

  OpBuilder builder = OpBuilder::atBlockBegin(module_.getBody());
  const auto visibility = builder.getStringAttr("private");
  if (!llvm::is_contained(arguments.repeated, true)) {
    auto function = builder.create<util::FuncOp>(module_.getLoc(), symbol, type);
    function.setSymVisibilityAttr(visibility);
    return;
  }
  builder.create<vm::ImportOp>(module_.getLoc(), visibility, /*is_optional=*/nullptr, builder.getStringAttr(symbol),
                               mlir::TypeAttr::get(type), builder.getDenseBoolArrayAttr(arguments.repeated));
}

Value HalCalls::call(OpBuilder& builder, Location location, StringRef name, ValueRange operands) {
  declare(name);
  const SmallVector<Type> results = results_of(name);
  auto call = builder.create<util::CallOp>(location, symbol_of(name), results, operands);
  return results.empty() ? Value() : call.getResult(0);
}

Value HalCalls::call(OpBuilder& builder, Location location, StringRef name, ValueRange operands,
                     llvm::ArrayRef<int32_t> counts) {
  declare(name);
  const SmallVector<Type> results = results_of(name);
  auto call =
      builder.create<vm::CallVariadicOp>(location, results, mlir::FlatSymbolRefAttr::get(context_, symbol_of(name)),
                                         operands, builder.getDenseI32ArrayAttr(counts));
  return results.empty() ? Value() : call.getResult(0);
}

Type HalCalls::device_type() const { return hal::DeviceType::get(context_); }
Type HalCalls::buffer_type() const { return hal::BufferType::get(context_); }
Type HalCalls::fence_type() const { return hal::FenceType::get(context_); }
Type HalCalls::executable_type() const { return hal::ExecutableType::get(context_); }
Type HalCalls::recording_type() const { return hal::RecordingType::get(context_); }
Type HalCalls::command_buffer_type() const { return hal::CommandBufferType::get(context_); }

Value HalCalls::index(OpBuilder& builder, Location location, int64_t value) {
  return builder.create<mlir::arith::ConstantIndexOp>(location, value);
}
Value HalCalls::i32(OpBuilder& builder, Location location, int64_t value) {
  return builder.create<mlir::arith::ConstantIntOp>(location, value, 32);
}
Value HalCalls::bytes(OpBuilder& builder, Location location, StringRef text) {
  return builder.create<util::BufferConstantOp>(location, util::BufferType::get(context_), mlir::StringAttr(),
                                                builder.getStringAttr(text), mlir::IntegerAttr(), mlir::StringAttr());
}
Value HalCalls::null(OpBuilder& builder, Location location, Type type) {
  return builder.create<util::NullOp>(location, type);
}

}  // namespace baton::compiler_lite
