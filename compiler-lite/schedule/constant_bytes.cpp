#include "compiler-lite/schedule/constant_bytes.hpp"

#include "compiler-lite/dialects/util/dialect.hpp"
#include "compiler-lite/schedule/tensors.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinTypes.h"

namespace baton::compiler_lite::schedule {
namespace {

constexpr int64_t kRodataAlignment = 64;
constexpr int64_t kCarriedMax = 4096;  // Bytes of equal elements; to make fewer takes as much code.

void append_bits(const llvm::APInt& bits, int64_t bytes, std::vector<char>& out) {
  for (int64_t i = 0; i < bytes; ++i) {
    const unsigned first = static_cast<unsigned>(i * 8);
    const unsigned count = std::min(8u, bits.getBitWidth() - first);
    out.push_back(static_cast<char>(bits.extractBitsAsZExtValue(count, first)));
  }
}

// What fills a buffer with `element`; nothing where its bytes are no integer's.
mlir::Value pattern_of(mlir::OpBuilder& builder, mlir::Location location, llvm::ArrayRef<char> element) {
  if (!llvm::is_contained({1, 2, 4, 8}, element.size())) return {};
  uint64_t number = 0;
  for (size_t i = 0; i < element.size(); ++i) number |= uint64_t{static_cast<uint8_t>(element[i])} << (8 * i);
  const auto type = builder.getIntegerType(static_cast<unsigned>(8 * element.size()));
  const auto value = builder.getIntegerAttr(type, llvm::APInt(type.getWidth(), number));
  return builder.create<mlir::arith::ConstantOp>(location, value);
}

}  // namespace

std::vector<char> bytes_of(mlir::DenseElementsAttr elements) {
  std::vector<char> bytes;
  const mlir::Type type = elements.getElementType();
  const int64_t size = element_bytes(type);
  bytes.reserve(static_cast<size_t>(elements.getNumElements() * size));
  if (llvm::isa<mlir::ComplexType>(type)) {
    const llvm::ArrayRef<char> raw = elements.getRawData();
    for (int64_t i = 0; i < (elements.isSplat() ? elements.getNumElements() : 1); ++i) {
      bytes.insert(bytes.end(), raw.begin(), raw.end());
    }
    return bytes;
  }
  if (llvm::isa<mlir::FloatType>(type)) {
    for (const llvm::APFloat& value : elements.getValues<llvm::APFloat>()) {
      append_bits(value.bitcastToAPInt(), size, bytes);
    }
    return bytes;
  }
  for (const llvm::APInt& value : elements.getValues<llvm::APInt>()) append_bits(value, size, bytes);
  return bytes;
}

mlir::Value write_elements(mlir::OpBuilder& builder, mlir::Location location, mlir::DenseElementsAttr elements) {
  const int64_t size = element_bytes(elements.getElementType()) * elements.getNumElements();
  mlir::Value pattern;
  if (elements.isSplat() && size > kCarriedMax) {
    const auto one = mlir::RankedTensorType::get({1}, elements.getElementType());
    pattern = pattern_of(builder, location, bytes_of(elements.resizeSplat(one)));
  }
  if (!pattern) return write_bytes(builder, location, bytes_of(elements));
  const mlir::Value length = builder.create<mlir::arith::ConstantIndexOp>(location, size);
  const mlir::Value begin = builder.create<mlir::arith::ConstantIndexOp>(location, 0);
  const mlir::Value made = builder.create<util::BufferAllocOp>(location, util::BufferType::get(builder.getContext()),
                                                               length, /*uninitialized=*/builder.getUnitAttr());
  builder.create<util::BufferFillOp>(location, pattern, made, begin, length, length);
  return made;
}

mlir::Value write_bytes(mlir::OpBuilder& builder, mlir::Location location, llvm::ArrayRef<char> bytes) {
  const auto type = mlir::RankedTensorType::get({static_cast<int64_t>(bytes.size())}, builder.getI8Type());
  const auto value = mlir::DenseElementsAttr::getFromRawBuffer(type, bytes);
  return builder.create<util::BufferConstantOp>(location, util::BufferType::get(builder.getContext()),
                                                mlir::StringAttr(), value, builder.getIndexAttr(kRodataAlignment),
                                                mlir::StringAttr());
}

}  // namespace baton::compiler_lite::schedule
