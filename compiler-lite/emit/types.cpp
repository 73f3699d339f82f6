#include "compiler-lite/emit/types.hpp"

#include "compiler-lite/dialects/hal/dialect.hpp"
#include "compiler-lite/dialects/util/dialect.hpp"
#include "compiler-lite/dialects/vm/dialect.hpp"
#include "mlir/IR/BuiltinTypes.h"

namespace baton::compiler_lite::emit {

using bytecode::ValueType;
using namespace mlir;  // NOLINT: this file is about MLIR's types.

namespace {

bool is_value_class(Type type) {
  return isa<IntegerType, FloatType, IndexType, ShapedType, VectorType, ComplexType, NoneType, FunctionType>(type);
}

std::string letters(Type type) {
  if (const auto tuple = dyn_cast<TupleType>(type)) {
    std::string all;
    for (const Type each : tuple.getTypes()) all += letters(each);
    return all;
  }
  const std::optional<ValueType> held = value_type(type);
  if (held && *held != ValueType::kRef) return std::string(1, bytecode::value_type_letter(*held));
  const std::string name = ref_type_name(type);
  return name.empty() ? "r" : "r<" + name + ">";
}

}  // namespace

std::optional<ValueType> value_type(Type type) {
  if (type.isIndex()) return ValueType::kI64;
  if (const auto integer = dyn_cast<IntegerType>(type)) {
    if (integer.getWidth() > 64 || (integer.getWidth() > 32 && integer.getWidth() < 64)) return std::nullopt;
    return integer.getWidth() == 64 ? ValueType::kI64 : ValueType::kI32;
  }
  if (type.isF32()) return ValueType::kF32;
  if (type.isF64()) return ValueType::kF64;
  if (auto floating = dyn_cast<FloatType>(type)) {
    if (floating.getWidth() <= 16) return ValueType::kI32;
    return std::nullopt;
  }
  if (is_value_class(type)) return std::nullopt;
  return ValueType::kRef;
}

Bank bank_of(Type type) { return value_type(type) == ValueType::kRef ? Bank::kRef : Bank::kValue; }

std::string ref_type_name(Type type) {
  if (const auto ref = dyn_cast<vm::RefType>(type)) {
    return isa<NoneType>(ref.getObject()) ? std::string() : ref_type_name(ref.getObject());
  }
  if (isa<util::BufferType, vm::BufferType>(type)) return "blob";
  if (isa<util::ListType, vm::ListType>(type)) return "list";
  if (isa<vm::ExecutableType>(type)) return "executable";
  if (isa<util::ObjectType, util::VariantType>(type)) return "";
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << type;
  // Drops the parameters of `!custom.string<...>`: only the compiler uses them.
  text = text.substr(text.front() == '!' ? 1 : 0);
  return text.substr(0, text.find('<'));
}

bool is_narrow(Type type) {
  const auto integer = dyn_cast<IntegerType>(type);
  return integer && integer.getWidth() < 32;
}

std::string signature_text(TypeRange arguments, TypeRange results, llvm::ArrayRef<bool> variadic) {
  std::string all;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string one = letters(arguments[i]);
    all += !variadic.empty() && variadic[i] ? "C" + one + "D" : one;
  }
  if (all.empty()) all += 'v';
  all += '_';
  for (const Type result : results) all += letters(result);
  if (results.empty()) all += "v";
  return all;
}

}  // namespace baton::compiler_lite::emit
