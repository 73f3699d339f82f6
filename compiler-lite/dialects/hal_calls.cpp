#include "compiler-lite/dialects/hal_calls.hpp"

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

// In the words of modules/hal_module/imports.inc.
struct Import {
  const char* name;
  const char* arguments;
  const char* results;
};
constexpr Import kImports[] = {
#define IMPORT(name, arguments, results, function, meaning) {name, arguments, results},
#include "modules/hal_module/imports.inc"
    // Of the module `check`.
    {"check.expect_true", "i32", ""},
    {"check.expect_false", "i32", ""},
    {"check.expect_eq", "device, buffer_view, buffer_view", ""},
    {"check.expect_almost_eq", "device, buffer_view, buffer_view, f32 absolute, f32 relative", ""},
};

const Import& find(StringRef name) {
  for (const Import& import : kImports) {
    if (name == import.name) return import;
  }
  llvm::report_fatal_error("hal." + name + " is not in modules/hal_module/imports.inc");
}

Type type_of(mlir::MLIRContext* context, StringRef word) {
  return llvm::StringSwitch<Type>(word)
      .Case("i32", mlir::IntegerType::get(context, 32))
      .Case("i64", mlir::IntegerType::get(context, 64))
      .Case("index", mlir::IndexType::get(context))
      .Case("f32", mlir::Float32Type::get(context))
      .Case("blob", util::BufferType::get(context))
      .Case("executable_row", vm::ExecutableType::get(context))
#define OBJECT(Class, name) .Case(name, hal::Class##Type::get(context))
#define OWN_OBJECT(Class, name) OBJECT(Class, name)
#include "modules/hal_module/imports.inc"
      .Default({});
}

// "index offset, resource target": types, each perhaps with a name.
SmallVector<Type> parse_types(mlir::MLIRContext* context, StringRef text) {
  SmallVector<StringRef> items;
  text.split(items, ',', -1, /*KeepEmpty=*/false);
  SmallVector<Type> types;
  for (const StringRef item : items) {
    const StringRef word = item.trim().split(' ').first;
    if (word == "resource") {
      for (const char* part : {"index", "buffer", "index", "index"}) types.push_back(type_of(context, part));
    } else {
      types.push_back(type_of(context, word));
    }
  }
  return types;
}

struct Arguments {
  SmallVector<Type> types;
  SmallVector<bool> repeated;
};

Arguments parse_arguments(mlir::MLIRContext* context, StringRef text) {
  Arguments arguments;
  while (!text.empty()) {
    const bool repeats = text.consume_front("(");
    const auto [item, behind] = text.split(repeats ? ")..." : ",");
    const SmallVector<Type> types = parse_types(context, item);
    if (repeats) {
      arguments.types.push_back(types.size() == 1 ? types[0] : mlir::TupleType::get(context, types));
    } else {
      llvm::append_range(arguments.types, types);
    }
    arguments.repeated.resize(arguments.types.size(), repeats);
    text = (repeats ? behind.split(',').second : behind).trim();
  }
  return arguments;
}

std::string symbol_of(StringRef name) { return name.starts_with("check.") ? name.str() : ("hal." + name).str(); }

}  // namespace

HalCalls::HalCalls(mlir::ModuleOp module) : module_(module), context_(module.getContext()) {}

SmallVector<Type> HalCalls::results_of(StringRef name) { return parse_types(context_, find(name).results); }

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
Type HalCalls::kept_recordings_type() const { return hal::KeptRecordingsType::get(context_); }
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
