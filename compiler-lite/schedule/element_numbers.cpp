#include "compiler-lite/schedule/element_numbers.hpp"

#include "hal/interface/numbers.hpp"
#include "mlir/IR/BuiltinTypes.h"

namespace baton::compiler_lite::schedule {

std::optional<int32_t> element_type_number(mlir::Type type) {
  using Class = baton::hal::ElementClass;
  const auto number = [](Class of_class, unsigned bits) {
    return static_cast<int32_t>(baton::hal::element_type_number(of_class, bits));
  };
  if (llvm::isa<mlir::IndexType>(type)) return number(Class::kInteger, 64);
  if (const auto complex = llvm::dyn_cast<mlir::ComplexType>(type)) {
    return number(Class::kComplex, 2 * complex.getElementType().getIntOrFloatBitWidth());
  }
  if (!type.isIntOrFloat()) return std::nullopt;
  const unsigned bits = type.getIntOrFloatBitWidth();
  if (bits != 1 && bits != 8 && bits != 16 && bits != 32 && bits != 64) return std::nullopt;
  if (type.isBF16()) return number(Class::kBrainFloat, bits);
  if (type.isF16() || type.isF32() || type.isF64()) return number(Class::kFloat, bits);
  if (llvm::isa<mlir::FloatType>(type)) return std::nullopt;
  return number(type.isSignedInteger()     ? Class::kSigned
                : type.isUnsignedInteger() ? Class::kUnsigned
                                           : Class::kInteger,
                bits);
}

int64_t type_in_slot(mlir::Value tensor) {
  constexpr int kElementShift = 34, kRankShift = 50;
  constexpr int64_t kRankMax = 63;
  const auto type = llvm::cast<mlir::RankedTensorType>(tensor.getType());
  const std::optional<int32_t> element = element_type_number(type.getElementType());
  if (!element || type.getRank() > kRankMax) return 0;
  return int64_t{*element} << kElementShift | type.getRank() << kRankShift;
}

}  // namespace baton::compiler_lite::schedule
